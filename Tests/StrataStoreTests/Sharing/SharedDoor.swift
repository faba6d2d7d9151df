import StrataModel
import StrataQuery
import StrataViews
import Testing

@testable import StrataStore

/// A way by which a user may get at the records of anna's zone "Notes" in the shared database.
struct SharedDoor: Sendable, CustomTestStringConvertible {
    static let zone = ZoneID("Notes", owner: UserRecord.name(of: "anna"))
    static let shared = DatabaseID(.shared)
    /// The records of the zone: r with c below it, in the first share; q in the second; and x in none.
    static let all = ["Share-1", "Share-2", "c", "q", "r", "x"]
    static let seen = ["Share-1", "c", "r"]

    let name: String
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
            question = .continued(try QueryCursor(decoding: cursor.encoded()))
        }
    }

    static let doors = [
        SharedDoor(name: "fetch by ID") { store, actor in
            try found { try store.snapshot().record($0, in: shared, as: actor) }
        },
        SharedDoor(name: "fetch of several") { store, actor in
            let results = try store.fetch(all.map(id), in: shared, as: actor)
            return try zip(all, results).compactMap { name, result in
                try found { try $0.name == name ? result.get() : nil }.first
            }
        },
        SharedDoor(name: "past state") { store, actor in
            // The zone is looked up first, since a past state of nothing is no failure.
            let snapshot = store.snapshot()
            _ = try snapshot.zone(zone, in: shared, as: actor)
            return try found { try snapshot.record($0, asOf: snapshot.offset, in: shared, as: actor) }
        },
        SharedDoor(name: "queries") { store, actor in
            try query("Note", store, actor) + query("cloudkit.share", store, actor)
        },
        SharedDoor(name: "queries in pages") { store, actor in
            try query("Note", store, actor, limit: 1) + query("cloudkit.share", store, actor, limit: 1)
        },
        SharedDoor(name: "zone feed") { store, actor in
            let page = try store.zoneChanges(of: zone, in: shared, as: actor)
            #expect(page.deleted.isEmpty && !page.moreComing)
            return page.changed.map(\.id.name)
        },
    ]
}
