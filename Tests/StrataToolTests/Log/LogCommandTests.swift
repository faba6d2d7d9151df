import Foundation
import StrataModel
import Testing

@Suite struct LogCommandTests {
    @Test func humanForm() throws {
        let result = try StoreFixture.small().run("log", "Notes.strata", "--to", "2")
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(
            result.output == """
                commit 1  2026-11-21T05:46:41.500000Z  chain 1a5ee882  id 00000000000000a00000000000000001
                    system, modify zones, 7 events, 70 bytes
                    name interned    user 1 = anna  (7 bytes)
                    name interned    device 1 = phone of user 1  (9 bytes)
                    name interned    database 1 = private of user 1  (4 bytes)
                    name interned    zone 1 = Notes in database 1 of user 1  (10 bytes)
                    name interned    record type 1 = Note  (7 bytes)
                    name interned    field 1 = title  (8 bytes)
                    zone saved       Notes  (5 bytes)

                commit 2  2026-11-21T05:46:43.000000Z  chain 56460910  id 00000000000000a00000000000000002
                    anna on phone, modify records, 1 event, 51 bytes
                    record saved     Notes / Note / note-1  create, 1 field  (37 bytes)


                """)
    }

    @Test func oneline() throws {
        let result = try StoreFixture.small().run("log", "--oneline", "Notes.strata")
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(
            result.output == """
                1 2026-11-21T05:46:41.500000Z system  + zone Notes
                2 2026-11-21T05:46:43.000000Z anna on phone  + Notes/note-1 title
                3 2026-11-21T05:46:44.500000Z anna on phone  + Notes/note-2 title
                4 2026-11-21T05:46:46.000000Z anna on phone  + Notes/note-3 title

                """)
    }

    @Test("A line has what was done to records and zones, with their fields, and what was refused")
    func summaries() throws {
        let (world, at) = try VersionedStore.varied()
        let lines = try world.run("log", "Notes.strata", "--oneline").lines
        func summary(_ offset: UInt64) -> String? {
            lines.first { $0.hasPrefix("\(offset) ") }?.components(separatedBy: "  ").dropFirst()
                .joined(separator: "  ")
        }
        #expect(summary(at.zones) == "+ zone Notes; + zone Photos")
        #expect(summary(at.created) == "+ Notes/note-1 title, rank, tags; + Notes/note-2 title, rank")
        #expect(summary(at.updated) == "~ Notes/note-1 title, done")
        #expect(summary(at.linked) == "~ Notes/note-1 parent, rank, done")
        #expect(summary(at.deleted) == "- Photos/photo-1")
        #expect(summary(at.refused) == "! 14 note-2")
        let fixture = try StateFixture(keepsAudits: true)
        try fixture.change { store in
            var many = RequestBuilder(DatabaseID(.private), policy: .allKeys)
            for number in 1...5 {
                many.save(
                    RecordID("n\(number)", zone: StateFixture.notes), type: "Wide",
                    fields: [
                        "a": .int64(1), "b": .int64(1), "c": .int64(1), "d": .int64(1), "e": .int64(1), "f": .int64(1),
                        "g": .int64(1),
                    ])
            }
            try fixture.step { try store.modify(many.request, as: StateFixture.phone) }
            for rank in 1...40 { try fixture.save("n1", ["a": .int64(Int64(rank))], type: "Wide", to: store) }
            try fixture.step { try store.modify(.zones(deleting: [StateFixture.work]), as: StateFixture.phone) }
        }
        let result = try fixture.run("log", fixture.name, "--oneline", "--from", "6")
        let first = result.lines.first
        let fields = "a, b, c, d, e, f, …"
        #expect(first?.hasSuffix("  + Notes/n1 \(fields); + Notes/n2 \(fields); and 3 more") == true, "\(result)")
        #expect(result.lines.last?.hasSuffix("  - zone Work") == true, "\(result)")
        let updates = result.lines.dropFirst().dropLast()
        #expect(updates.allSatisfy { $0.hasSuffix("  ~ Notes/n1 a") || $0.hasSuffix("  ~ Notes/n1 full, 7 fields") })
        #expect(updates.contains { $0.hasSuffix("full, 7 fields") } && updates.contains { $0.hasSuffix("n1 a") })
        // The user's first commit also creates the default zone and the user's record.
        let bert = try fixture.run("log", fixture.name, "--oneline", "--from", "3", "--to", "3")
        #expect(bert.lines.first?.hasSuffix(" bert on mac  + _defaultZone/news title") == true, "\(bert)")
    }

    @Test func json() throws {
        let result = try StoreFixture.small().run("log", "Notes.strata", "--json", "-n", "1")
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(
            result.output == """
                {"offset":4,"id":"00000000000000a00000000000000004","time":1795240006000000,"chain":"57803e49",\
                "bytes":51,"user":1,"userName":"anna","device":1,"deviceName":"phone","operationID":"",\
                "operationKind":"modify records","qualityOfService":"default","groupID":"","groupName":"",\
                "lazy":false,"events":[{"kind":16,"name":"record saved","bytes":37,"zone":1,"zoneName":"Notes",\
                "type":1,"typeName":"Note","record":"note-3","change":"create","policy":"if server record unchanged",\
                "full":true,"fields":[{"field":1,"fieldName":"title","value":"data","valueBytes":21}]}]}

                """)
    }

    @Test func subscriptions() throws {
        let fixture = try StoreFixture.small()
        try fixture.open()
        let query = Subscription(
            "s", .query, zone: 1, recordType: 1, predicate: "title = 'x'", options: [.creation, .once])
        try fixture.append(
            Envelope(
                header: .init(user: 1, device: 1),
                events: [
                    SubscriptionSavedEvent(database: 1, user: 1, query).event(),
                    SubscriptionSavedEvent(database: 1, user: 9, Subscription("all", .database)).event(),
                    SubscriptionDeletedEvent(database: 1, user: 1, id: "s", firedBy: Version(offset: 1, eventIndex: 0))
                        .event(),
                    SubscriptionDeletedEvent(database: 1, user: 9, id: "all").event(),
                    NotificationDeliveredEvent(device: 1, through: 2, badge: 3).event(),
                    NotificationDeliveredEvent(device: 7, through: 2).event(),
                    NotificationDeliveredEvent(device: 0, through: 1).event(),
                ]
            ).encoded())
        try fixture.close()
        let lines = try fixture.run("log", "Notes.strata", "-n", "1").output.split(separator: "\n")
        let events = lines.filter { $0.contains("subscription ") || $0.contains("notification ") }.map { line in
            line.split(separator: "  ", omittingEmptySubsequences: true).dropFirst(1).first.map(String.init) ?? ""
        }
        #expect(
            events == [
                "s of anna: query of Note in Notes where title = 'x', on creation, once", "all of user 9: database",
                "s of anna, fired once, by mh34", "all of user 9", "phone, everything up to 2, badge 3",
                "device 7, everything up to 2", "the service itself, everything up to 1",
            ], "\(lines)")
    }

    @Test func everythingThatAHeaderHasIsShown() throws {
        let fixture = try StoreFixture.small()
        try fixture.open()
        try fixture.append(
            Envelope(
                header: .init(
                    user: 9, device: 8, operationID: "op-1", operationKind: .init(rawValue: 77),
                    qualityOfService: .utility,
                    groupID: "g-1", groupName: "import", isLazy: true),
                events: [fixture.noteEvent("x", kind: .recordErased), Event(.init(rawValue: 4_000), body: [1, 2])]
            ).encoded())
        try fixture.close()
        let result = try fixture.run("log", fixture.name, "-n", "1")
        #expect(
            Array(result.lines.dropFirst()) == [
                "    user 9 on device 8, unknown operation 77, utility, lazy, 2 events, 64 bytes", "    operation op-1",
                "    group g-1 import", "    record erased    Notes / Note / x  of 18y68: asked for  (20 bytes)",
                "    unknown event 4000  (2 bytes)",
            ])
    }

    /// One event of each kind that has details.
    private func detailed() throws -> StoreFixture {
        let fixture = try StoreFixture.small()
        try fixture.open()
        let (note, version) = (RecordKey(zone: 1, name: "note-1"), Version(offset: 2, eventIndex: 0))
        let fields = [FieldChange(1, nil), FieldChange(2, .int64(1)), FieldChange(3, .list(.empty))]
        var update = RecordSavedEvent(
            .update, note, type: 1, policy: .allKeys, previous: version, base: version, fields: fields)
        let short = try update.event()
        update.isFull = true
        (update.created, update.createdBy, update.fields) = (1, 1, [FieldChange(1, .string("x"))])
        try fixture.append(
            Envelope(events: [
                short, update.event(), RecordSavedEvent(.touch, note, type: 1, previous: version).event(),
                fixture.noteEvent("note-1", kind: .recordDeleted),
                RecordDeletedEvent(note, type: 1, previous: nil, isCascade: true).event(),
                fixture.zoneEvent(.zoneDeleted),
                ZoneSavedEvent(zone: 1, database: 1, incarnation: version).event(),
            ]).encoded())
        try fixture.close()
        return fixture
    }

    @Test func whatEventsSayIsShown() throws {
        let fixture = try detailed()
        #expect(
            Array(try fixture.run("log", fixture.name, "-n", "1").lines.dropFirst(2)) == [
                "    record saved     Notes / Note / note-1  update of 18y68, 2 fields, 1 removed  (26 bytes)",
                "    record saved     Notes / Note / note-1  update of 18y68, full, 1 field  (34 bytes)",
                "    record saved     Notes / Note / note-1  touch of 18y68  (16 bytes)",
                "    record deleted   Notes / Note / note-1  of 18y68  (14 bytes)",
                "    record deleted   Notes / Note / note-1, cascade  (14 bytes)",
                "    zone deleted     Notes  purged  (7 bytes)", "    zone saved       Notes  (8 bytes)",
            ])
    }

    @Test func whatEventsSayIsInTheJSON() throws {
        let fixture = try detailed()
        let line = try fixture.run("log", fixture.name, "-n", "1", "--json").output
        for part in [
            """
            "change":"update","policy":"all keys","full":false,"previous":"18y68","base":"18y68",\
            "fields":[{"field":1,"fieldName":"title","value":"removed","valueBytes":0},\
            {"field":2,"value":"int64","valueBytes":2},{"field":3,"value":"empty list","valueBytes":1}]}
            """,
            "\"record\":\"note-1\",\"previous\":\"18y68\",\"cascade\":false}",
            "\"record\":\"note-1\",\"cascade\":true}",
            "\"database\":1,\"incarnation\":\"mh3a\",\"reason\":\"purged\"}",
            "\"database\":1,\"incarnation\":\"18y68\",\"capabilities\":0}",
        ] { #expect(line.contains(part), "\(part)") }
    }

    @Test func whatASchemaDeclaresIsShown() throws {
        let fixture = try StoreFixture.small()
        try fixture.open()
        let fields = [
            SchemaField(1, .string, indexes: [.queryable, .sortable]), SchemaField(7, .int64.list, isEncrypted: true),
        ]
        let grants = [SchemaGrant("_world", .read), SchemaGrant("Editors", .all)]
        try fixture.append(
            Envelope(events: [
                SchemaChangedEvent(type: 1, fields: fields, grants: grants).event(),
                SchemaChangedEvent(type: 1, fields: [SchemaField(1, .asset)]).event(),
                SchemaChangedEvent(type: 3, fields: []).event(),
            ]).encoded())
        try fixture.close()
        let lines = try fixture.run("log", fixture.name, "-n", "1").lines.dropFirst(2)
        #expect(
            lines.map { $0.replacing(#/  \(\d+ bytes\)/#, with: "") } == [
                "    schema changed   Note: title STRING QUERYABLE SORTABLE, field 7 LIST<ENCRYPTED INT64>; "
                    + "READ TO _world, READ, CREATE, WRITE TO Editors",
                "    schema changed   Note: title ASSET", "    schema changed   type 3",
            ])
        let json = try fixture.run("log", fixture.name, "-n", "1", "--json").output
        for part in [
            """
            "type":1,"typeName":"Note","fields":[{"field":1,"fieldName":"title","value":"string","encrypted":false,\
            "indexes":"QUERYABLE SORTABLE"},{"field":7,"value":"list of int64","encrypted":true,"indexes":""}],\
            "grants":[{"role":"_world","permissions":"READ"},{"role":"Editors","permissions":"READ, CREATE, WRITE"}]}
            """,
            "\"type\":3,\"fields\":[],\"grants\":[]}",
        ] { #expect(json.contains(part), "\(part)\n\(json)") }
    }

    @Test func aPayloadThatIsNoEnvelopeIsShownAndPassed() throws {
        let fixture = try StoreFixture.small()
        try fixture.open()
        try fixture.append([9, 9, 9])
        try fixture.append(Envelope(events: [Event(.recordSaved, body: [0xFF])]).encoded())
        try fixture.saveNotes(1)
        try fixture.close()
        let lines = try fixture.run("log", "--oneline", fixture.name, "-n", "3").lines
        #expect(lines.count == 3)
        #expect(lines[0].contains("malformed payload: ") && lines[0].hasSuffix(", 3 bytes"))
        let json = try fixture.run("log", "--json", fixture.name, "-n", "3")
        #expect(json.code == 0)
        #expect(json.lines[0].contains("\"bytes\":3,\"malformed\":\""))
        #expect(json.lines[1].contains("\"name\":\"record saved\",\"bytes\":1,\"malformed\":\""))
        #expect(json.lines[2].contains("\"record\":\"note-4\""))
    }

    @Test(arguments: ["", "--oneline"]) func nothingThatATerminalObeysIsPrinted(_ form: String) throws {
        let fixture = try StoreFixture()
        let name = InternedName(ordinal: 1, name: .user("\u{1B}[2J\u{202E}evil\n"))
        try fixture.append(
            Envelope(header: .init(user: 1), events: [name.event, fixture.noteEvent("\u{1B}]0;x\u{7}")]).encoded())
        try fixture.close()
        let words = ["log", fixture.name] + (form.isEmpty ? [] : [form])
        let result = try ToolProcess.run(words, in: fixture.directory.path)
        #expect(result.output.contains("\\u{1b}[2J\\u{202e}evil\\u{a}"))
        #expect(result.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0 != "\u{202E}" })
    }

    // MARK: Which commits

    @Test(
        arguments: [
            (["--from", "3"], 3...6), (["--to", "2"], 1...2), (["--from=2", "--to=4"], 2...4), (["-n", "2"], 5...6),
            (["-n2", "--to", "3"], 2...3), (["-n", "99"], 1...6), (["--from", "3", "-n", "99"], 3...6),
            (["--since", "2026-11-21T05:46:44.5Z"], 3...6), (["--since", "@1795240004500001"], 4...6),
            (["--since", "1970-01-01"], 1...6), (["--since", "2026-11-21T06:46:46+01:00", "--to", "4"], 4...4),
        ] as [([String], ClosedRange<Int>)])
    func chosen(_ words: [String], _ offsets: ClosedRange<Int>) throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        try fixture.saveNotes(5)
        try fixture.close()
        let result = try ToolProcess.run(["log", "--oneline", fixture.name] + words, in: fixture.directory.path)
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(result.lines.map { Int($0.prefix { $0 != " " }) } == offsets.map { $0 })
        // Names are known though their commit is not printed.
        #expect(result.lines.last?.contains(" anna on phone ") == (offsets.upperBound > 1))
    }

    @Test(arguments: [["--from", "5"], ["--since", "2100-01-01"], ["-n", "0"]])
    func nothingChosen(_ words: [String]) throws {
        let fixture = try StoreFixture.small()
        let result = try ToolProcess.run(["log", fixture.name] + words, in: fixture.directory.path)
        #expect(result.code == 0 && result.output.isEmpty)
        let note = "strata log: note: no commit is in that range; this store has commits 1 to 4\n"
        #expect(result.errors == (words == ["-n", "0"] ? "" : note))
    }

    // MARK: What is printed of a commit

    @Test func numbersOfACommit() throws {
        let (world, at) = try VersionedStore.varied()
        let offset = "\(at.linked)"
        let result = try world.run("log", "Notes.strata", "--stat", "--from", offset, "--to", offset)
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(result.lines.first?.hasPrefix("commit \(at.linked)  ") == true)
        let bytes = try #require(result.lines[1].split(separator: " ").dropLast().last)
        #expect(
            result.lines.dropFirst(2) == [
                "    events   2 record saved", "    zones    Notes (2)", "    records  2", "    bytes    \(bytes)",
            ], "\(result)")
        let line = try world.run("log", "Notes.strata", "--stat", "--oneline", "--from", offset, "--to", offset)
        #expect(line.lines.count == 5 && line.lines[0].hasPrefix("\(at.linked) "))
        #expect(line.lines.dropFirst() == result.lines.dropFirst(2))
        let others = try StoreFixture.small().run("log", "Notes.strata", "--stat", "--to", "1")
        #expect(
            others.lines.dropFirst(2) == [
                "    events   6 name interned, 1 zone saved", "    zones    Notes (1)", "    records  0",
                "    bytes    70",
            ])
    }

    @Test func whatEachEventChanged() throws {
        let (world, at) = try VersionedStore.varied()
        func changes(_ words: String...) throws -> [String] {
            let result = try world.run(["log", "Notes.strata", "--patch"] + words)
            #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
            return result.lines.filter { $0.hasPrefix("        ") }.map { String($0.dropFirst(8)) }
        }
        #expect(
            try changes("--from", "\(at.updated)", "--to", "\(at.linked)") == [
                "~ title: \"Groceries\" -> \"Shopping\"", "+ done: 1", "+ size: 10", "+ parent: @note-2",
                "~ rank: 1 -> 7", "- done: 1",
            ])
        #expect(try changes("--kind", "record deleted") == ["- size: 10"])
        // The same backwards, and of the last alone.
        #expect(try changes("--record", "photo-1", "--reverse") == ["+ size: 20", "- size: 10", "+ size: 10"])
        #expect(try changes("-n", "1", "--record", "photo-1") == ["+ size: 20"])
        // With filters only of what fits, though the whole commit is printed.
        let one = try world.run("log", "Notes.strata", "--patch", "--record", "note-2", "--to", "\(at.created)")
        #expect(one.lines.filter { $0.hasPrefix("    record saved ") }.count == 2, "\(one)")
        #expect(
            try changes("--record", "note-2", "--to", "\(at.created)") == ["+ title: \"Trip\"", "+ rank: 5"])
        let lines = try world.run("log", "Notes.strata", "--patch", "--oneline", "--record", "photo-1", "-n", "1").lines
        #expect(lines.count == 3 && lines[0].hasPrefix("\(at.again) ") && lines[2] == "        + size: 20", "\(lines)")
    }

    @Test func whatEachEventChangedAsJSON() throws {
        let (world, at) = try VersionedStore.varied()
        let offset = "\(at.updated)"
        let result = try world.run("log", "Notes.strata", "--patch", "--json", "--from", offset, "--to", offset)
        #expect(
            result.output.contains(
                """
                "fieldName":"title","old":{"type":"string","value":"Groceries"},\
                "new":{"type":"string","value":"Shopping"}}
                """), "\(result)")
        let added = "\"fieldName\":\"done\",\"old\":null,\"new\":{\"type\":\"int64\",\"value\":1}}]}"
        #expect(result.output.contains(added), "\(result)")
        let commit = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        for event in try #require(commit["events"] as? [[String: Any]]) where event["record"] != nil {
            try PromisedKeys.expect(
                event.filter { ["changes", "notAllKnown"].contains($0.key) }, follows: "A patch")
            for change in try #require(event["changes"] as? [[String: Any]]) {
                try PromisedKeys.expect(change, follows: "A change")
            }
        }
        let plain = try world.run("log", "Notes.strata", "--json", "--from", offset, "--to", offset)
        #expect(!plain.output.contains("\"changes\""))
        let deleted = try world.run("log", "Notes.strata", "--patch", "--json", "--kind", "record deleted")
        #expect(deleted.output.contains("\"old\":{\"type\":\"int64\",\"value\":10},\"new\":null}]"), "\(deleted)")
    }

    /// What a record was before may be in the base, or nowhere.
    @Test func whatChangedBehindABase() throws {
        let world = try VersionedStore()
        try world.makeZones()
        for rank in 1...5 { try world.save("note-1", ["rank": .int64(Int64(rank))]) }
        _ = try world.store.compact(before: 4)
        try world.store.close()
        let result = try world.run("log", "Notes.strata", "--patch")
        #expect(result.code == 0, "\(result)")
        #expect(
            result.lines.filter { $0.hasPrefix("        ") } == [
                "        ~ rank: 2 -> 3", "        ~ rank: 3 -> 4", "        ~ rank: 4 -> 5",
            ], "\(result)")
    }

    @Test func historyThatWasLetGoIsNoted() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.open(segmentBytes: 64 << 10)
        let floor = try #require(try fixture.trim(to: 200)).offset
        try fixture.close()
        let result = try fixture.run("log", "--oneline", fixture.name, "--from", "1", "--to", "\(floor + 2)")
        #expect(result.code == 0)
        let note = "the history up to \(floor) was removed by compaction; beginning with \(floor + 1)"
        #expect(result.errors == "strata log: \(note)\n")
        #expect(result.lines.map { UInt64($0.prefix { $0 != " " }) } == [floor + 1, floor + 2])
    }
}
