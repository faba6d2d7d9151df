import StrataModel
import StrataQuery
import StrataViews
import Testing

@testable import StrataStore

/// A way by which a user may get at the records of anna's zone "Notes" in the shared database, or find out about them.
struct SharedDoor: Sendable, CustomTestStringConvertible {
    static let zone = ZoneID("Notes", owner: "_anna")
    static let shared = DatabaseID(.shared)
    /// The records of the zone: r with c below it, in the first share; q in the second; p in the third, which is
    /// public; and x in none.
    static let all = ["Share-1", "Share-2", "Share-3", "c", "p", "q", "r", "x"]
    static let seen = ["Share-1", "c", "r"]
    private static let photographed = ["c", "p", "q", "r", "x"]

    let name: String
    /// The methods of the store that it uses, with the labels of their parameters.
    let methods: Set<String>
    /// Returns the names of the records that come through.
    let open: @Sendable (Store, Actor) throws -> [String]

    var testDescription: String { name }

    private static func id(_ name: String) -> RecordID { RecordID(name, zone: zone) }

    /// Returns the names for which a read has a result. What is missing is no failure of the door.
    private static func found(_ read: (RecordID) throws -> Record?) throws -> [String] {
        try all.filter { name in
            do { return try read(id(name)) != nil } catch let refusal as Refusal where refusal.code == .unknownItem {
                return false
            }
        }
    }

    static func query(_ type: String, _ store: Store, _ actor: Actor, limit: Int = 0) throws -> [String] {
        var names: [String] = []
        var question = Question.new(Query(type, zone: zone))
        while true {
            let page = try store.query(question, in: shared, limit: limit, as: actor)
            #expect(page.matches.allSatisfy { $0.id.zone == zone && $0.database.scope == .shared })
            names += page.matches.map(\.id.name)
            guard let cursor = page.cursor else { return names.sorted() }
            question = .continued(try store.cursor(from: store.bytes(of: cursor)))
        }
    }

    static let doors: [SharedDoor] = [
        SharedDoor(
            name: "fetch by ID", methods: ["record(_:in:desiredKeys:as:unreadable:)"]
        ) { store, actor in
            try found { try store.snapshot().record($0, in: shared, as: actor) }
        },
        SharedDoor(
            name: "fetch of several",
            methods: ["fetch(_:in:desiredKeys:as:)", "records(_:in:desiredKeys:as:unreadable:)"]
        ) { store, actor in
            let results = try store.fetch(all.map(id), in: shared, as: actor)
            return try zip(all, results).compactMap { name, result in
                try found { try $0.name == name ? result.get() : nil }.first
            }
        },
        SharedDoor(
            name: "past state", methods: ["record(_:asOf:in:as:)", "zone(_:in:as:)"]
        ) { store, actor in
            // The zone is looked up first, since a past state of nothing is no failure.
            let snapshot = store.snapshot()
            _ = try snapshot.zone(zone, in: shared, as: actor)
            return try found { try snapshot.record($0, asOf: snapshot.offset, in: shared, as: actor) }
        },
        SharedDoor(
            name: "queries", methods: ["query(_:in:desiredKeys:limit:as:isCancelled:)"]
        ) { store, actor in
            try query("Note", store, actor) + query("cloudkit.share", store, actor)
        },
        SharedDoor(name: "queries in pages", methods: []) { store, actor in
            try query("Note", store, actor, limit: 1) + query("cloudkit.share", store, actor, limit: 1)
        },
        SharedDoor(
            name: "zone feed", methods: ["zoneChanges(of:in:since:desiredKeys:limit:as:)"]
        ) { store, actor in
            let page = try store.zoneChanges(of: zone, in: shared, as: actor)
            #expect(page.deleted.isEmpty && !page.moreComing)
            return page.changed.map(\.id.name)
        },
        SharedDoor(name: "zone feed in pages", methods: []) { store, actor in
            var (names, token): ([String], FeedToken?) = ([], nil)
            while true {
                let page = try store.zoneChanges(of: zone, in: shared, since: token, limit: 1, as: actor)
                #expect(page.deleted.isEmpty)
                names += page.changed.map(\.id.name)
                if !page.moreComing { return names }
                token = try store.token(from: store.bytes(of: page.token))
            }
        },
    ]

    /// The doors to what only requests make: values, files and errors. Users without access find nothing through them.
    /// Only a new record below a shared one cannot have the name of a hidden record, and a shared record to which a
    /// hidden one refers with `deleteSelf` cannot be deleted (B372, B378).
    static let requests: [SharedDoor] = [
        SharedDoor(
            name: "past versions", methods: ["record(_:at:in:as:unreadable:)", "recordIfKept(_:at:in:as:unreadable:)"]
        ) { store, actor in
            try all.filter { name in
                let version = try owned(name, store).version
                let snapshot = store.snapshot()
                for unreadable in [UnreadableRecord.refused, .withoutFields] {
                    let record = try snapshot.record(
                        id(name), at: version, in: shared, as: actor, unreadable: unreadable)
                    let kept = try snapshot.recordIfKept(
                        id(name), at: version, in: shared, as: actor, unreadable: unreadable)
                    #expect(record?.version == kept?.version)
                    if record == nil { return false }
                }
                return true
            }
        },
        SharedDoor(name: "fetch without fields", methods: []) { store, actor in
            all.filter { name in
                (try? store.snapshot().record(id(name), in: shared, as: actor, unreadable: .withoutFields)) != nil
            }
        },
        SharedDoor(name: "encrypted values", methods: []) { store, actor in
            photographed.filter { name in
                (try? store.snapshot().record(id(name), in: shared, as: actor).opened("pin"))
                    == .string("pin of \(name)")
            }
        },
        SharedDoor(name: "assets", methods: ["pinAsset(_:of:in:as:)"]) { store, actor in
            try photographed.filter { name in
                let photo = try #require(try owned(name, store).assets.first)
                return (try? store.pinAsset(photo, of: id(name), in: shared, as: actor)) != nil
            }
        },
        SharedDoor(name: "sealing", methods: ["seal(_:for:of:in:as:)"]) { store, actor in
            try differing { name in
                do { _ = try store.seal(.int64(1), for: "pin", of: id(name), in: shared, as: actor) } catch let refusal
                    as Refusal
                { return "\(refusal)" }
                return "sealed"
            }
        },
        SharedDoor(
            name: "saves", methods: ["modify(_:as:)", "modify(_:as:operation:)"]
        ) { store, actor in
            try differing { try save(store, actor, name: $0) }
        },
        SharedDoor(name: "saves with a tag", methods: []) { store, actor in
            try differing { name in
                let base = (try? owned(name, store).version) ?? Version(offset: 1, eventIndex: 0)
                return try save(store, actor, name: name, base: base, policy: .ifServerRecordUnchanged)
            }
        },
        SharedDoor(name: "parents", methods: []) { store, actor in
            try differing { try save(store, actor, name: "new", parent: $0) }
        },
        SharedDoor(name: "references", methods: []) { store, actor in
            // Below a record that its writers may write.
            try differing { try save(store, actor, name: "new", parent: "c", reference: $0) }
        },
        SharedDoor(name: "deletes", methods: []) { store, actor in
            // A member leaves a share by deleting it (B377), which changes what the next deletes find.
            let seen = SharedPerson(rawValue: actor.user)?.seen ?? []
            return try differing(all.filter { !$0.hasPrefix("Share-") || !seen.contains($0) }) { name in
                let before = try? owned(name, store)
                var names = RequestNames()
                var body = ModifyRecordsRequest(policy: .allKeys, isAtomic: false)
                body.deletes = [RecordKey(zone: names.ordinal(of: zone), name: name)]
                let text = try outcome(Request(database: shared, names: names, .modifyRecords(body)), store, actor)
                let isGone = before != nil && (try? owned(name, store)) == nil
                return text + (isGone ? " and it is gone" : "")
            }
        },
    ]

    // MARK: Requests

    private static func owned(_ name: String, _ store: Store) throws -> Record {
        try store.snapshot().record(
            RecordID(name, zone: ZoneID("Notes")), in: DatabaseID(.private), as: Actor(user: "anna", device: "phone"))
    }

    /// Returns the names with which something happens that does not happen with the name of no record.
    private static func differing(
        _ names: [String] = all, _ act: (String) throws -> String
    ) throws -> [String] {
        let expected = try act("absent")
        return try names.filter { name in
            try act(name).replacing(Regex("\\b\(name)\\b"), with: "absent") != expected
        }
    }

    private static func save(
        _ store: Store, _ actor: Actor, name: String, base: Version? = nil, parent: String? = nil,
        reference: String? = nil, policy: SavePolicy = .changedKeys
    ) throws -> String {
        var names = RequestNames()
        let place = names.ordinal(of: zone)
        var save = ModifyRecordsRequest.Save(
            RecordKey(zone: place, name: name), type: names.ordinal(ofType: "Note"), base: base)
        if let parent { save.parent = .set(RecordKey(zone: place, name: parent)) }
        save.fields = [FieldChange(names.ordinal(ofKey: "n"), .int64(7))]
        if let reference {
            let target = RecordKey(zone: place, name: reference)
            save.fields.append(
                FieldChange(names.ordinal(ofKey: "to"), .reference(.init(target, action: .deleteSelf))))
        }
        let body = ModifyRecordsRequest(saves: [save], policy: policy, isAtomic: false)
        return try outcome(Request(database: shared, names: names, .modifyRecords(body)), store, actor)
    }

    /// Returns the outcome of a request of one item, without versions.
    private static func outcome(_ request: Request, _ store: Store, _ actor: Actor) throws -> String {
        do {
            let result = try store.modify(request, as: actor).result
            let refusal = result.saves.first?.refusal ?? result.deletes.first.flatMap(\.self)
            return refusal.map { "\($0.code) \($0.rule?.number ?? "-") \($0.message)" } ?? "done"
        } catch let refusal as Refusal { return "\(refusal)" }
    }
}
