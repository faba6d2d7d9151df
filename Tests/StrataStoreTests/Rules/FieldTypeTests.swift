import StrataModel
import Testing

@testable import StrataStore

/// What a key takes: B21, B23, B24.
@Suite struct FieldTypeTests {
    private let client: Client
    private typealias Save = Client.Save

    init() throws { client = try Client() }

    private static func samples() throws -> [(name: String, value: FieldValue)] {
        [
            ("STRING", .string("text")), ("INT64", .int64(7)), ("DOUBLE", .double(0.5)), ("TIMESTAMP", .date(0.5)),
            ("BYTES", .data([1])), ("LOCATION", .location(.init(latitude: 1, longitude: 2))), ("REFERENCE", link("x")),
            ("ASSET", .asset(.init(hash: ContentHash(first: 1, second: 2), size: 3))),
            ("LIST<STRING>", try list(.string("text"))), ("LIST<INT64>", try list(.int64(7))),
            ("LIST<DOUBLE>", try list(.double(0.5))), ("LIST<TIMESTAMP>", try list(.date(0.5))),
            ("LIST<BYTES>", try list(.data([1]))), ("LIST<REFERENCE>", try list(link("x"))),
            ("LIST<LOCATION>", try list(.location(.init(latitude: 1, longitude: 2)))),
        ]
    }

    @Test func `B21 encrypted values are for private databases and keys of their own`() throws {
        #expect(client.codes([Save("a", ["secret": encrypted, "open": .int64(1)])]) == [nil])
        #expect(try client.fields("a")["secret"] == encrypted)
        #expect(client.codes([Save("b", ["secret": .int64(1)])]) == [.invalidArguments])
        #expect(client.codes([Save("b", ["secret": .data([1])])]) == [.invalidArguments])
        #expect(client.codes([Save("b", ["secret": .list(.empty)])]) == [.invalidArguments])
        let refusal = try client.refusal(Save("b", ["open": encrypted]))
        #expect(refusal.code == .invalidArguments && refusal.message.contains("INT64"))
        let open = client.with { $0.scope = .public }
        #expect(
            open.codes([Save("a", ["other": encrypted]), Save("b", ["n": .int64(1)])]) == [.invalidArguments, nil])
        #expect(open.codes([Save("a", ["secret": .int64(1)])]) == [.invalidArguments])
    }

    @Test func `B23 each kind binds its key, and every other kind is refused by name`() throws {
        let samples = try Self.samples()
        for (index, bound) in samples.enumerated() {
            let key = "key\(index)"
            var save = Save("bound\(index)")
            save.fields = [(key, bound.value)]
            #expect(client.codes([save]) == [nil], "\(bound.name)")
            for (other, sent) in samples.enumerated() where other != index {
                var save = Save("sent\(index)x\(other)")
                save.fields = [(key, sent.value)]
                // 7 is a Double too, 0.5 no Int64.
                let fits = ["INT64": "DOUBLE", "LIST<INT64>": "LIST<DOUBLE>"][sent.name] == bound.name
                let refusal = try client.modify([save]).get().saves.first?.refusal
                #expect(refusal?.code == (fits ? nil : .invalidArguments), "\(sent.name) for \(bound.name)")
                if let refusal {
                    #expect(refusal.message.contains("is \(bound.name), and was given \(sent.name)."))
                }
            }
        }
    }

    @Test func `B23 numbers go where they fit exactly`() throws {
        #expect(client.codes([Save("a", ["d": .double(0.5), "n": .int64(1)])]) == [nil])
        let integral: [Double] = [2, -0.0, -9_223_372_036_854_775_808, 9_007_199_254_740_992]
        for (index, number) in integral.enumerated() {
            try client.save("b\(index)", ["n": .double(number), "d": .int64(3)])
            #expect(try client.fields("b\(index)") == ["n": .int64(Int64(number)), "d": .double(3)])
        }
        for number in [0.5, 9_223_372_036_854_775_808, .infinity, -.infinity, .nan] {
            #expect(client.codes([Save("c", ["n": .double(number)])]) == [.invalidArguments], "\(number)")
        }
        #expect(
            client.codes([try Save("d", ["l": list(.double(0.5))]), try Save("e", ["m": list(.int64(1))])]) == [
                nil, nil,
            ])
        try client.save("f", ["l": list(.int64(1), .int64(2)), "m": list(.double(1), .double(2))])
        #expect(
            try client.fields("f")
                == ["l": list(.double(1), .double(2)), "m": list(.int64(1), .int64(2))])
        #expect(client.codes([try Save("g", ["m": list(.double(1), .double(0.5))])]) == [.invalidArguments])
    }

    @Test func `B23 an empty list binds nothing and fits every list`() throws {
        try client.save("a", ["l": .list(.empty), "m": list(.string("text")), "s": .string("text")])
        #expect(try client.fields("a")["l"] == .list(.empty))
        try client.save("b", ["l": .int64(1), "m": .list(.empty)])
        #expect(client.codes([Save("c", ["s": .list(.empty)])]) == [.invalidArguments])
        #expect(client.codes([Save("c", ["l": .list(.empty)])]) == [.invalidArguments])
    }

    @Test func `B23 keys are bound per type, in all databases of the store, for good`() throws {
        try client.save("a", ["n": .int64(1)])
        #expect(client.codes([Save("b", ["n": .string("text")], type: "Task")]) == [nil])
        let ben = client.with { ($0.user, $0.scope) = ("ben", .public) }
        #expect(ben.codes([Save("a", ["n": .string("text")])]) == [.invalidArguments])
        #expect(client.codes(deletes: ["a"]) == [nil])
        #expect(client.codes([Save("a", ["n": .string("text")])]) == [.invalidArguments])
    }

    @Test func `B23 within a request the first save binds, and only what is accepted binds for good`() throws {
        #expect(
            client.codes([Save("a", ["n": .int64(1)]), Save("b", ["n": .string("x")])]) == [nil, .invalidArguments])
        let orphan = Save("c", ["m": .int64(1)], parent: "nobody")
        #expect(client.codes([orphan, Save("d", ["m": .string("x")])]) == [.referenceViolation, .invalidArguments])
        #expect(
            client.codes([Save("_e", ["k": .int64(1)]), Save("d", ["k": .string("x")])]) == [.invalidArguments, nil])
        #expect(client.codes([Save("f", ["m": .string("x")])]) == [nil])
    }

    @Test func `B24 types and keys that were never seen extend the schema`() throws {
        try client.save("a", ["n": .int64(1)])
        #expect(client.codes([Save("b", ["other": .int64(1)], type: "Brandnew")]) == [nil])
        #expect(try client.lastKinds() == [.recordSaved])
        let kinds = try client.events(at: client.store.offset).map(\.kind)
        #expect(kinds == [.nameInterned, .nameInterned, .schemaChanged, .recordSaved])
        #expect(client.codes([Save("c", ["other": .int64(1), "n": nil])]) == [nil])
        #expect(try client.events(at: client.store.offset).map(\.kind) == [.schemaChanged, .recordSaved])
    }
}
