import StrataModel
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataRules

/// What a view keeps of requests for those that come must not change what is decided.
@Suite struct KeptViewTests {
    private struct Requests {
        var random: SeededGenerator

        mutating func chance(_ percent: Int) -> Bool { random.next(below: 100) < percent }

        mutating func next() -> (Request, Actor) {
            let actor = Actor(user: chance(50) ? "anna" : "bo", device: "phone")
            return switch random.next(below: 40) {
            case 0..<3: (schema(), .service)
            case 3..<5: (zones(), actor)
            case 5: (account(actor.user), .service)
            default: (records(), actor)
            }
        }

        /// Mostly one of a few lists, as clients have them; or names in any order, some of them used by nothing.
        private mutating func names() -> RequestNames {
            var names = RequestNames()
            for zone in ["_defaultZone", "Notes"] { _ = names.ordinal(of: ZoneID(zone)) }
            var types = ["Note", "Task", "Late"].shuffled(using: &random).prefix(1 + random.next(below: 2))
            var keys = ["a", "b", "c", "d"].shuffled(using: &random).prefix(1 + random.next(below: 4))
            if chance(5) { keys.append("_bad") }
            if chance(80) {
                (types, keys) =
                    [(["Note"], ["a", "b"]), (["Note"], ["b", "a"]), (["Task"], ["a"])][random.next(below: 3)]
            }
            for type in types { _ = names.ordinal(ofType: type) }
            for key in keys { _ = names.ordinal(ofKey: key) }
            return names
        }

        private mutating func zones() -> Request {
            var names = RequestNames()
            let zone = names.ordinal(of: ZoneID("Notes"))
            let body = chance(70) ? ModifyZonesRequest(saves: [.init(zone)]) : ModifyZonesRequest(deletes: [zone])
            return Request(database: DatabaseID(.private), names: names, .modifyZones(body))
        }

        private mutating func account(_ user: String) -> Request {
            let content: AdministerRequest =
                chance(50)
                ? .setQuota(bytes: UInt64(random.next(below: 3)) * 200, user: user)
                : .setAccountStatus(chance(20) ? .restricted : .available, user: user)
            return Request(database: DatabaseID(.private), .administer(content))
        }

        private mutating func records() -> Request {
            let names = names()
            var body = ModifyRecordsRequest(policy: .allKeys, isAtomic: chance(50))
            for number in 0...random.next(below: 3) {
                let name = "\(number) \(random.next(below: 4))"
                let type = UInt64(1 + random.next(below: names.recordTypes.count))
                let zone: UInt64 = chance(70) ? 1 : 2
                var save = ModifyRecordsRequest.Save(RecordKey(zone: zone, name: name), type: type)
                save.fields = names.keys.indices.filter { _ in chance(60) }.map { key in
                    FieldChange(UInt32(key + 1), value())
                }
                body.saves.append(save)
            }
            let database = DatabaseID(chance(50) ? .private : .public)
            return Request(database: database, names: names, .modifyRecords(body))
        }

        /// Nearly always of the kind that the key has by then.
        private mutating func value() -> FieldValue? {
            switch random.next(below: 30) {
            case 0: .string("text")
            case 1: .data([1])
            case 2..<5: nil
            default: .int64(Int64(random.next(below: 5)))
            }
        }

        private mutating func schema() -> Request {
            let names = names()
            let kind: FieldKind = chance(80) ? .int64 : .string
            let fields = names.keys.indices.map { SchemaField(UInt32($0 + 1), kind) }
            let declarations = names.recordTypes.indices.map {
                DeclareSchemaRequest.Declaration(UInt64($0 + 1), fields: fields)
            }
            return Request(database: DatabaseID(.public), names: names, .declareSchema(.init(declarations)))
        }
    }

    private enum Answer: Equatable {
        case commit([UInt8], RequestResult)
        case nothing(RequestResult)
        case refused(Refusal)
    }

    private func answer(_ decision: () throws -> Decision) throws -> (Answer, Decision?) {
        do {
            let decision = try decision()
            let result = decision.result(at: 1)
            guard case .commit(let payload) = decision.outcome else { return (.nothing(result), nil) }
            return (.commit(payload, result), decision)
        } catch let refusal as Refusal { return (.refused(refusal), nil) }
    }

    @Test(arguments: [SchemaMode.open, .enforced])
    func `a view that has seen requests decides as one that has seen none`(_ schema: SchemaMode) throws {
        var (committed, refused, known) = (0, 0, 0)
        try withSeeds(6) { seed in
            var requests = Requests(random: SeededGenerator(seed: seed))
            let pages = try Views.emptyTrees()
            let view = RulesView(Fold(try pages.fork()))
            let rules = Rules(schema: schema)
            var offset: UInt64 = 1
            for _ in 0..<300 {
                let (request, actor) = requests.next()
                let context = RequestContext(
                    actor: actor, time: Int64(offset) * 1_000, commitID: Identifier(high: 0, low: UInt64(offset)))
                if case .modifyRecords = request.content, try !view.schemaBindings(of: request.names).hasNews {
                    known += 1
                }
                let (kept, decision) = try answer { try rules.decide(request, view, context) }
                let (fresh, _) = try answer { try rules.decide(request, RulesView(Fold(try pages.fork())), context) }
                try #require(kept == fresh, "\(request)")
                guard let decision, case .commit(let payload, let result) = kept else {
                    refused += 1
                    continue
                }
                refused += result.saves.count { if case .failure = $0 { true } else { false } }
                // Some decisions come to nothing: nobody hears of them again.
                if requests.chance(20) { continue }
                try payload.withUnsafeBytes { try view.fold.apply($0, offset: offset, time: Int64(offset) * 1_000) }
                view.adopt(decision)
                try view.fold.publish(to: pages)
                (committed, offset) = (committed + 1, offset + 1)
            }
        }
        #expect(
            committed > 300 && refused > 300 && known > 300,
            "\(committed) committed, \(refused) refused, of \(known) the names were known")
    }
}
