import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataReplay

/// Each kind of request, accepted and refused, as the log records its causes.
@Suite("Explanations read causes")
struct CauseTests {
    private static let bert = RefusingStore.bert
    private static let signedOut = Actor(user: "", device: "")
    private static let subscription = NamedSubscription("all", .database, notification: NotificationInfo())

    /// A request, and what is said of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let request: Request
        var actor = RefusingStore.phone
        /// Nil if it is accepted.
        var code: Refusal.Code?
        /// The words for a request without items.
        var asked: String?
        /// The names of items.
        var items: [String] = []

        var testDescription: String { name + (code == nil ? "" : " refused") + " by \(actor.user)" }
    }

    private static func administer(_ body: AdministerRequest, _ scope: InternedName.Scope = .private) -> Request {
        Request(database: DatabaseID(scope, owner: scope == .private ? "anna" : ""), .administer(body))
    }

    private static func saving(_ name: String) -> Request {
        var builder = RequestBuilder(DatabaseID(.private))
        builder.save(RecordID(name, zone: RefusingStore.notes), type: "Note")
        return builder.request
    }

    private static let schema = Request(database: DatabaseID(.public), .declareSchema(DeclareSchemaRequest([])))
    private static let notice = Request(
        database: DatabaseID(.private, owner: "anna"),
        .notify(NotifyRequest(user: "anna", deliveries: [.init(device: "phone", through: 1)])))
    private static let join = Request(
        database: DatabaseID(.shared), .joinShares(JoinSharesRequest(.accept, tokens: ["0secretToken"])))

    private static let cases: [Case] = [
        Case(name: "save", request: saving("a"), items: ["a"]),
        Case(name: "save", request: saving("_a"), code: .invalidArguments, items: ["_a"]),
        Case(name: "save", request: saving("a"), actor: signedOut, code: .notAuthenticated, items: ["a"]),
        Case(name: "save", request: saving("a"), actor: .service, code: .permissionFailure, items: ["a"]),
        Case(name: "zones", request: .zones(saving: [ZoneID("More")]), items: ["More"]),
        Case(
            name: "zones", request: .zones(deleting: [ZoneID("None")]), code: .zoneNotFound, items: ["None"]),
        Case(
            name: "zones", request: .zones(saving: [ZoneID("More")]), actor: signedOut, code: .notAuthenticated,
            items: ["More"]),
        Case(name: "subscriptions", request: .subscriptions(saving: [subscription]), items: ["all"]),
        Case(
            name: "subscriptions", request: .subscriptions(deleting: ["none"]), code: .unknownItem, items: ["none"]),
        Case(
            name: "quota", request: administer(.setQuota(bytes: 1_000, user: "anna")), actor: .service,
            asked: "give anna 1000 bytes"),
        Case(
            name: "quota", request: administer(.setQuota(bytes: 1_000, user: "anna")), actor: bert,
            code: .permissionFailure, asked: "give anna 1000 bytes"),
        Case(
            name: "quota", request: administer(.setQuota(bytes: 1_000, user: "anna")), actor: signedOut,
            code: .notAuthenticated, asked: "give anna 1000 bytes"),
        Case(
            name: "address", request: administer(.addAddress("anna@example.org", user: "anna")), actor: .service,
            asked: "add an address of anna"),
        Case(
            name: "address", request: administer(.addAddress("anna@example.org", user: "anna")),
            code: .permissionFailure, asked: "add an address of anna"),
        Case(name: "schema", request: schema, code: .permissionFailure, asked: "declare a schema"),
        Case(
            name: "notice", request: notice, actor: .service,
            asked: "note the notifications of anna"),
        Case(
            name: "notice", request: notice, code: .permissionFailure,
            asked: "note the notifications of anna"),
        Case(name: "join", request: join, code: .unknownItem, items: ["share of a URL"]),
        Case(
            name: "join", request: join, actor: signedOut, code: .notAuthenticated, items: ["share of a URL"]),
    ]

    /// Makes a request, and returns the offset of its commit, or of its audit if it wrote nothing.
    private func ask(_ one: Case, of world: RefusingStore) throws -> Explanation {
        if one.code != nil { return try world.explainRefusal(of: one.request, as: one.actor) }
        let offset = try #require(try world.modify(one.request, as: one.actor).offset)
        return try Explanation.of(offset, in: world.store)
    }

    @Test("The actor, the request, the state and the answer are those of the request", arguments: cases)
    func everyKind(_ one: Case) throws {
        let world = try RefusingStore()
        try world.save("there")
        let state = world.store.offset
        let why = try ask(one, of: world)
        #expect(why.notes.isEmpty && why.judgedAt == state, "\(why)")
        #expect(why.actor == one.actor && why.asked == one.asked)
        #expect(why.items.map(\.name) == one.items)
        #expect(why.outcome == (one.code == nil ? .accepted : .refused))
        let codes = why.code.map { [$0] } ?? why.items.compactMap(\.code)
        #expect(Set(codes) == Set(one.code.map { [$0] } ?? []), "\(codes)")
        let rules = why.rules + why.items.flatMap(\.rules)
        #expect(!rules.isEmpty)
        #expect(!"\(why)".contains("example.org") && !"\(why)".contains("secretToken"))
    }

    @Test("A log of an earlier release says what is not recorded, and what is certain", arguments: cases)
    func earlierLog(_ one: Case) throws {
        let world = try RefusingStore()
        try world.save("there")
        let now = try ask(one, of: world)
        let log = try Self.earlier(world.store.log)
        let store = try Store(on: log)
        defer { try? store.close() }
        let why = try Explanation.of(now.offset, in: store)
        #expect(why.judgedAt == nil && why.outcome == now.outcome && why.code == now.code)
        #expect(why.items.compactMap(\.code) == now.items.compactMap(\.code))
        #expect(why.items.map(\.made) == now.items.map(\.made))
        #expect(why.notes.contains("The state on which the request was judged is not recorded."), "\(why.notes)")
        #expect(why.rules.isEmpty && why.items.allSatisfy { $0.rules.isEmpty && $0.facts.isEmpty })
        if one.code != nil, one.actor.user.isEmpty || one.actor == .service {
            #expect(why.notes.contains("The actor is not recorded.") && why.actor.user.isEmpty)
        }
    }

    /// Copies a log as earlier releases wrote it: without causes and stated rules.
    private static func earlier(_ log: any EventLog) throws -> MemoryLog {
        let copy = MemoryLog()
        var cursor = try log.read(from: 1)
        while let commit = try cursor.next() {
            var envelope = try Envelope(decoding: commit.payload)
            (envelope.header.judgedOn, envelope.header.actorKind) = (nil, nil)
            envelope.events.removeAll { $0.kind == .rulesStated }
            if !envelope.header.requestShape.isEmpty {
                let shape = try RequestShape(decoding: envelope.header.requestShape)
                if shape.kind != .modifyRecords {
                    let earlier = RequestShape(
                        shape.kind, policy: shape.policy, isAtomic: shape.isAtomic,
                        firstItemEvent: shape.firstItemEvent, saveCount: shape.saveCount,
                        deleteCount: shape.deleteCount)
                    envelope.header.requestShape = try earlier.encoded()[...]
                }
            }
            try copy.appendAll([NewCommit(id: commit.id, time: commit.time, payload: envelope.encoded()[...])])
        }
        return copy
    }

    @Test("A what-if about an earlier log keeps the requests that it does not record")
    func earlierRerun() throws {
        let world = try RefusingStore()
        let milk = try world.save("milk")
        _ = try world.explainRefusal(of: Self.saving("milk"))
        try world.save("tea")
        let store = try Store(on: Self.earlier(world.store.log))
        defer { try? store.close() }
        let judged = try JudgedLog.of(store)
        #expect(judged.isSame, "\(judged)")
        // The zone, the note of the console, and the refusal.
        #expect(judged.unjudgedCount == 3, "\(judged)")
        let reasons = Set(judged.unjudged.map(\.reason))
        #expect(reasons.contains("The request is not recorded."), "\(reasons)")
        #expect(reasons.contains("The state on which the request was judged is not recorded."), "\(reasons)")
        let report = try Rerun(of: store, changes: [.drop(milk.offset)]).run()
        defer { try? report.close() }
        #expect(report.directCount == 1 && report.changedCount == 0)
    }

    @Test("An explanation opens one past state, wherever in a long history it is")
    func oneState() throws {
        let world = try RefusingStore()
        let commits: UInt64 = 20_000
        var base = try world.save("milk")
        for index in 0..<commits { base = try world.save("milk", ["n": .int64(Int64(index))], base: base) }
        let refused = try world.explainRefusal(of: Self.saving("milk"))
        let zones = try #require(try world.modify(.zones(saving: [ZoneID("More")])).offset)
        for offset in [1, 2, commits / 2, commits, refused.offset, zones] {
            var opened: [UInt64] = []
            let why = try Explanation.of(offset, in: world.store) { opened.append($0) }
            #expect(opened == [try #require(why.judgedAt)], "\(offset)")
        }
    }
}
