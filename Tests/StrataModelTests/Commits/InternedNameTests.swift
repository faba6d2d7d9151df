import StrataModel
import Testing

@Suite("Interned names")
struct InternedNameTests {
    static let names: [(name: InternedName, body: [UInt8])] = [
        (.init(ordinal: 1, name: .user("al")), [1, 1, 2, 0x61, 0x6C]),
        (.init(ordinal: 300, name: .device(user: 1, "ph")), [2, 0xAC, 2, 1, 2, 0x70, 0x68]),
        (.init(ordinal: 1, name: .database(.public, owner: 0)), [3, 1, 1, 0]),
        (.init(ordinal: 2, name: .database(.private, owner: 7)), [3, 2, 2, 7]),
        (.init(ordinal: 3, name: .database(.shared, owner: 7)), [3, 3, 3, 7]),
        (.init(ordinal: 4, name: .zone(database: 2, owner: 7, "Ë")), [4, 4, 2, 7, 2, 0xC3, 0x8B]),
        (.init(ordinal: .max, name: .recordType("")), [5] + [UInt8](repeating: 0xFF, count: 9) + [1, 0]),
        (.init(ordinal: 6, name: .field("f")), [6, 6, 1, 0x66]),
    ]

    @Test("Names have the bytes of the format and come back", arguments: names.indices)
    func roundTrip(index: Int) throws {
        let (name, body) = Self.names[index]
        #expect(name.event == Event(.nameInterned, body: body[...]))
        #expect(try InternedName(decoding: body[...]) == name)
    }

    @Test("Every name that ends too early or goes on is refused", arguments: names.indices)
    func wrongLengths(index: Int) {
        let body = Self.names[index].body
        for length in 0..<body.count {
            #expect(thrownError { _ = try InternedName(decoding: body[..<length]) }?.code == .malformed, "\(length)")
        }
        #expect(thrownError { _ = try InternedName(decoding: (body + [0])[...]) }?.code == .malformed)
    }

    @Test(
        "What no name can be is refused",
        arguments: [
            ([0, 1, 1, 0x61], "the namespace to be 1 to 6"), ([7, 1, 1, 0x61], "the namespace to be 1 to 6"),
            ([255, 1, 1, 0x61], "the namespace to be 1 to 6"), ([1, 0, 1, 0x61], "the ordinal to be at least 1"),
            ([3, 1, 0, 0], "a database's scope to be 1, 2 or 3"), ([3, 1, 4, 0], "a database's scope to be 1, 2 or 3"),
            ([1, 1, 1, 0xFF], "a user to be valid UTF-8"),
        ] as [([UInt8], String)])
    func malformed(body: [UInt8], expected: String) {
        let error = thrownError { _ = try InternedName(decoding: body[...]) }
        #expect(error?.code == .malformed)
        #expect(error?.context.expected == expected)
    }

    @Test("A name has 4,096 bytes at most")
    func nameLimit() throws {
        let longest = InternedName(ordinal: 1, name: .field(String(repeating: "f", count: 4_096)))
        #expect(try InternedName(decoding: longest.event.body) == longest)
        let tooLong = InternedName(ordinal: 1, name: .field(String(repeating: "f", count: 4_097)))
        #expect(thrownError { _ = try InternedName(decoding: tooLong.event.body) }?.code == .malformed)
    }
}

@Suite("Names are told apart by their bytes")
struct NameIdentityTests {
    @Test("Two spellings that look the same are two names")
    func spellings() throws {
        let (composed, decomposed) = ("Caf\u{E9}", "Cafe\u{301}")
        #expect(composed == decomposed)
        for make in [InternedName.Name.user, InternedName.Name.recordType, InternedName.Name.field] {
            #expect(make(composed) != make(decomposed))
            #expect(Set([make(composed), make(decomposed)]).count == 2)
        }
        #expect(InternedName.Name.device(user: 1, composed) != .device(user: 1, decomposed))
        #expect(InternedName.Name.zone(database: 1, owner: 1, composed) != .zone(database: 1, owner: 1, decomposed))
        #expect(InternedName.Name.user(composed) != .field(composed))
        var table = NameTable()
        try table.add(InternedName(ordinal: 1, name: .user(composed)))
        #expect(throws: StrataError.self) { try table.add(InternedName(ordinal: 1, name: .user(decomposed))) }
    }
}
