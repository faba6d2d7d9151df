import StrataModel
import StrataSystem
import Testing

@Suite struct ShowCommandTests {
    @Test func humanForm() throws {
        let result = try StoreFixture.small().run("show", "Notes.strata", "2")
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(
            result.output == """
                commit 2  2026-11-21T05:46:43.000000Z  chain 56460910  id 00000000000000a00000000000000002
                    anna on phone, modify records, 1 event, 51 bytes
                    record saved     Notes / Note / note-1  create, 1 field  (37 bytes)

                    18y68  note-1  if server record unchanged
                        + title: <20 bytes>  (data, 21 bytes)
                    chain before    1a5ee882
                    file            Notes.strata/log/00000000000000000001.seg
                    segment         1
                    bytes           264 to 383, 120 in total
                    frame at 264    commit, 51 bytes stored, body 882c9409, 2 not known to be durable


                """)
    }

    @Test("A commit beyond byte 9,999,999 of its segment is shown, with a blank after each label")
    func lateInALargeSegment() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        // The first segments are smaller.
        try fixture.saveNotes(26, noise: 1_000_000)
        try fixture.close()
        for offset in ["3", "last"] {
            let result = try fixture.run("show", fixture.name, offset)
            #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
            let line = try #require(result.lines.first { $0.hasPrefix("    frame at ") })
            #expect(line.contains(" commit, "), "\(line)")
            let digits = try #require(line.dropFirst("    frame at ".count).split(separator: " ").first)
            let position = try #require(Int(digits))
            #expect(position >= (offset == "last" ? 10_000_000 : 1_000_000), "\(line)")
        }
        for command in ["segments", "frames", "info"] {
            let result = try fixture.run(command, fixture.name)
            #expect(result.code == 0, "\(command): \(result.errors)")
        }
    }

    @Test func requestShapeAndAllKindsOfFields() throws {
        let fixture = try StoreFixture.small()
        try fixture.open()
        let version = Version(offset: 2, eventIndex: 0)
        let update = RecordSavedEvent(
            .update, RecordKey(zone: 1, name: "note-1"), type: 1, previous: version, base: version,
            fields: [.init(1, nil), .init(2, .list(.empty))])
        try fixture.append(
            Envelope(header: .init(user: 1, requestShape: [1, 0xAB]), events: [update.event()]).encoded())
        try fixture.close()
        let result = try fixture.run("show", fixture.name, "5", "--reveal")
        #expect(result.code == 0)
        #expect(result.lines.contains("    request shape   01ab"))
        // A later release may have made it, with addresses.
        #expect(try fixture.run("show", fixture.name, "5").lines.contains("    request shape   2 bytes"))
        #expect(result.lines.contains("        - title: <20 bytes>"))
        #expect(result.lines.contains("        + field 2: []  (empty list, 1 byte)"))
        #expect(result.output.contains(", client had \(version.tag)\n"))
    }

    @Test("URLs and addresses of a request show only with --reveal")
    func revealedRequest() throws {
        let fixture = try StateFixture(keepsAudits: true)
        let (address, token) = ("anna@example.org", "0secretToken")
        let (person, join) = try fixture.change { store in
            var person = Person()
            person.emails = [address]
            try fixture.step { try store.setPerson(person, of: "anna") }
            let offset = store.offset
            let request = Request(
                database: DatabaseID(.shared), .joinShares(JoinSharesRequest(.accept, tokens: [token])))
            try fixture.step { _ = try? store.modify(request, as: StateFixture.phone) }
            try store.noteConsole(ConsoleNote("something that is written"))
            return (offset, store.offset)
        }
        for (offset, secret, words) in [
            (person, address, "set the names and addresses of anna"), (join, token, "join 1 share by URL"),
        ] {
            let digits = secret.utf8.map { hexadecimal($0) }.joined()
            let hidden = try fixture.run("show", fixture.name, "\(offset)")
            #expect(hidden.code == 0 && hidden.lines.contains("    asked to        \(words)"), "\(hidden)")
            // The event itself states the new addresses of a person.
            let ofRequest = hidden.lines.filter { !$0.contains("user changed") }.joined(separator: "\n")
            #expect(!ofRequest.contains(secret) && !ofRequest.contains(digits), "\(hidden)")
            let shown = try fixture.run("show", fixture.name, "\(offset)", "--reveal")
            #expect(shown.code == 0 && shown.lines.contains("    asked to        \(words): \(secret)"), "\(shown)")
            let why = try fixture.run("explain", fixture.name, "\(offset)")
            #expect(why.code == 0 && !why.output.contains(secret), "\(why)")
        }
        let audit = try fixture.run("show", fixture.name, "\(join)")
        #expect(audit.lines.contains("    judged on       the state at \(person)"), "\(audit)")
        let digits = address.utf8.map { hexadecimal($0) }.joined()
        let json = try fixture.run("show", "--json", fixture.name, "\(person)").output
        #expect(!json.contains("requestShape") && !json.contains(digits), "\(json)")
        #expect(try fixture.run("show", "--json", "--reveal", fixture.name, "\(person)").output.contains(digits))
        let shape = try fixture.run("show", fixture.name, "\(person)")
        #expect(shape.lines.contains { $0.hasPrefix("    request shape   ") && $0.hasSuffix(" bytes") }, "\(shape)")
    }

    @Test("Each field has its value before and after, and what was sent without a change is marked")
    func values() throws {
        let fixture = try StateFixture()
        try fixture.change { store in
            try fixture.save(
                "milk", ["rank": .int64(3), "price": .double(1), "due": nil], as: StateFixture.tablet, to: store)
        }
        let update = try fixture.run("show", fixture.name, "last")
        let tag = try fixture.tag(of: "milk")
        #expect(
            update.output.contains(
                """

                    \(tag)  milk  changed keys
                        - due: 2001-01-01T00:00:00Z
                        ~ price: 0.5 -> 1.0  (double, 3 bytes)
                        = rank: 3  (int64, 2 bytes)

                """), "\(update)")
        let deletion = try fixture.run("show", fixture.name, "5")
        #expect(deletion.output.contains("  gone  delete\n        - rank: 1\n"), "\(deletion)")
        let json = try #require(try fixture.objects("show", fixture.name, "5").first)
        let events = try #require(json["events"] as? [[String: Any]])
        #expect(events.contains { ($0["changes"] as? [[String: Any]])?.first?["fieldName"] as? String == "rank" })
    }

    @Test("Of a share the changed participants are marked, and the others listed")
    func participants() throws {
        let fixture = try StateFixture()
        try fixture.share()
        try fixture.change { try fixture.edit(ShareChange(publicPermission: .readOnly), to: $0) }
        let result = try fixture.run("show", fixture.name, "last")
        #expect(result.lines.contains("        ~ public: none -> read only"), "\(result)")
        #expect(result.lines.contains { $0.hasPrefix("        = participant anna: owner, ") }, "\(result)")
    }

    @Test("A deleted zone names its records, and an act what it changed")
    func effects() throws {
        let fixture = try StateFixture()
        let offset = try fixture.change { store in
            for name in ["a", "b"] { try fixture.save(name, zone: StateFixture.work, to: store) }
            try fixture.step { try store.modify(.zones(deleting: [StateFixture.work]), as: StateFixture.phone) }
            try store.setQuota(bytes: 5_000, of: "anna")
            try store.setQuota(bytes: 0, of: "anna")
            return store.offset
        }
        let zone = try fixture.run("show", fixture.name, "\(offset - 2)")
        #expect(zone.lines.contains("    zone Work  2 records go with it: a, b"), "\(zone)")
        let account = try fixture.run("show", fixture.name, "\(offset)")
        #expect(
            account.output.contains("    account of anna\n        ~ quota: 5000 bytes -> none\n"), "\(account)")
        let json = try #require(try fixture.objects("show", fixture.name, "\(offset)").first)
        try PromisedKeys.expect(json, follows: "A commit")
        let effects = try #require(json["effects"] as? [[String: Any]])
        #expect(effects.map { $0["of"] as? String } == ["anna"])
    }

    @Test func json() throws {
        let fixture = try StoreFixture.small()
        let result = try fixture.run("show", "--json", fixture.name, "2")
        let logged = try fixture.run("log", "--json", "--patch", "--from", "2", "--to", "2", fixture.name)
        #expect(result.code == 0)
        #expect(result.output.hasPrefix(logged.output.dropLast(2) + ",\"stored\":{\"path\":\"Notes.strata/log/"))
    }

    @Test(arguments: ["0", "5", "99"]) func refusesAnOffsetThatIsNotThere(_ offset: String) throws {
        let result = try StoreFixture.small().run("show", "Notes.strata", offset)
        #expect(result.output.isEmpty && result.lines.isEmpty)
        if offset == "0" {
            #expect(result.code == 2 && result.errors.contains("OFFSET 0 is out of range"))
        } else {
            #expect(result.code == 1)
            #expect(result.errors == "strata show: no commit \(offset); this store has commits 1 to 4\n")
        }
    }

    @Test func refusesWhatIsNoOffset() throws {
        let fixture = try StoreFixture.small()
        #expect(try fixture.run("show", fixture.name).errors.contains("OFFSET is missing"))
        let result = try fixture.run("show", fixture.name, "two")
        #expect(result.code == 2 && result.errors.contains("OFFSET takes a number, not 'two'"))
    }

    @Test func whatWasLetGoIsNotThere() throws {
        let fixture = try StoreFixture(segmentBytes: 64 << 10)
        try fixture.internNames()
        try fixture.saveNotes(200, noise: 700)
        let floor = try #require(try fixture.trim(to: 150))
        try fixture.close()
        let result = try fixture.run("show", fixture.name, "\(floor.offset)")
        #expect(result.code == 1 && result.errors.contains("this store has commits \(floor.offset + 1) to 201"))
        #expect(try fixture.run("show", fixture.name, "\(floor.offset + 1)").code == 0)
    }

    @Test func inASealedSegmentTheBlockIsTold() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.open()
        try fixture.sealAll()
        try fixture.close()
        let result = try fixture.run("show", fixture.name, "2")
        #expect(result.code == 0)
        #expect(result.lines.contains { $0.hasPrefix("    block           of commits 1 to ") }, "\(result.output)")
        let segments = try fixture.run("segments", fixture.name)
        #expect(segments.lines.count { $0.contains("  blocks  closed ") } == segments.lines.count - 2)
        let dump = try fixture.run("dump", "--offset", "2", fixture.name)
        #expect(dump.code == 0 && dump.output.contains("kind 1, commits"))
        #expect(try fixture.run("verify", fixture.name).code == 0)
    }

    @Test func ofADamagedStoreWhatIsWholeIsShown() throws {
        let fixture = try StoreFixture.segmented()
        let whole = try fixture.run("show", fixture.name, "300")
        try fixture.flipByte(inSegment: 1)
        #expect(try fixture.run("show", fixture.name, "300").output == whole.output)
        try fixture.flipByte(inSegment: try fixture.segments().count - 1)
        #expect(try fixture.run("show", fixture.name, "301").code == 3)
        #expect(try fixture.run("show", fixture.name, "2").code == 0)
    }

    @Test(arguments: [("last", "4"), ("HEAD", "4"), ("-1", "4"), ("-2", "3"), ("-4", "1")])
    func commitsAreCountedFromTheEnd(_ word: String, _ offset: String) throws {
        let fixture = try StoreFixture.small()
        let result = try fixture.run("show", fixture.name, word)
        let named = try fixture.run("show", fixture.name, offset)
        #expect(result.code == 0 && result.output == named.output)
    }

    @Test func nothingIsInFrontOfTheFirstCommit() throws {
        let fixture = try StoreFixture.small()
        let result = try fixture.run("show", fixture.name, "-5")
        #expect(result.code == 1 && result.errors.contains("no commit 0; this store has commits 1 to 4"))
        #expect(try fixture.run("show", fixture.name, "-x").code == 2)
        #expect(try fixture.run("stats", fixture.name, "-1").errors.contains("unknown option -1"))
    }
}
