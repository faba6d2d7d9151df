import StrataModel
import TestSupport
import Testing

@testable import StrataTree
@testable import StrataViews

@Suite("Names of records in keys")
struct PackedNameTests {
    private static let upper = "6F9619FF-8B86-D011-B42D-00C04FC964FF"
    /// Both sides of each limit between symbols, and the bytes around 0 to 5.
    private static let edges: [UInt8] =
        Array(0...5) + Array(",-./09:@AFG`afg~".utf8) + [0x7F, 0x80, 0xC2, 0xF4, 0xFF]

    private func pack(_ name: [UInt8]) -> [UInt8] {
        name.withUnsafeBytes { PackedName.withPacked($0) { [UInt8]($0) } }
    }

    private func unpack(_ packed: [UInt8]) throws -> [UInt8] {
        try packed.withUnsafeBytes { try PackedName.withName(of: $0) { [UInt8]($0) } }
    }

    private func uuid(_ generator: inout SeededGenerator) -> [UInt8] {
        let digits = Array((generator.next(below: 2) == 0 ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
        return (0..<36).map { [8, 13, 18, 23].contains($0) ? 0x2D : digits[generator.next(below: 16)] }
    }

    /// UUIDs, and names that share any part of one: cut, continued, or with another byte in any place.
    private func names(_ seed: UInt64) -> [[UInt8]] {
        var generator = SeededGenerator(seed: seed)
        var names: [[UInt8]] = [[], Array(Self.upper.utf8), Array(Self.upper.lowercased().utf8)]
        for _ in 0..<60 {
            let known = generator.next(below: 3) == 0 ? names[generator.next(below: names.count)] : uuid(&generator)
            let place = generator.next(below: known.count + 1)
            let edge = Self.edges[generator.next(below: Self.edges.count)]
            var changed = known
            if place < known.count { changed[place] = edge }
            names += [known, changed, Array(known[..<place]), known[..<place] + [edge], known + [edge]]
            let count = generator.next(below: 5)
            names.append((0..<count).map { _ in Self.edges[generator.next(below: Self.edges.count)] })
        }
        return names
    }

    /// The first names whose forms are not in the order of the names; nil if all are.
    private func disorder(of names: [[UInt8]], _ form: ([UInt8]) -> [UInt8]) -> (left: [UInt8], right: [UInt8])? {
        let sorted = names.sorted { $0.lexicographicallyPrecedes($1) }
        return zip(sorted, sorted.dropFirst()).first { left, right in
            left == right ? form(left) != form(right) : !form(left).lexicographicallyPrecedes(form(right))
        }
    }

    @Test("Packed forms have the order of the names, come back, and are those that the page describes")
    func model() throws {
        try withSeeds(40) { seed in
            let names = names(seed)
            for name in names {
                let packed = pack(name)
                try #require(packed == PlainKey.packed(name), "\(name)")
                try #require(try unpack(packed) == name)
                try #require(packed.count <= name.count + PackedName.mostAdded && packed.first != 0xFF)
            }
            let found = disorder(of: names, pack)
            try #require(found == nil, "\(String(describing: found))")
        }
    }

    @Test("Canary: a form that puts whole UUIDs before other names is not in order, nor one without the gaps")
    func canary() {
        func isUUID(_ name: [UInt8]) -> Bool { name.count == 36 && PlainKey.packed(name).count == 20 }
        let names = names(1)
        #expect(disorder(of: names) { [isUUID($0) ? 1 : 3] + $0 } != nil)
        #expect(disorder(of: names) { isUUID($0) ? pack($0) : $0 } != nil)
    }

    @Test("A UUID takes 20 bytes, in either case or both, and what is nearly one at most a byte more than its name")
    func sizes() {
        let mixed = "6f9619FF-8b86-D011-b42d-00C04FC964fF"
        for name in [Self.upper, Self.upper.lowercased(), mixed] { #expect(pack(Array(name.utf8)).count == 20) }
        let others = [
            "{\(Self.upper)}", String(Self.upper.dropLast()), Self.upper + "0", Self.upper.replacing("-", with: ""),
            Self.upper.replacing("-", with: "_"), Self.upper.replacing("6F", with: "6G"), "", "0", "note-1", "\u{0}",
        ]
        for name in others {
            let packed = pack(Array(name.utf8))
            #expect(packed != pack(Array(Self.upper.utf8)) && packed.count <= name.utf8.count + 1, "\(name)")
        }
        // The page's examples.
        #expect(pack(Array("Ab".utf8)) == [0x65, 0])
        #expect(pack(Array("note".utf8)) == [0xC8] + Array("note".utf8))
    }

    @Test("Bytes that are no packed form give an error or a name, and never trap")
    func malformed() throws {
        // No symbol, a number of bits that is none, and symbols that no character has.
        for bytes: [UInt8] in [[], [0x08], [1], [0xCF], [0xD0], [0xF8], [0x65]] {
            #expect(thrownError { _ = try unpack(bytes) }?.code == .malformed, "\(bytes)")
        }
        let whole = pack(Array(Self.upper.utf8))
        for count in 0..<whole.count { #expect(thrownError { _ = try unpack(Array(whole[..<count])) } != nil) }
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<20_000 { _ = try? unpack(generator.nextBytes(generator.next(below: 40))) }
    }

    @Test("Keys with a name of any length, escapes and all, are within the limit of a key")
    func longest() throws {
        for text in ["\u{0}", "\u{1}", "0", "~"] {
            for count in [RecordState.longestKeyName, RecordState.longestKeyName + 1, 4_096] {
                let name = String(repeating: text, count: count)
                var key = KeyWriter()
                key.append(recordName: name)
                key.append(lastRecordName: name)
                #expect(key.bytes == PlainKey.recordName(name) + PlainKey.lastRecordName(name))
                #expect(key.bytes.count + 30 <= PageLayout.maximumKeyBytes)
            }
        }
    }
}
