import StrataLog
import StrataModel
import StrataTree
import StrataViews
import Testing

@testable import StrataRules

/// Decisions by themselves: pure, traced, and the same every time.
@Suite struct DecisionTests {
    private let view: RulesView
    private let anna = Actor(user: "anna")

    init() throws { view = RulesView(Fold(try Views.inMemory(MemoryLog()).trees.fork())) }

    private func context(isTraced: Bool = false, operation: OperationInfo = OperationInfo()) -> RequestContext {
        RequestContext(
            actor: anna, time: 1_000_000, operation: operation, commitID: Identifier(high: 0, low: 1),
            isTraced: isTraced)
    }

    private func request(_ names: [String], deletes: [String] = [], parent: String? = nil) -> Request {
        var table = RequestNames()
        let zone = table.ordinal(of: ZoneID("_defaultZone"))
        let type = table.ordinal(ofType: "Note")
        var body = ModifyRecordsRequest(clientToken: [1])
        body.saves = names.map { name in
            .init(
                RecordKey(zone: zone, name: name), type: type,
                parent: parent.map { .set(RecordKey(zone: zone, name: $0)) } ?? .kept)
        }
        body.deletes = deletes.map { RecordKey(zone: zone, name: $0) }
        return Request(database: DatabaseID(.private), names: table, .modifyRecords(body))
    }

    private func payload(_ decision: Decision) throws -> [UInt8] {
        guard case .commit(let payload) = decision.outcome else {
            Issue.record("nothing was decided: \(decision.outcome)")
            return []
        }
        return payload
    }

    @Test func `a decision changes nothing, so that it can be had again`() throws {
        let first = try Rules().decide(request(["a", "b"]), view, context())
        let second = try Rules().decide(request(["a", "b"]), view, context())
        #expect(try payload(first) == payload(second) && !payload(first).isEmpty)
        #expect(first.result(at: 7) == second.result(at: 7))
        try payload(first).withUnsafeBytes { try view.fold.apply($0, offset: 1, time: 1_000_000) }
        view.adopt(first)
        let third = try Rules().decide(request(["c"]), view, context())
        #expect(third.eventCount == 2 && first.eventCount > third.eventCount)
        let repeated = try Rules().decide(request(["a", "b"]), view, context())
        guard case .repeats(offset: 1) = repeated.outcome else {
            Issue.record("not known again: \(repeated.outcome)")
            return
        }
    }

    @Test func `results name no offset before they have one`() throws {
        let decision = try Rules().decide(request(["a", "_b"]), view, context())
        for offset: UInt64 in [1, 5, Version.maximumOffset] {
            let saves = decision.result(at: offset).saves
            #expect(try saves[0].get().offset == offset && saves[0].get() == decision.result(at: offset).saves[0].get())
            guard case .failure(let refusal) = saves[1] else {
                Issue.record("_b was saved")
                return
            }
            #expect(refusal.code == .invalidArguments)
        }
    }

    @Test func `a trace says what was refused, of which item and why, and costs nothing unasked`() throws {
        let asked = request(["a", "_b", "c"], deletes: ["nothing"], parent: "nobody")
        let silent = try Rules().decide(asked, view, context())
        #expect(silent.trace == nil)
        let traced = try Rules().decide(asked, view, context(isTraced: true))
        let trace = try #require(traced.trace)
        #expect(
            trace.steps.map { "\($0.rule?.number ?? "") \($0.item)" } == [
                "B3 save 1", "B99 save 0", "B99 save 2", "B91 delete 0",
            ])
        #expect(trace.steps[0].note.contains("_b") && trace.steps[3].note.contains("nothing"))
        #expect(trace.description.split(separator: "\n").count == 4)
        #expect(silent.result(at: 1) == traced.result(at: 1))
    }

    @Test func `a trace tells a repeated request, and zones`() throws {
        let first = try Rules().decide(request(["a"]), view, context(isTraced: true))
        #expect(first.trace?.steps.isEmpty == true)
        try payload(first).withUnsafeBytes { try view.fold.apply($0, offset: 1, time: 1_000_000) }
        view.adopt(first)
        let again = try Rules().decide(request(["a"]), view, context(isTraced: true))
        #expect(
            again.trace?.steps == [.init(rule: .clientTokens, item: "request", note: "the token is that of commit 1")])
        var names = RequestNames()
        let body = ModifyZonesRequest(
            saves: [.init(names.ordinal(of: ZoneID("_a")))], deletes: [names.ordinal(of: ZoneID("b"))])
        let zones = Request(database: DatabaseID(.private), names: names, .modifyZones(body))
        let trace = try Rules().decide(zones, view, context(isTraced: true)).trace
        #expect(trace?.steps.map { "\($0.rule?.number ?? "") \($0.item)" } == ["B4 save 0", "B35 delete 0"])
    }

    @Test func `a trace tells which tags were compared, and what a request did beside what it asked for`() throws {
        func modify(
            _ policy: SavePolicy, base: Version?, field: FieldValue? = nil, deletes: [String] = [], offset: UInt64
        ) throws -> [String] {
            var request = request(["b"], deletes: deletes, parent: offset == 1 ? nil : "a")
            guard case .modifyRecords(var body) = request.content else { return [] }
            body.policy = policy
            body.clientToken = nil
            body.saves[0].base = base
            if let field { body.saves[0].fields = [FieldChange(request.names.ordinal(ofKey: "k"), field)] }
            if offset == 1 { body.saves.append(.init(RecordKey(zone: 1, name: "a"), type: 1)) }
            request.content = .modifyRecords(body)
            let decision = try Rules().decide(request, view, context(isTraced: true))
            try payload(decision).withUnsafeBytes { try view.fold.apply($0, offset: offset, time: 1_000_000) }
            view.adopt(decision)
            return decision.trace?.steps.map { "\($0.rule?.number ?? "") \($0.item): \($0.note)" } ?? []
        }
        #expect(
            try modify(.allKeys, base: nil, offset: 1) == [
                "B57 save 0: there is no such record yet", "B57 save 1: there is no such record yet",
            ])
        let key = RecordKey(
            zone: try #require(try view.ordinal(of: .zone(database: 1, owner: 1, "_defaultZone"))), name: "b")
        let tag = try #require(try view.header(key)).version
        #expect(
            try modify(.ifServerRecordUnchanged, base: tag, offset: 2) == [
                "B51 save 0: \(tag.tag) is the stored tag", "B61 save 0: its parent 'a' gets a new tag",
            ])
        let next = try #require(try view.header(key)).version
        let owned = FieldValue.reference(.init(RecordKey(zone: 1, name: "a"), action: .deleteSelf))
        #expect(
            try modify(.changedKeys, base: tag, field: owned, deletes: ["a"], offset: 3) == [
                "B55 save 0: \(next.tag) is the stored tag, not compared with \(tag.tag)",
                "B95 delete 0: 1 record goes with it: b",
            ])
    }

    @Test func `a refusal of the whole request names its rule, which no commit keeps`() throws {
        let refusal = #expect(throws: Refusal.self) {
            try Rules().decide(request(["a", "a"]), view, context())
        }
        #expect(refusal?.rule == .recordsOnce)
        var other = try #require(refusal)
        other.rule = nil
        #expect(other == refusal && other.hashValue == refusal?.hashValue)
        other.message += "!"
        #expect(other != refusal)
    }

    @Test func `an operation's texts are cut where a header ends, between characters`() throws {
        let accent = "\u{E9}"
        for (text, kept) in [
            (String(repeating: "x", count: 255), 255), (String(repeating: "x", count: 256), 255),
            (String(repeating: accent, count: 128), 254), (String(repeating: "\u{1F600}", count: 64), 252), ("", 0),
        ] {
            let operation = OperationInfo(id: text, groupID: text, groupName: text)
            let decision = try Rules().decide(request(["a"]), view, context(operation: operation))
            let header = try Envelope(decoding: payload(decision)[...]).header
            #expect(header.operationID.utf8.count == kept && text.hasPrefix(header.operationID))
            #expect(header.groupID == header.operationID && header.groupName == header.operationID)
        }
    }

    @Test func `numbers that the request's names do not have are refused`() throws {
        let whole = request(["a"])
        guard case .modifyRecords(let body) = whole.content else { return }
        func refused(_ change: (inout ModifyRecordsRequest) -> Void) -> Refusal.Code? {
            var (body, request) = (body, whole)
            change(&body)
            request.content = .modifyRecords(body)
            return #expect(throws: Refusal.self) { try Rules().decide(request, view, context()) }?.code
        }
        for number: UInt64 in [0, 2, .max] {
            #expect(refused { $0.saves[0].record.zone = number } == .invalidArguments)
            #expect(refused { $0.saves[0].type = number } == .invalidArguments)
            #expect(refused { $0.deletes = [RecordKey(zone: number, name: "a")] } == .invalidArguments)
        }
        for number: UInt32 in [0, 2, .max] {
            #expect(refused { $0.saves[0].fields = [FieldChange(number, .int64(1))] } == .invalidArguments)
            let zones = ModifyZonesRequest(deletes: [UInt64(number)])
            let request = Request(database: DatabaseID(.private), names: whole.names, .modifyZones(zones))
            #expect(throws: Refusal.self) { try Rules().decide(request, view, context()) }
        }
    }
}
