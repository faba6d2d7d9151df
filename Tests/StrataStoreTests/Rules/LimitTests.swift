import StrataModel
import StrataRules
import Testing

@testable import StrataStore

/// Both sides of the limits: B67, B68, and what else a request may not exceed.
@Suite struct LimitTests {
    private let client: Client
    private typealias Save = Client.Save

    init() throws { client = try Client() }

    private func saves(_ count: Int) -> [Client.Save] { (0..<count).map { Save("a\($0)") } }

    @Test func `B67 a request has at most 400 items, saves and deletes together`() throws {
        #expect(client.codes(saves(401)) == [.limitExceeded])
        let refusal = try #require(client.modify(saves(400), deletes: ["x"]).refusal)
        #expect(refusal.code == .limitExceeded)
        #expect(
            refusal.message
                == "Your request contains 401 items which is more than the maximum number of items "
                + "in a single request (400)"
        )
        #expect(client.store.offset == 0)
        #expect(client.codes(saves(399), deletes: ["x"]) == Array(repeating: nil, count: 400))
        let zones = (0...400).map { "zone-\($0)" }
        #expect(client.zones(save: zones) == [.limitExceeded])
        #expect(client.zones(save: Array(zones.dropLast())) == Array(repeating: nil, count: 400))
    }

    @Test func `B67 the embedded preset takes 10,000`() throws {
        let client = try Client(.embedded)
        let deletes = (0...10_000).map { Client.Deletion("a\($0)") }
        #expect(client.codes(deletes: deletes) == [.limitExceeded])
        #expect(client.codes([Save("b")], deletes: Array(deletes[..<9_999])).count == 10_000)
        #expect(client.exists("b"))
    }

    @Test func `B67 a request has at most 2 MB of what is sent`() throws {
        let saves = ["a", "b", "c"].map { Save($0, ["k": .string(text(666_665))]) }
        #expect(client.codes(saves + [Save("d", ["kkk": nil])]) == [.limitExceeded])
        #expect(client.store.offset == 0)
        #expect(client.codes(saves + [Save("d", ["kk": nil])]) == [nil, nil, nil, nil])
    }

    @Test func `B272 pages have 200 results, at most 400, and 1,000 and 10,000 in the embedded preset`() {
        #expect(Limits.service.pageSize == 200 && Limits.service.pageSizeMaximum == 400)
        #expect(Limits.embedded.pageSize == 1_000 && Limits.embedded.pageSizeMaximum == 10_000)
    }

    @Test func `B68 a record has at most 1 MB of keys and values`() throws {
        #expect(client.codes([Save("a", ["key": .string(text(999_998))]), Save("b")]) == [.limitExceeded, nil])
        #expect(client.codes([Save("a", ["key": .string(text(999_997))])]) == [nil])
        let stored = try client.fetch("a").get().version
        #expect(client.codes([Save("a", ["m": nil, "k": .data([])], base: stored)]) == [.limitExceeded])
        #expect(client.codes([Save("a", ["key": .string(text(999_996)), "k": .data([])], base: stored)]) == [nil])
        #expect(client.with { $0.policy = .changedKeys }.codes([Save("a", ["key": nil, "k": .data([1])])]) == [nil])
    }

    @Test func `B68 the embedded preset takes 16 MB`() throws {
        let client = try Client(.embedded)
        #expect(client.codes([Save("a", ["k": .data(Array(repeating: 1, count: 16_000_000))])]) == [.limitExceeded])
        #expect(client.codes([Save("a", ["k": .data(Array(repeating: 1, count: 1_000_000))])]) == [nil])
        let quarter = FieldValue.data(Array(repeating: 1, count: 15_999_999))
        let four = ["a", "b", "c", "d"].map { Save($0, ["k": quarter]) }
        #expect(client.codes(four + [Save("e", ["k": nil])]) == [.limitExceeded])
    }

    /// What each kind of value counts, beside its key.
    @Test func `B68 sizes are those of docs/rules_md`() throws {
        let location = FieldValue.location(.init(latitude: 1, longitude: 2, altitude: 3, speed: 4, timestamp: 5))
        let asset = FieldValue.asset(.init(hash: ContentHash(first: .max, second: .max), size: 1 << 40))
        let cases: [(FieldValue, Int)] = try [
            (.string("\u{E9}\u{1F600}"), 6), (.int64(1), 8), (.double(1), 8), (.date(1), 8), (.data([1, 2, 3]), 3),
            (location, 16), (link("name"), 4), (asset, 0), (encrypted, 17), (.list(.empty), 0),
            (list(.int64(1), .int64(2)), 16), (list(.string("a"), .string("bc")), 3),
        ]
        for (value, bytes) in cases {
            for spare in [0, -1] {
                var limits = Limits.service
                limits.recordBytes = 3 + bytes + spare
                let client = try Client(StoreOptions(limits: limits))
                #expect(client.codes([Save("a", ["key": value])]) == [spare == 0 ? nil : .limitExceeded], "\(value)")
                limits.recordBytes = 1_000
                limits.requestBytes = 3 + bytes + spare
                let other = try Client(StoreOptions(limits: limits))
                #expect(other.codes([Save("a", ["key": value])]) == [spare == 0 ? nil : .limitExceeded], "\(value)")
            }
        }
    }

    @Test func `B68 a merged record counts what stays`() throws {
        var limits = Limits.service
        limits.recordBytes = 40
        let client = try Client(StoreOptions(limits: limits)).with { $0.policy = .changedKeys }
        try client.save("a", ["a": .int64(1), "b": .int64(1), "c": .int64(1), "d": .int64(1)])
        #expect(client.codes([Save("a", ["e": .data([1, 2])])]) == [nil])
        #expect(client.codes([Save("a", ["f": .data([1, 2])])]) == [.limitExceeded])
        #expect(client.codes([Save("a", ["e": .data([1, 2, 3, 4])])]) == [.limitExceeded])
        #expect(client.codes([Save("a", ["e": nil, "f": .data([1, 2, 3])])]) == [nil])
        #expect(try client.fields("a").count == 5)
    }

    @Test func `texts of an operation are kept as far as a header has room`() throws {
        let long = text(254) + "\u{E9}" + text(1 << 20)
        let operation = OperationInfo(id: long, qualityOfService: .utility, groupID: text(255), groupName: text(256))
        let answer = try client.store.modify(client.request([Save("a")]), as: client.actor, operation: operation)
        let header = try client.envelope(try #require(answer.offset)).header
        #expect(header.operationID == text(254) && header.groupID == text(255) && header.groupName == text(255))
        #expect(header.qualityOfService == .utility && header.operationKind == .modifyRecords)
    }

    @Test func `names of users and devices have room, or are refused, and the store goes on`() throws {
        #expect(client.with { ($0.user, $0.device) = (text(4_000), text(4_000)) }.codes([Save("a")]) == [nil])
        #expect(client.with { $0.device = text(5_000) }.codes([Save("a")]) == [.invalidArguments])
        #expect(client.with { $0.user = text(5_000) }.codes([Save("a")]) == [.invalidArguments])
        #expect(client.with { $0.device = "" }.codes([Save("a")]) == [nil])
    }

    @Test func `a record has at most 65,535 keys, and so has a type`() throws {
        func save(_ keys: Range<Int>, _ value: FieldValue?) -> Client.Save {
            var save = Save("a")
            save.fields = keys.map { ("k\($0)", value) }
            return save
        }
        let client = client.with { $0.policy = .changedKeys }
        #expect(client.codes([Save("b"), save(0..<65_536, .data([]))]) == [.limitExceeded])
        #expect(client.codes([Save("b"), save(0..<65_535, .data([]))]) == [nil, nil])
        #expect(client.codes([Save("c"), save(65_535..<65_536, .data([]))]) == [nil, .limitExceeded])
        #expect(client.codes([save(0..<1, nil)]) == [nil])
        #expect(try client.fields("a").count == 65_534)
        #expect(client.codes([save(65_535..<65_536, .data([])), Save("d")]) == [.limitExceeded, nil])
        #expect(client.codes([Save("e", ["new": .int64(1)]), save(0..<1, .data([1]))]) == [.limitExceeded, nil])
        #expect(client.codes([Save("e", ["new": .int64(1)], type: "Task")]) == [nil])
        #expect(try client.fields("a").count == 65_535)
    }

    @Test func `an encrypted value has a nonce of 24 bytes`() {
        let sealed = FieldValue.sealed(.init(keyID: 1, nonce: [1, 2, 3], ciphertext: []))
        #expect(client.codes([Save("a", ["s": sealed]), Save("b")]) == [.invalidArguments])
    }
}
