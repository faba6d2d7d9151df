import StrataLog
import StrataModel
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataRules

/// Whoever decides on a base decides what would have been decided on the commits.
@Suite struct BaseDecisionTests {
    private static let users = ["anna", "bo"]

    /// A store that decides, and writes what it decided.
    private final class Decider {
        let pages: TreeStore
        private var view: RulesView

        init(_ pages: TreeStore) throws {
            self.pages = pages
            view = RulesView(Fold(try pages.fork()))
        }

        /// The payload that was decided; nil if none was.
        func decide(_ request: Request, _ actor: Actor, at offset: UInt64) throws -> [UInt8]? {
            let context = RequestContext(
                actor: actor, time: Int64(offset) * 1_000, commitID: Identifier(high: 0, low: UInt64(offset)))
            let rules = Rules(limits: .embedded)
            let decision: Decision
            do { decision = try rules.decide(request, view, context) } catch is Refusal { return nil }
            guard case .commit(let payload) = decision.outcome else { return nil }
            try payload.withUnsafeBytes { try view.fold.apply($0, offset: offset, time: Int64(offset) * 1_000) }
            view.adopt(decision)
            try view.fold.publish(to: pages)
            return payload
        }
    }

    private struct Requests {
        var random: SeededGenerator
        /// As clients know them, right or wrong.
        var versions: [String: Version] = [:]

        mutating func chance(_ percent: Int) -> Bool { random.next(below: 100) < percent }

        mutating func next() -> (Request, Actor) {
            let user = BaseDecisionTests.users[random.next(below: 2)]
            let actor = Actor(user: user, device: chance(50) ? "phone" : "mac")
            switch random.next(below: 20) {
            case 0..<2: return (zones(), actor)
            case 2: return (subscriptions(), actor)
            case 3:
                let content: AdministerRequest =
                    switch random.next(below: 4) {
                    case 0: .setQuota(bytes: UInt64(random.next(below: 4)) * 2_000, user: user)
                    case 1: .expireTokens(before: UInt64(random.next(below: 30)), inAll: chance(50))
                    case 2 where chance(20): .resetEncryptedData
                    default: .setAccountStatus(chance(10) ? .restricted : .available, user: user)
                    }
                return (Request(database: DatabaseID(.private, owner: user), .administer(content)), .service)
            default: return (records(of: user), actor)
            }
        }

        private mutating func zones() -> Request {
            var names = RequestNames()
            let zone = names.ordinal(of: ZoneID("zone \(random.next(below: 3))"))
            let body = chance(90) ? ModifyZonesRequest(saves: [.init(zone)]) : ModifyZonesRequest(deletes: [zone])
            return Request(database: DatabaseID(.private), names: names, .modifyZones(body))
        }

        private mutating func subscriptions() -> Request {
            let id = "subscription \(random.next(below: 4))"
            if chance(30) { return .subscriptions(deleting: [id]) }
            return .subscriptions(saving: [
                NamedSubscription(id, .recordZone, zone: ZoneID("zone \(random.next(below: 3))"))
            ])
        }

        private mutating func records(of user: String) -> Request {
            var names = RequestNames()
            let place = random.next(below: 3)
            let zone = names.ordinal(of: ZoneID("zone \(place)"))
            // No other zone has a record of the same name, so that a name leads to its version.
            func key(_ number: Int) -> RecordKey { RecordKey(zone: zone, name: "\(user) \(place) \(number)") }
            let type = names.ordinal(ofType: "Note")
            var body = ModifyRecordsRequest(clientToken: chance(30) ? [UInt8(random.next(below: 3))] : nil)
            body.policy = SavePolicy.allCases[random.next(below: 3)]
            body.isAtomic = chance(50)
            for number in Set((0..<1 + random.next(below: 3)).map { _ in random.next(below: 6) }).sorted() {
                var save = ModifyRecordsRequest.Save(key(number), type: type)
                if chance(90) { save.base = versions[key(number).name] }
                // Records refer to those of smaller numbers.
                let target = key(random.next(below: max(1, number)))
                if chance(10), number > 0 { save.parent = .set(target) }
                let isReference = chance(20) && number > 0
                let field = names.ordinal(ofKey: isReference ? "owner" : "key\(random.next(below: 3))")
                let value: FieldValue =
                    isReference ? .reference(.init(target, action: .deleteSelf)) : .string("\(random.next(below: 99))")
                save.fields = [FieldChange(field, chance(15) ? nil : value)]
                body.saves.append(save)
            }
            if chance(10) { body.deletes = [key(random.next(below: 9))] }
            return Request(database: DatabaseID(.private), names: names, .modifyRecords(body))
        }

        /// Remembers the versions that a commit gave.
        mutating func note(_ payload: [UInt8], at offset: UInt64) throws {
            for (index, event) in try Envelope(decoding: payload[...]).events.enumerated()
            where event.kind == .recordSaved {
                let name = try RecordSavedEvent(decoding: event.body).record.name
                versions[name] = Version(offset: offset, eventIndex: UInt32(index))
            }
        }
    }

    private func base(of pages: TreeStore) throws -> TreeStore {
        let base = try Views.emptyTrees()
        let fold = Fold(try base.fork())
        var scan = try BaseScan(pages.snapshot(), chain: 1)
        try fold.load(base: scan.horizon, into: base) { try scan.next()?[...] }
        try fold.publish(to: base)
        return base
    }

    @Test func `the same requests get the same decisions, byte by byte`() throws {
        var (full, refused) = (0, 0)
        try withSeeds(6) { seed in
            var requests = Requests(random: SeededGenerator(seed: seed))
            let whole = try Decider(try Views.emptyTrees())
            var others: [Decider] = []
            var offset: UInt64 = 1
            for round in 0..<400 {
                // Two that begin with a base at some time, one of them with a base of the other's base.
                if round == 60 + Int(seed % 7) { others.append(try Decider(base(of: whole.pages))) }
                if round == 140, let other = others.first { others.append(try Decider(base(of: other.pages))) }
                let (request, actor) = requests.next()
                let payload = try whole.decide(request, actor, at: offset)
                for other in others { try #require(try other.decide(request, actor, at: offset) == payload) }
                guard let payload else {
                    refused += 1
                    continue
                }
                try requests.note(payload, at: offset)
                if !others.isEmpty {
                    for event in try Envelope(decoding: payload[...]).events where event.kind == .recordSaved {
                        let event = try RecordSavedEvent(decoding: event.body)
                        if event.isFull, event.change != .create { full += 1 }
                    }
                }
                offset += 1
            }
            for other in others {
                try #require(try other.pages.snapshot().digests() == whole.pages.snapshot().digests())
            }
        }
        #expect(full > 20 && refused > 100, "\(full) full saves, \(refused) refused")
    }
}
