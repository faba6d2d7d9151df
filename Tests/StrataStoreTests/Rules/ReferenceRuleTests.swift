import StrataModel
import StrataRules
import Testing

@testable import StrataStore

/// References: B93, B98 to B100, B102, B103.
@Suite struct ReferenceRuleTests {
    private let client: Client
    private typealias Save = Client.Save

    init() throws {
        client = try Client()
        #expect(client.zones(save: ["A", "B"]) == [nil, nil])
    }

    @Test func `B93 a reference into another zone is refused, in every form`() throws {
        // The request's zone 1 is that of its first save.
        let foreign = FieldValue.reference(.init(RecordKey(zone: 1, name: "a")))
        let owning = FieldValue.reference(.init(RecordKey(zone: 1, name: "a"), action: .deleteSelf))
        for value in [foreign, owning, try list(foreign), try list(link("b"), foreign)] {
            #expect(
                client.codes([Save("a", in: "A"), Save("b", ["link": value], in: "B")]) == [nil, .invalidArguments])
            #expect(client.codes(deletes: [.init("a", in: "A")]) == [nil])
        }
        var request = client.request([Save("a", in: "A"), Save("b", in: "B", parent: "a")])
        guard case .modifyRecords(var body) = request.content else { return }
        body.saves[1].parent = .set(RecordKey(zone: 1, name: "a"))
        request.content = .modifyRecords(body)
        #expect(client.ask(request).map(\.result).codes == [nil, .invalidArguments])
    }

    @Test func `B93 a number that no zone has fails the request or the save, and never traps`() {
        for zone: UInt64 in [2, 99, .max] {
            let value = FieldValue.reference(.init(RecordKey(zone: zone, name: "a")))
            #expect(client.codes([Save("b", ["link": value])]) == [.invalidArguments])
        }
    }

    @Test func `B98 at most 750 records may be owned by one`() throws {
        try client.save("target")
        let children = (0..<750).map { Save("child-\($0)", ["owner": owner("target"), "again": owner("target")]) }
        #expect(client.codes(Array(children[..<400])) == Array(repeating: nil, count: 400))
        let rest = [Save("other")] + Array(children[400...]) + [Save("x", ["owner": owner("target")])]
        #expect(client.codes(rest) == Array(repeating: nil, count: 351) + [.limitExceeded])
        #expect(client.exists("child-749") && !client.exists("x"))
        let refusal = try client.refusal(Save("x", ["owner": owner("target")]))
        #expect(refusal.code == .limitExceeded)
        #expect(refusal.message.contains("Limit exceeded for number of owning references to single record"))
        // A plain reference is free, and what goes makes room.
        #expect(client.codes([Save("y", ["owner": link("target")])]) == [nil])
        #expect(client.codes(deletes: ["child-7"]) == [nil])
        #expect(client.codes([Save("x", ["owner": owner("target")])]) == [nil])
        #expect(client.codes([Save("z", ["owner": owner("target")])]) == [.limitExceeded])
    }

    @Test func `B98 what was owned already counts once, and what earlier saves let go makes room`() throws {
        var limits = Limits.service
        limits.owningReferences = 2
        let client = try Client(StoreOptions(limits: limits))
        let first = try client.save("a", ["owner": owner("t")])
        try client.save("b", ["owner": owner("t")])
        #expect(client.codes([Save("c", ["owner": owner("t")])]) == [.limitExceeded])
        #expect(client.codes([Save("a", ["owner": owner("t"), "n": .int64(1)], base: first)]) == [nil])
        let saves = [Save("a", ["owner": nil]), Save("c", ["owner": owner("t")])]
        #expect(client.with { $0.policy = .changedKeys }.codes(saves.reversed()) == [.limitExceeded, nil])
        #expect(client.with { $0.policy = .changedKeys }.codes([Save("b", ["owner": nil]), saves[1]]) == [nil, nil])
    }

    @Test func `B99 a parent exists or is saved in the same request, in any order`() throws {
        #expect(client.codes([Save("a", parent: "parent")]) == [.referenceViolation])
        #expect(client.codes([Save("a", parent: "parent"), Save("parent")]) == [nil, nil])
        #expect(client.codes([Save("b", parent: "parent"), Save("self", parent: "self")]) == [nil, nil])
        #expect(try client.fetch("self").get().parent == "self")
        #expect(client.codes([Save("c", in: "A", parent: "parent")]) == [.referenceViolation])
    }

    @Test func `B100 other references need no target`() throws {
        #expect(client.codes([try Save("a", ["l": link("x"), "o": owner("y"), "m": list(link("z"))])]) == [nil])
        #expect(client.codes([Save("b", ["l": link(text(255))]), Save("c", ["l": link("_\n")])]) == [nil, nil])
        #expect(client.codes([Save("d", ["l": link("")])]) == [.invalidArguments])
        #expect(client.codes([Save("d", ["l": link(text(256))])]) == [.invalidArguments])
    }

    @Test func `B102 a child whose parent failed fails too`() throws {
        let saves = [Save("c", parent: "b"), Save("b", parent: "_a"), Save("_a"), Save("free")]
        #expect(client.codes(saves) == [.referenceViolation, .referenceViolation, .invalidArguments, nil])
        let notes = client.with { $0.zone = "A" }
        #expect(
            notes.with { $0.isAtomic = false }.codes(saves)
                == [.referenceViolation, .referenceViolation, .invalidArguments, nil])
        let chain = [Save("c", parent: "b"), Save("b", parent: "a"), Save("a", type: "1"), Save("d", parent: "nobody")]
        #expect(
            notes.codes(chain)
                == [.batchRequestFailed, .batchRequestFailed, .invalidArguments, .referenceViolation])
    }

    @Test func `B103 two records may refer to each other when saved together`() throws {
        #expect(client.codes([Save("a", ["l": link("b")]), Save("b", ["l": link("a")])]) == [nil, nil])
        #expect(client.codes([Save("c", parent: "d"), Save("d", parent: "c")]) == [nil, nil])
        #expect(client.codes(deletes: ["c"]) == [.referenceViolation])
        #expect(client.codes(deletes: ["c", "d"]) == [nil, nil])
    }
}
