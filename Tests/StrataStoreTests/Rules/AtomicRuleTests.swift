import StrataModel
import Testing

@testable import StrataStore

/// Atomicity: B80 to B84.
@Suite struct AtomicRuleTests {
    private let client: Client
    private typealias Save = Client.Save

    init() throws {
        client = try Client()
        #expect(client.zones(save: ["A", "B"]) == [nil, nil])
    }

    @Test(arguments: [InternedName.Scope.private, .public])
    func `B80 in a default zone items succeed or fail singly`(_ scope: InternedName.Scope) throws {
        let client = client.with { $0.scope = scope }
        try client.save("old")
        #expect(
            client.codes([Save("a"), Save("old"), Save("b")], deletes: ["c"]) == [nil, .serverRecordChanged, nil, nil])
        #expect(client.exists("a") && client.exists("b"))
    }

    @Test func `B81 in an atomic zone one failure fails all, and nothing is written`() throws {
        let notes = client.with { $0.zone = "A" }
        try notes.save("old")
        try notes.save("older")
        let offset = client.store.offset
        #expect(
            notes.codes([Save("a"), Save("old"), Save("_b")], deletes: ["older", "nothing"])
                == [
                    .batchRequestFailed, .serverRecordChanged, .invalidArguments, .batchRequestFailed,
                    .batchRequestFailed,
                ])
        #expect(client.store.offset == offset && !notes.exists("a") && notes.exists("older"))
        let bystander = try #require(try notes.modify([Save("a"), Save("old")]).get().saves.first?.refusal)
        #expect(bystander.message == "Record a will not be saved because of previous error in atomic zone")
        #expect(notes.codes([Save("a")], deletes: ["older", "nothing"]) == [nil, nil, nil])
    }

    @Test func `B81 a delete that fails takes the saves with it`() throws {
        let notes = client.with { $0.zone = "A" }
        #expect(notes.codes([Save("parent"), Save("child", parent: "parent")]) == [nil, nil])
        #expect(notes.codes([Save("a")], deletes: ["parent"]) == [.batchRequestFailed, .referenceViolation])
        #expect(!notes.exists("a") && notes.exists("parent"))
    }

    @Test func `B82 other zones are unaffected`() throws {
        try client.save("old", in: "A")
        let saves = [Save("a", in: "A"), Save("old", in: "A"), Save("b", in: "B"), Save("c"), Save("_c")]
        #expect(
            client.codes(saves, deletes: [.init("x", in: "B"), .init("y", in: "A")])
                == [.batchRequestFailed, .serverRecordChanged, nil, nil, .invalidArguments, nil, .batchRequestFailed])
        #expect(!client.exists("a", in: "A") && client.exists("b", in: "B") && client.exists("c"))
    }

    @Test func `B83 who does not ask for atomicity does not get it`() throws {
        let notes = client.with { ($0.zone, $0.isAtomic) = ("A", false) }
        try notes.save("old")
        #expect(
            notes.codes([Save("a"), Save("old"), Save("b")], deletes: ["c"]) == [nil, .serverRecordChanged, nil, nil])
        #expect(notes.exists("a") && notes.exists("b"))
    }

    @Test func `B84 what is wrong in itself fails alone where the zone is not atomic`() throws {
        #expect(
            client.codes([Save("a"), Save("_a"), Save("b", type: "1")]) == [nil, .invalidArguments, .invalidArguments])
        #expect(client.exists("a"))
    }
}
