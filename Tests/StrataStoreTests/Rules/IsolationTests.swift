import StrataModel
import StrataQuery
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// Nobody's requests change what another user has of their own, whatever they name.
@Suite struct IsolationTests {
    private static let records = ["a", "b", "c", "d"]
    private static let zones = ["_defaultZone", "Notes", "Secrets"]

    /// Everything that a user can read of the own database.
    private static func sight(of client: Client, since tokens: [FeedToken?]) throws -> [String] {
        let (store, actor, own) = (client.store, client.actor, client.database)
        var found: [String] = []
        let ids = zones.flatMap { zone in records.map { client.id($0, in: zone) } }
        for result in try store.fetch(ids, in: own, as: actor) {
            switch result {
            case .success(let record): found.append("\(record.id) \(record.version) \(try record.fields)")
            case .failure(let refusal): found.append("\(refusal)")
            }
        }
        for match in try store.query(.new(Query("Note")), in: own, as: actor).matches {
            found.append("\(match.id) \(match.version)")
        }
        found += try store.snapshot().zones(in: own, as: actor).map { "\($0)" }
        found += try store.snapshot().subscriptions(in: own, as: actor).map { "\($0)" }
        let changes = try store.databaseChanges(in: own, since: tokens[0], as: actor)
        found.append("\(changes.changed) \(changes.deleted)")
        for (zone, token) in zip(["Notes", "Secrets"], tokens[1...]) {
            let page = try store.zoneChanges(of: ZoneID(zone), in: own, since: token, as: actor)
            found.append("\(page.changed.map { "\($0.id) \($0.version)" }) \(page.deleted.map(\.id))")
        }
        found.append("\(try store.usage(of: client.user))")
        return found
    }

    private static func tokens(of client: Client) throws -> [FeedToken?] {
        let (store, actor, own) = (client.store, client.actor, client.database)
        let database = try store.databaseChanges(in: own, as: actor).token
        let ofZones = try ["Notes", "Secrets"].map {
            try store.zoneChanges(of: ZoneID($0), in: own, as: actor).token
        }
        return [database] + ofZones
    }

    /// What somebody may ask who names whatever others have.
    private static func attack(by client: Client, on other: Client, _ dice: inout SeededGenerator) -> Request {
        // Half of it is the user's own, or nothing but refusals would come.
        let others = [
            other.user, other.store.recordName(of: other.user), "__defaultOwner__",
            client.store.recordName(of: client.user),
        ]
        let owners = others + Array(repeating: "", count: 8)
        func pick(_ items: [String]) -> String { items[dice.next(below: items.count)] }
        let scopes = InternedName.Scope.allCases
        let scope = scopes[dice.next(below: scopes.count)]
        let database = DatabaseID(scope, owner: pick(owners))
        var names = RequestNames()
        let zone = names.ordinal(of: ZoneID(pick(zones), owner: pick(owners)))
        switch dice.next(below: 6) {
        case 0:
            let scope: EncryptionScope = dice.next(below: 2) == 0 ? .zone : .record
            return Request(
                database: database, names: names,
                .modifyZones(ModifyZonesRequest(saves: [.init(zone, encryptionScope: scope)])))
        case 1: return Request(database: database, names: names, .modifyZones(ModifyZonesRequest(deletes: [zone])))
        case 2:
            let save = Subscription(pick(["mine", "own"]), .database, notification: NotificationInfo())
            let body = ModifySubscriptionsRequest(saves: dice.next(below: 2) == 0 ? [save] : [], deletes: ["mine"])
            return Request(database: database, names: names, .modifySubscriptions(body))
        case 3:
            let acts: [AdministerRequest] = [
                .purgeZone(zone), .resetEncryptedData, .setAccountStatus(.restricted, user: other.user),
                .setQuota(bytes: 1, user: other.user), .setRole("Editors", users: [other.user]),
                .expireTokens(before: 1, inAll: dice.next(below: 2) == 0),
            ]
            return Request(
                database: database, names: names, .administer(acts[dice.next(below: acts.count)]))
        default:
            let policies: [SavePolicy] = [.allKeys, .changedKeys, .ifServerRecordUnchanged]
            var body = ModifyRecordsRequest(
                policy: policies[dice.next(below: 3)], isAtomic: dice.next(below: 2) == 0,
                clientToken: dice.next(below: 4) == 0 ? [7] : nil)
            let name = pick(records + [other.store.recordName(of: other.user)])
            let key = RecordKey(zone: zone, name: name)
            if dice.next(below: 3) == 0 {
                body.deletes = [key]
            } else {
                let type = names.ordinal(ofType: pick(["Note", "Users"]))
                let fields = [FieldChange(names.ordinal(ofKey: "t"), .string("taken"))]
                body.saves = [.init(key, type: type, fields: fields)]
            }
            return Request(database: database, names: names, .modifyRecords(body))
        }
    }

    private static func prepare(_ ben: Client) throws -> [FeedToken?] {
        #expect(ben.zones(save: ["Notes", "Secrets"]) == [nil, nil])
        for zone in zones { try ben.save("a", ["t": .string("ben's")], in: zone) }
        try ben.save("b", ["s": encrypted], in: "Secrets")
        let mine = ModifySubscriptionsRequest(saves: [
            Subscription("mine", .database, notification: NotificationInfo())
        ])
        try ben.store.modify(Request(database: ben.database, .modifySubscriptions(mine)), as: ben.actor)
        return try tokens(of: ben)
    }

    @Test func `Whatever one user asks for, what another has stays`() throws {
        try withSeeds(6) { seed in
            var dice = SeededGenerator(seed: seed)
            var options = StoreOptions.service
            options.recordsRefusals = true
            let anna = try Client(options)
            let ben = anna.with { $0.user = "ben" }
            let tokens = try Self.prepare(ben)
            let before = try Self.sight(of: ben, since: tokens)
            let full = try Self.sight(of: ben, since: [nil, nil, nil])
            var accepted = 0
            for step in 0..<150 {
                if case .success(let answer) = anna.ask(Self.attack(by: anna, on: ben, &dice)), answer.offset != nil {
                    accepted += 1
                }
                guard step % 10 == 9 else { continue }
                #expect(try Self.sight(of: ben, since: tokens) == before)
                #expect(try Self.sight(of: ben, since: [nil, nil, nil]) == full)
            }
            // Or nothing was tried.
            #expect(accepted > 3)
        }
    }

    @Test func `Canary: what its user does is seen`() throws {
        let acts: [(Client) throws -> Void] = [
            { try $0.save("d", in: "Notes") }, { #expect($0.codes(deletes: [.init("a", in: "Secrets")]) == [nil]) },
            { #expect($0.zones(save: ["New"]) == [nil]) }, { try $0.store.purgeZone(ZoneID("Notes"), of: "ben") },
            { ben in
                let body = ModifySubscriptionsRequest(deletes: ["mine"])
                try ben.store.modify(Request(database: ben.database, .modifySubscriptions(body)), as: ben.actor)
            },
        ]
        for act in acts {
            let ben = try Client().with { $0.user = "ben" }
            let tokens = try Self.prepare(ben)
            let before = try Self.sight(of: ben, since: tokens)
            try act(ben)
            let after = try? Self.sight(of: ben, since: tokens)
            #expect(after != before)
        }
    }
}
