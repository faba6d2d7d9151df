import StrataLog
import StrataModel
import StrataTree
import StrataViews
import Testing

@testable import StrataRules

/// What becomes of a request for subscriptions: its events, its shape and its trace.
@Suite struct SubscriptionDecisionTests {
    private let view: RulesView
    private let context = RequestContext(
        actor: Actor(user: "anna", device: "phone"), time: 1_000_000, commitID: Identifier(high: 0, low: 1),
        isTraced: true)

    init() throws { view = RulesView(Fold(try Views.inMemory(MemoryLog()).trees.fork())) }

    private func decide(
        _ saves: [NamedSubscription] = [], _ deletes: [String] = [], _ rules: Rules = Rules(),
        in scope: InternedName.Scope = .private
    ) throws -> Decision {
        try rules.decide(.subscriptions(saving: saves, deleting: deletes, in: DatabaseID(scope)), view, context)
    }

    /// The events of a decision that is folded as the commit of an offset.
    @discardableResult
    private func apply(_ decision: Decision, at offset: UInt64) throws -> Envelope {
        guard case .commit(let payload) = decision.outcome else {
            throw StrataError(.malformed, "Nothing was decided.", .init(found: "\(decision.outcome)"))
        }
        try payload.withUnsafeBytes { try view.fold.apply($0, offset: offset, time: 1_000_000) }
        view.adopt(decision)
        return try Envelope(decoding: payload[...])
    }

    private func query(_ id: String, _ predicate: String = "TRUEPREDICATE") -> NamedSubscription {
        NamedSubscription(id, .query, recordType: "Note", predicate: predicate, options: .creation)
    }

    @Test func `names come first, then what a first write brings, then the items in their order`() throws {
        let all = NamedSubscription("all", .database)
        let decision = try decide([query("a"), query("b", "n = 1"), all])
        let envelope = try apply(decision, at: 1)
        let items = envelope.events.map(\.kind).filter { $0 != .nameInterned }
        #expect(items.suffix(3) == [.subscriptionSaved, .subscriptionSaved, .subscriptionSaved])
        #expect(Array(envelope.events.map(\.kind).drop { $0 == .nameInterned }) == items)
        #expect(items.contains(.databaseCreated) && items.contains(.deviceSeen))
        #expect(envelope.header.operationKind == .modifySubscriptions)
        let versions = try decision.result(at: 1).saves.map { try $0.get() }
        #expect(versions.map { Int($0.eventIndex) } == Array(envelope.events.indices.suffix(3)))
        let second = try apply(try decide([query("a", "n = 2")], ["b", "none"]), at: 2)
        #expect(second.events.map(\.kind) == [.subscriptionSaved, .subscriptionDeleted])
        let shape = try RequestShape(decoding: second.header.requestShape)
        #expect(shape.kind == .modifySubscriptions && shape.saveCount == 1 && shape.deleteCount == 2)
        #expect(shape.leftOut.map(\.index) == [1] && shape.leftOut[0].refusal?.code == .unknownItem)
    }

    @Test func `what is stored already is left out with its version`() throws {
        try apply(try decide([query("a")]), at: 1)
        let again = try decide([query("a")])
        guard case .nothing = again.outcome else {
            Issue.record("written again: \(again.outcome)")
            return
        }
        #expect(try again.result(at: 9).saves[0].get().offset == 1)
        let mixed = try decide([query("a"), query("b", "n = 1"), query("c"), query("", "n = 3")])
        let envelope = try apply(mixed, at: 2)
        let shape = try RequestShape(decoding: envelope.header.requestShape)
        #expect(shape.leftOut.map(\.index) == [0, 2, 3] && shape.leftOut[0].version?.offset == 1)
        guard case .modifySubscriptions(let left)? = shape.request?.content else {
            Issue.record("no request in the shape")
            return
        }
        #expect(left.saves.map(\.id) == ["a", "b", "c", ""] && shape.wholeRequest != nil)
        #expect(mixed.trace?.steps.map { "\($0.rule?.number ?? "") \($0.item)" } == ["B185 save 2", "B180 save 3"])
        #expect(mixed.result(at: 2).saves.map { (try? $0.get())?.offset } == [1, 2, nil, nil])
    }

    @Test func `a shared database comes with its first subscription, and once`() throws {
        try apply(try decide([query("a")]), at: 1)
        let first = try apply(try decide([NamedSubscription("s", .database)], in: .shared), at: 2)
        #expect(first.events.map(\.kind) == [.nameInterned, .databaseCreated, .subscriptionSaved])
        let all = NamedSubscription("t", .database, recordType: "Note")
        #expect(try apply(try decide([all], in: .shared), at: 3).events.map(\.kind) == [.subscriptionSaved])
    }

    @Test func `predicates are judged by the store's own check, of query subscriptions alone`() throws {
        let rules = Rules { text in
            if text.contains("x") { throw StrataError(.malformed, "No x.") }
        }
        let decision = try decide(
            [query("a", "x = 1"), query("b", "n = 1"), NamedSubscription("x", .database)], [], rules)
        let refusals = decision.result(at: 1).saves.map { result -> Refusal? in
            if case .failure(let refusal) = result { refusal } else { nil }
        }
        #expect(refusals.map { $0?.code } == [.invalidArguments, nil, nil])
        #expect(refusals[0]?.rule == .subscriptionPredicate && refusals[0]?.message.contains("No x.") == true)
    }

    @Test func `duplicates are found among many, and only where they are`() throws {
        var limits = Limits.embedded
        limits.itemsPerRequest = 2_000
        let many = (0..<2_000).map { query("s\($0)", "n = \($0)") }
        try apply(try decide(many, [], Rules(limits: limits)), at: 1)
        for number in [0, 999, 1_999] {
            let refused = try decide([query("other", "n = \(number)")]).result(at: 2).saves[0]
            guard case .failure(let refusal) = refused else {
                Issue.record("\(number) is there twice")
                continue
            }
            #expect(refusal.message == "subscription is duplicate of 's\(number)'")
        }
        #expect((try? decide([query("other", "n = 2000")]).result(at: 2).saves[0].get()) != nil)
        var found: [String] = []
        let user = try #require(try view.fold.fork.ordinal(of: .user("anna")))
        let database = try #require(try view.fold.fork.ordinal(of: .database(.private, owner: user)))
        try view.fold.fork.forEachSubscription(of: database, user: user) { row in
            found.append(row.subscription.id)
            return true
        }
        #expect(found == many.map(\.id).sorted())
        var first: [String] = []
        try view.fold.fork.forEachSubscription(of: database) { row in
            first.append(row.subscription.id)
            return first.count < 3
        }
        #expect(first == Array(found[..<3]))
        try view.fold.fork.forEachSubscription(of: database, user: user + 1) { _ in
            Issue.record("of somebody else")
            return false
        }
    }
}
