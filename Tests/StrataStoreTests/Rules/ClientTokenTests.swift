import StrataModel
import Testing

@testable import StrataStore

/// B65: a device's last token of a zone tells a repeated request.
@Suite struct ClientTokenTests {
    private let client: Client
    private typealias Save = Client.Save

    init() throws {
        client = try Client().with { $0.token = [1] }
        #expect(client.zones(save: ["A", "B"]) == [nil, nil])
    }

    private func with(token: [UInt8]?) -> Client { client.with { $0.token = token } }

    @Test func `B65 a repeated request answers as before and writes nothing`() throws {
        try with(token: nil).save("old")
        let saves = [Save("a", in: "A"), Save("old", base: Version(offset: 1, eventIndex: 0)), Save("b"), Save("_c")]
        let deletes: [Client.Deletion] = ["old-2", .init("x", in: "Nowhere")]
        let request = client.request(saves, deletes: deletes)
        let first = try client.ask(request).get()
        #expect(first.result.saves.map { $0.refusal?.code } == [nil, .serverRecordChanged, nil, .invalidArguments])
        for _ in 0..<2 {
            let second = try client.ask(request).get()
            #expect(second.result == first.result && second.offset == first.offset)
            #expect(client.store.offset == first.offset)
        }
    }

    @Test func `B65 a repeat with touches, cascades and nothing to delete answers as before`() throws {
        let none = with(token: nil)
        #expect(none.codes([Save("parent"), Save("owner"), Save("owned", ["o": owner("owner")])]) == [nil, nil, nil])
        let request = client.request([Save("a", parent: "parent"), Save("b")], deletes: ["owner", "nothing"])
        let first = try client.ask(request).get()
        #expect(try client.lastKinds().count == 6)
        let second = try client.ask(request).get()
        #expect(second.result == first.result && second.offset == first.offset)
        #expect(client.store.offset == first.offset)
    }

    @Test func `B65 only the last token of a device counts`() throws {
        #expect(client.codes([Save("a")]) == [nil])
        #expect(with(token: [2]).codes([Save("b")]) == [nil])
        #expect(client.codes([Save("a")]) == [.serverRecordChanged])
        #expect(with(token: [2]).codes([Save("b")]) == [nil])
        #expect(with(token: [2]).with { $0.device = "laptop" }.codes([Save("b")]) == [.serverRecordChanged])
        #expect(with(token: [2]).with { $0.user = "ben" }.codes([Save("b")]) == [nil])
        #expect(with(token: [2]).codes([Save("b")]) == [nil])
    }

    @Test func `B65 a token is of the zones that the request changed`() throws {
        let saves = [Save("a", in: "A"), Save("b", in: "B")]
        #expect(client.codes(saves) == [nil, nil])
        #expect(try client.lastKinds() == [.recordSaved, .recordSaved, .clientTokenKept, .clientTokenKept])
        #expect(client.codes(saves) == [nil, nil])
        // A zone whose atomic part failed keeps the old one.
        #expect(with(token: [2]).codes([Save("c", in: "A"), Save("b", in: "B")]) == [nil, .serverRecordChanged])
        #expect(try client.lastKinds() == [.recordSaved, .clientTokenKept])
        #expect(client.codes(saves) == [.serverRecordChanged, .serverRecordChanged])
        #expect(client.codes([Save("b", in: "B")]) == [.serverRecordChanged])
    }

    @Test func `B65 another request under the same token is judged`() throws {
        #expect(client.codes([Save("a"), Save("b")]) == [nil, nil])
        #expect(client.codes([Save("b"), Save("a")]) == [.serverRecordChanged, .serverRecordChanged])
        #expect(client.codes([Save("a")]) == [.serverRecordChanged])
        #expect(
            client.codes([Save("a"), Save("b")], deletes: ["c"]) == [.serverRecordChanged, .serverRecordChanged, nil])
        #expect(client.codes([Save("a"), Save("b")]) == [nil, nil])
    }

    @Test func `B65 a zone's tokens end with it`() throws {
        #expect(client.codes([Save("a", in: "A")]) == [nil])
        #expect(client.zones(delete: ["A"]) == [nil])
        #expect(client.codes([Save("a", in: "A")]) == [.zoneNotFound])
        #expect(client.zones(save: ["A"]) == [nil])
        #expect(client.codes([Save("a", in: "A")]) == [nil])
        #expect(client.exists("a", in: "A"))
    }

    @Test func `B65 what changes nothing keeps no token`() throws {
        #expect(client.codes([Save("_a")], deletes: ["nothing"]) == [.invalidArguments, nil])
        #expect(client.codes([Save("b")]) == [nil])
        #expect(client.codes(deletes: ["b"]) == [nil])
        #expect(try client.lastKinds() == [.recordDeleted, .clientTokenKept])
        #expect(client.codes(deletes: ["b"]) == [nil])
        #expect(try client.lastKinds() == [.recordDeleted, .clientTokenKept])
    }

    @Test func `B65 a token has at most 65,536 bytes, and may be empty`() throws {
        let longest = Array(repeating: 7 as UInt8, count: 65_536)
        for (index, token) in [[], longest].enumerated() {
            let client = with(token: token)
            let request = client.request([Save("a\(index)")])
            #expect(try client.ask(request).get().offset == client.ask(request).get().offset)
        }
        #expect(with(token: longest + [7]).codes([Save("c")]) == [.invalidArguments])
        #expect(!client.exists("c"))
    }
}
