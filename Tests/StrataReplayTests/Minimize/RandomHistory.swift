import StrataModel
import StrataStore
import TestSupport

/// Asks a store things as several clients would who know of each other too late: conflicts, requests that fail as a
/// whole, parents, zones that end, subscriptions, quotas.
struct RandomHistory {
    private static let zones = ["Notes", "Work", "_defaultZone"]
    private let fixture: RerunFixture
    /// Whether some users have less room than others.
    var setsQuotas = true
    private var generator: SeededGenerator
    /// Versions that clients have seen, by zone and name.
    private var seen: [String: [Version]] = [:]

    init(_ fixture: RerunFixture, seed: UInt64) {
        self.fixture = fixture
        generator = SeededGenerator(seed: seed)
    }

    mutating func run(_ stepCount: Int) throws {
        for step in 0..<stepCount { try self.step(step) }
    }

    private mutating func step(_ number: Int) throws {
        let actor = Actor(
            user: generator.next(below: 3) == 0 ? "bert" : "anna", device: generator.next(below: 2) == 0 ? "a" : "b")
        switch generator.next(below: 20) {
        case 0: try fixture.modify(.zones(saving: [ZoneID(Self.zones[generator.next(below: 2)])]), as: actor)
        case 1: try fixture.modify(.zones(deleting: [ZoneID(Self.zones[generator.next(below: 2)])]), as: actor)
        case 2:
            let id = "subscription\(generator.next(below: 3))"
            let subscription = NamedSubscription(id, .query, recordType: "Note", options: .creation)
            try fixture.modify(.subscriptions(saving: [subscription], in: DatabaseID(.private)), as: actor)
        case 3:
            if setsQuotas, number % 3 == 0 { try fixture.store.setQuota(bytes: 100_000, of: "bert") }
        default: try modifyRecords(as: actor)
        }
    }

    private mutating func modifyRecords(as actor: Actor) throws {
        let policy = SavePolicy.allCases[generator.next(below: 4) % 3]
        var builder = RequestBuilder(
            DatabaseID(generator.next(below: 5) == 0 ? .public : .private), policy: policy,
            isAtomic: generator.next(below: 2) == 0)
        var names: Set<String> = []
        var keys: [String] = []
        for _ in 0...generator.next(below: 4) {
            let zone = Self.zones[generator.next(below: 3)]
            let name = "r\(generator.next(below: 8))"
            guard names.insert(zone + name).inserted else { continue }
            let id = RecordID(name, zone: ZoneID(zone))
            if generator.next(below: 6) == 0 {
                builder.delete(id)
                continue
            }
            let known = seen[actor.user + zone + name] ?? []
            // Often the newest, sometimes an older one or none.
            let base =
                known.isEmpty || generator.next(below: 8) == 0 ? nil : known[known.count - 1 - stale(known.count)]
            let parent: RequestBuilder.LinkedName =
                generator.next(below: 6) == 0 ? .set("r\(generator.next(below: 8))") : .kept
            builder.save(
                id, type: "Note", base: base, parent: parent,
                fields: [
                    "k\(generator.next(below: 4))": .int64(Int64(generator.next(below: 100))),
                    "title": generator.next(below: 5) == 0 ? nil : .string("t\(generator.next(below: 100))"),
                ])
            keys.append(actor.user + zone + name)
        }
        guard let result = try fixture.modify(builder.request, as: actor) else { return }
        for (key, save) in zip(keys, result.saves) {
            if case .success(let version) = save { seen[key, default: []].append(version) }
        }
    }

    private mutating func stale(_ count: Int) -> Int {
        generator.next(below: 3) == 0 ? generator.next(below: min(3, count)) : 0
    }
}
