import StrataModel
import StrataQuery
import StrataStore
import StrataViews

/// Two stores in memory with the same users and records, and what the users hold of them. anna shares half of her
/// records, each by a URL that lets everybody read; ben has joined the first share, and carl none.
struct ForgeryWorld {
    static let users = ["anna", "ben", "carl"]
    static let rootCount = 20
    static let zone = ZoneID("Notes")
    private static let own = DatabaseID(.private)
    static func actor(_ user: String) -> Actor { Actor(user: user, device: "phone") }

    /// The tokens, cursors and URLs that a user got from a store.
    struct Holdings {
        var tokens: [[UInt8]] = []
        var cursors: [[UInt8]] = []
        var urls: [String] = []

        static func + (left: Holdings, right: Holdings) -> Holdings {
            Holdings(
                tokens: left.tokens + right.tokens, cursors: left.cursors + right.cursors, urls: left.urls + right.urls)
        }
    }

    let store: Store
    /// A store whose holdings mean nothing in the first one.
    let other: Store
    let held: [String: Holdings]
    /// The names of the users' records in the first store.
    let recordNames: [String: String]
    let foreign: Holdings

    init() throws {
        (store, other) = (try Store.inMemory(options: .service), try Store.inMemory(options: .service))
        held = try Self.fill(store)
        let snapshot = store.snapshot()
        recordNames = try Dictionary(uniqueKeysWithValues: Self.users.map { ($0, try snapshot.recordName(of: $0)) })
        foreign = try Self.fill(other).values.reduce(Holdings(), +)
    }

    private static func fill(_ store: Store) throws -> [String: Holdings] {
        for user in users {
            try store.modify(.zones(saving: [zone]), as: actor(user))
            var builder = RequestBuilder(own, policy: .allKeys)
            for number in 0..<2 * rootCount {
                builder.save(
                    RecordID("\(user)-\(number)", zone: zone), type: "Note", fields: ["n": .int64(Int64(number))])
            }
            try store.modify(builder.request, as: actor(user))
        }
        for number in 0..<rootCount { try share("anna-\(number)", of: store) }
        var held: [String: Holdings] = [:]
        held["anna"] = try holdings(of: "anna", in: store)
        held["anna"]?.urls = try (0..<rootCount).map { try url(of: $0, in: store) }
        let first = try url(of: 0, in: store)
        try store.modify(
            Request(database: DatabaseID(.shared), .joinShares(.init(.accept, tokens: [first]))), as: actor("ben"))
        held["ben"] = try holdings(of: "ben", in: store)
        held["ben"]?.urls = [first]
        let shared = ZoneID(zone.name, owner: try store.snapshot().recordName(of: "anna"))
        for limit in [1, 2, 400] {
            let page = try store.zoneChanges(of: shared, in: DatabaseID(.shared), limit: limit, as: actor("ben"))
            held["ben"]?.tokens.append(try store.bytes(of: page.token))
        }
        held["carl"] = try holdings(of: "carl", in: store)
        return held
    }

    /// Saves a share of a root as its owner.
    private static func share(_ root: String, of store: Store) throws {
        var names = RequestNames()
        let place = names.ordinal(of: zone)
        var body = ModifyRecordsRequest(policy: .allKeys)
        let share = RecordKey(zone: place, name: "Share-\(root)")
        body.saves = [
            .init(RecordKey(zone: place, name: root), type: names.ordinal(ofType: "Note"), share: .set(share)),
            .init(
                share, type: names.ordinal(ofType: ShareState.recordType),
                sharing: ShareChange(root: root, participants: [], publicPermission: .readOnly)),
        ]
        let answer = try store.modify(Request(database: own, names: names, .modifyRecords(body)), as: actor("anna"))
        for save in answer.result.saves { _ = try save.get() }
    }

    private static func url(of number: Int, in store: Store) throws -> String {
        let id = RecordID("Share-anna-\(number)", zone: zone)
        return try store.snapshot().record(id, in: own, as: actor("anna")).shareState?.urlToken ?? ""
    }

    private static func holdings(of user: String, in store: Store) throws -> Holdings {
        var held = Holdings()
        for limit in [1, 7, 400] {
            let page = try store.zoneChanges(of: zone, in: own, limit: limit, as: actor(user))
            held.tokens.append(try store.bytes(of: page.token))
        }
        held.tokens.append(try store.bytes(of: store.databaseChanges(in: own, as: actor(user)).token))
        for key in ["n", "___modTime"] {
            let query = Query("Note", order: [.key(key, isAscending: true)], zone: zone)
            let page = try store.query(.new(query), in: own, limit: 5, as: actor(user))
            if let cursor = page.cursor { held.cursors.append(try store.bytes(of: cursor)) }
        }
        return held
    }
}
