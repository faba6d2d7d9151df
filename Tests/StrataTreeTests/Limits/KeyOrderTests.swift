import TestSupport
import Testing

@testable import StrataTree

/// Keys whose order is easily got wrong: heads of four bytes are filled up with zeros, prefixes come and go.
@Suite("The order of similar keys")
struct KeyOrderTests {
    @Test("Keys that differ by zeros at their end, in leaves and in branches", arguments: [0, 1, 3, 40, 900])
    func trailingZeros(prefixBytes: Int) throws {
        var tree = try TwinTree()
        let prefix = bytes(prefixBytes)
        var keys: [[UInt8]] = []
        let starts: [[UInt8]] = [[], [0x61], [0x61, 0x62, 0x63], [0x61, 0x62, 0x63, 0x64], [0xFF]]
        for start in starts + (1...30).map({ [0x70, UInt8($0)] }) {
            for zeros in 0...20 { keys.append(prefix + start + bytes(zeros, of: 0)) }
            for zeros in 0...6 { keys.append(prefix + start + bytes(zeros, of: 0) + [1]) }
        }
        var random = SeededGenerator(seed: 3)
        keys.removeAll { $0.isEmpty }
        keys.shuffle(using: &random)
        // The longest values of a leaf, so that many of the keys separate leaves.
        for key in keys { try tree.put(key, bytes(PageLayout.maximumInlineBytes)) }
        try tree.publishAndCheck()
        #expect(tree.shape.leaves > 15)
        for key in keys.shuffled(using: &random) { try tree.delete(key) }
        try tree.publishAndCheck()
    }

    @Test("All keys of one to five bytes over a small alphabet", arguments: [1, 2, 3, 4, 5])
    func aroundTheHead(longest: Int) throws {
        let alphabet: [UInt8] = longest > 3 ? [0, 1, 255] : [0, 1, 0x61, 0x7F, 0x80, 255]
        var keys: [[UInt8]] = [[]]
        var all: [[UInt8]] = []
        for _ in 0..<longest {
            keys = keys.flatMap { key in alphabet.map { key + [$0] } }
            all += keys
        }
        var random = SeededGenerator(seed: UInt64(longest))
        var tree = try TwinTree()
        for key in all.shuffled(using: &random) { try tree.put(key, bytes(key.count * 30)) }
        try tree.publishAndCheck()
        let cursor = tree.store.snapshot().cursor(TwinTree.id)
        for key in tree.model.sortedKeys.prefix(200) {
            for probe in [key, key + [0], Array(key.dropLast())] {
                let isThere = try probe.withUnsafeBytes { try cursor.seek($0) }
                let place = tree.model.place(of: probe)
                #expect(isThere == (place < tree.model.count))
                if isThere { #expect(try cursor.withEntry { key, _ in [UInt8](key) } == tree.model.sortedKeys[place]) }
            }
        }
    }

    /// Hundreds of entries of a few bytes behind a prefix that the page holds once; then a key without that prefix, so
    /// that all of them need their own.
    @Test("A key without the long prefix that all others share", arguments: [0, 255] as [UInt8], [956, 958, 959])
    func leafPrefix(first: UInt8, prefixBytes: Int) throws {
        var tree = try TwinTree()
        for number in 0..<256 {
            try tree.put(bytes(prefixBytes) + (prefixBytes == 959 ? [UInt8(number)] : [UInt8(number), 7]))
        }
        try tree.publishAndCheck()
        #expect(tree.shape.leaves <= 2)
        try tree.put([first], bytes(1_024))
        try tree.put([first] + bytes(959), bytes(1_024))
        try tree.put(bytes(100) + [first], bytes(1_024))
        try tree.publishAndCheck()
        for number in 0..<256 where number % 3 != 0 {
            try tree.delete(bytes(prefixBytes) + (prefixBytes == 959 ? [UInt8(number)] : [UInt8(number), 7]))
        }
        try tree.publishAndCheck()
    }

    @Test("A separator without the long prefix that all others of a branch share", arguments: [0, 255] as [UInt8])
    func branchPrefix(first: UInt8) throws {
        var tree = try TwinTree()
        for number in 0..<3_000 { try tree.put(bytes(950) + bigEndian(number, byteCount: 2) + bytes(8), bytes(64)) }
        try tree.publishAndCheck()
        #expect(tree.shape.leaves > 50 && tree.shape.branches < 3, "a branch holds its prefix once")
        for number in 0..<20 { try tree.put([first] + bigEndian(number, byteCount: 2) + bytes(957), bytes(64)) }
        for number in 0..<20 { try tree.put(bytes(500) + [first, UInt8(number)] + bytes(458), bytes(64)) }
        try tree.publishAndCheck()
        for number in stride(from: 0, to: 3_000, by: 2) {
            try tree.delete(bytes(950) + bigEndian(number, byteCount: 2) + bytes(8))
        }
        try tree.publishAndCheck()
        try tree.deleteRange(from: nil, to: nil)
        try tree.publishAndCheck()
        #expect(tree.shape.height == 0)
    }

    /// Writing a branch anew gives it all that its keys have in common as prefix, which may need up to four bytes more
    /// than a shorter one: keys of which a slot's head holds the rest save nothing.
    @Test("A branch that is full to the byte can be written anew with a longer prefix")
    func longerPrefix() throws {
        var tree = try TwinTree()
        func key(_ number: Int) -> [UInt8] { bytes(8) + bigEndian(number) }
        for number in 0..<80 { try tree.put(key(1 << 24 + number), bytes(64)) }
        for number in (0..<9_000).reversed() { try tree.put(key(number), bytes(64)) }
        for number in 80..<5_000 { try tree.put(key(1 << 24 + number), bytes(64)) }
        try tree.deleteRange(from: nil, to: key(1 << 24))
        for number in 5_000..<16_000 { try tree.put(key(1 << 24 + number), bytes(64)) }
        try tree.publishAndCheck()
    }
}
