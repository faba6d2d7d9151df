import StrataModel
import StrataRules
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("Requests that change shares can be rebuilt from their commits")
struct ShareRebuildTests {
    private let store: Store
    private let anna = Actor(user: "anna", device: "mac")
    private let ben = Actor(user: "ben", device: "phone")

    init() throws {
        store = try Store.inMemory()
        try store.modify(.zones(saving: [ZoneID("Notes")]), as: anna)
    }

    @discardableResult
    private func save(
        _ names: [(name: String, share: String?, sharing: ShareChange?, base: Version?)], deletes: [String] = [],
        isAtomic: Bool = true, keys: [String] = []
    ) throws -> RequestResult {
        var table = RequestNames()
        let zone = table.ordinal(of: ZoneID("Notes"))
        // Another token for each request, since a repeated one is not judged.
        let token = [UInt8(truncatingIfNeeded: store.log.end.offset)]
        var body = ModifyRecordsRequest(isAtomic: isAtomic, clientToken: token)
        for item in names {
            let type = table.ordinal(ofType: item.name.hasPrefix("Share") ? ShareState.recordType : "Note")
            var save = ModifyRecordsRequest.Save(
                RecordKey(zone: zone, name: item.name), type: type, base: item.base, sharing: item.sharing)
            if let share = item.share { save.share = .set(RecordKey(zone: zone, name: share)) }
            save.fields = keys.map { FieldChange(table.ordinal(ofKey: $0), .string($0)) }
            body.saves.append(save)
        }
        body.deletes = deletes.map { RecordKey(zone: zone, name: $0) }
        return try store.modify(Request(database: DatabaseID(.private), names: table, .modifyRecords(body)), as: anna)
            .result
    }

    private func join(_ action: JoinSharesRequest.Action, _ tokens: [String]) throws -> RequestResult {
        let request = Request(database: DatabaseID(.shared), .joinShares(JoinSharesRequest(action, tokens: tokens)))
        return try store.modify(request, as: ben).result
    }

    private func token() throws -> String {
        try #require(try store.snapshot().trees.share(1)).urlToken
    }

    /// Judges each commit's request again, and compares what is decided with the commit.
    private func requireSameCommits() throws {
        let rebuilder = try RequestRebuilder()
        var cursor = try store.log.read(from: 1)
        var count = 0
        while let commit = try cursor.next() {
            if let asked = try rebuilder.asked(by: commit).flatMap({ RebuiltRequest($0) }) {
                let decision = try store.rules.decide(
                    asked.request, RulesView(rebuilder.fold),
                    RequestContext(
                        actor: asked.actor, time: commit.time, operation: asked.operation, commitID: commit.id))
                guard case .commit(let payload) = decision.outcome else {
                    Issue.record("commit \(commit.offset) is not made again")
                    return
                }
                #expect(payload[...] == commit.payload, "commit \(commit.offset)")
                #expect(try store.result(of: commit) == decision.result(at: commit.offset), "commit \(commit.offset)")
                count += 1
            }
            try rebuilder.pass(commit)
        }
        #expect(count == Int(store.log.end.offset))
    }

    @Test("Shares that are created, changed, accepted and ended give the same commits again")
    func life() throws {
        let failed = try save(
            [("Share-1", nil, ShareChange(root: "list"), nil), ("list", "Share-1", nil, nil)], isAtomic: false,
            keys: ["cloudkit.title"])
        #expect(failed.saves.allSatisfy { (try? $0.get()) == nil })
        let first = try save([("Share-1", nil, ShareChange(root: "list"), nil), ("list", "Share-1", nil, nil)])
        let participants: [ShareChange.Participant] = [
            .init("a", .user(recordName: store.recordName(of: "anna")), role: .owner, permission: .readOnly),
            .init("b", .address(.email("ben@example.com")), role: .privateUser, permission: .readWrite),
            .init("c", .oneTimeURL, role: .administrator, permission: .readOnly),
        ]
        var change = ShareChange(participants: participants, allowsAccessRequests: true)
        let base = try first.saves[0].get()
        // The owner cannot be added: the save fails, and the other one has an event.
        let refused = try save(
            [("Share-1", nil, change, base), ("note", nil, nil, nil)], isAtomic: false, keys: ["text"])
        #expect(try refused.saves[1].get().offset > 0)
        change.participants = Array(participants.dropFirst())
        let second = try save([("Share-1", nil, change, base)], keys: ["text"])
        try store.modify(
            Request(database: DatabaseID(.private), .administer(.addAddress("ben@example.com", user: "ben"))),
            as: .service)
        let joined = try join(.accept, ["nothing", token()])
        #expect(try joined.saves[1].get().offset == store.log.end.offset)
        _ = try save([("Share-1", nil, change, second.saves[0].get())])
        var version = try joined.saves[1].get()
        for round in 0..<20 {
            change.publicPermission = round % 2 == 0 ? .readOnly : SharePermission.none
            change.participants = nil
            version = try save([("Share-1", nil, change, version)]).saves[0].get()
            if round % 2 == 0 { version = try join(.accept, [token()]).saves[0].get() }
        }
        try save([("other", nil, nil, nil)], deletes: ["Share-1"])
        try requireSameCommits()
    }

    @Test("A request for access is rebuilt with what it was answered")
    func accessRequests() throws {
        var change = ShareChange(root: "list")
        change.allowsAccessRequests = true
        try save([("Share-1", nil, change, nil), ("list", "Share-1", nil, nil)])
        let asked = try join(.requestAccess, [token(), "nothing"])
        #expect(asked.saves.count == 2 && asked.deletes.isEmpty)
        try requireSameCommits()
    }
}
