import StrataSystem
import TestSupport
import Testing

@Suite("LZ4 blocks")
struct LZ4Tests {
    /// The maximum size of a compressed block, according to LZ4's description.
    private static func bound(_ count: Int) -> Int { count + count / 255 + 16 }

    private func compress(_ bytes: [UInt8], space: Int) -> [UInt8]? {
        var block = [UInt8](repeating: 0xEE, count: space)
        let count = bytes.withUnsafeBytes { source in
            block.withUnsafeMutableBytes { LZ4.compress(source, into: $0) }
        }
        return count.map { Array(block[..<$0]) }
    }

    /// Nil if the block does not give exactly `count` bytes. Fails the test if anything is written behind them.
    private func decompress(_ block: [UInt8], count: Int) -> [UInt8]? {
        let guardBytes = 64
        var space = [UInt8](repeating: 0xEE, count: count + guardBytes)
        let isWhole = block.withUnsafeBytes { source in
            space.withUnsafeMutableBytes {
                LZ4.decompress(source, into: UnsafeMutableRawBufferPointer(rebasing: $0[..<count]))
            }
        }
        #expect(space[count...].allSatisfy { $0 == 0xEE }, "wrote behind its target")
        return isWhole ? Array(space[..<count]) : nil
    }

    private static let text = Array("A record is saved, and saved, and saved again, and then it is deleted. ".utf8)
    private static let inputs: [[UInt8]] = {
        var generator = SeededGenerator(seed: 3)
        let repeated = Array((0..<2_000).map { _ in text }.joined())
        return [[], [1], Array(text.prefix(12)), text, [UInt8](repeating: 0, count: 70_000)]
            + [generator.nextBytes(5_000), repeated, repeated + generator.nextBytes(100)]
    }()

    @Test("What goes in comes out", arguments: inputs.indices)
    func roundTrip(index: Int) throws {
        let bytes = Self.inputs[index]
        let block = try #require(compress(bytes, space: Self.bound(bytes.count)))
        #expect(decompress(block, count: bytes.count) == bytes)
    }

    @Test("A block that does not fit its target is nil; one that fits exactly is not")
    func tooSmall() throws {
        let bytes = Self.inputs[6]
        let size = try #require(compress(bytes, space: Self.bound(bytes.count))).count
        #expect(size < bytes.count / 10)
        #expect(compress(bytes, space: size)?.count == size)
        for space in [0, 1, size / 2, size - 1] { #expect(compress(bytes, space: space) == nil, "\(space)") }
    }

    @Test("The bound is enough for bytes that do not compress")
    func bound() throws {
        for count in [0, 1, 254, 255, 256, 65_535, 4 << 20] {
            var generator = SeededGenerator(seed: UInt64(count))
            let block = try #require(compress(generator.nextBytes(count), space: Self.bound(count)))
            #expect((count...Self.bound(count)).contains(block.count))
        }
    }

    @Test("A block for another number of bytes is refused")
    func wrongLength() throws {
        let block = try #require(compress(Self.text, space: 200))
        for count in [0, 1, Self.text.count - 1, Self.text.count + 1, 5_000] {
            #expect(decompress(block, count: count) == nil, "\(count)")
        }
        #expect(decompress([], count: 10) == nil)
        #expect(decompress([], count: 0) == nil, "even nothing is a block of one byte")
    }

    @Test("Bytes put in front of a block come out in front of its content", arguments: inputs.indices)
    func prepend(index: Int) throws {
        let bytes = Self.inputs[index]
        let block = try #require(compress(bytes, space: Self.bound(bytes.count)))
        for count in [0, 1, 14, 15, 25, 254, 255, 270, 271, 5_000] {
            let prefix = (0..<count).map { UInt8($0 % 251) }
            let longer = try #require(prepend(prefix, to: block, space: block.count + count + count / 255 + 2))
            #expect(decompress(longer, count: count + bytes.count) == prefix + bytes, "\(count)")
            #expect(prepend(prefix, to: block, space: longer.count) == longer)
            #expect(prepend(prefix, to: block, space: longer.count - 1) == nil)
        }
    }

    @Test("What does not begin like a block takes nothing in front")
    func prependToNothing() {
        for block in [[], [0xF0], [0xF0, 255, 255], [0x40, 1, 2, 3], [0xF0, 0] + [UInt8](repeating: 7, count: 14)] {
            #expect(prepend([1, 2], to: block, space: 100) == nil, "\(block)")
        }
    }

    private func prepend(_ prefix: [UInt8], to block: [UInt8], space: Int) -> [UInt8]? {
        var longer = [UInt8](repeating: 0xEE, count: space)
        let count = prefix.withUnsafeBytes { prefix in
            block.withUnsafeBytes { block in
                longer.withUnsafeMutableBytes { LZ4.prepend(prefix, to: block, into: $0) }
            }
        }
        return count.map { Array(longer[..<$0]) }
    }

    @Test("Every prefix of a block is refused")
    func truncated() throws {
        let bytes = Self.inputs[7]
        let block = try #require(compress(bytes, space: Self.bound(bytes.count)))
        for length in 0..<block.count {
            #expect(decompress(Array(block[..<length]), count: bytes.count) == nil, "\(length) of \(block.count)")
        }
    }

    @Test("Every flipped bit of a block is refused or gives as many bytes, and nothing is written elsewhere")
    func flipped() throws {
        let bytes = Self.inputs[7]
        let block = try #require(compress(bytes, space: Self.bound(bytes.count)))
        var refused = 0
        for bit in 0..<block.count * 8 {
            var damaged = block
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            if decompress(damaged, count: bytes.count) == nil { refused += 1 }
        }
        #expect(refused > 0)
    }

    @Test("Noise is refused")
    func noise() throws {
        try withSeeds(500) { seed in
            var generator = SeededGenerator(seed: seed)
            let block = generator.nextBytes(1 + generator.next(below: 300))
            try #require(decompress(block, count: 100_000) == nil)
        }
    }
}
