import CStrata
import StrataSystem
import TestSupport
import Testing

@Suite("CRC-32C")
struct CRC32CTests {
    enum Path: CaseIterable {
        case chosen, portable, hardware

        static var usable: [Path] { allCases.filter { $0 != .hardware || strata_crc32c_has_hardware() != 0 } }

        func checksum(_ bytes: UnsafeRawBufferPointer, after before: UInt32 = 0) -> UInt32 {
            switch self {
            case .chosen: strata_crc32c(before, bytes.baseAddress, bytes.count)
            case .portable: strata_crc32c_portable(before, bytes.baseAddress, bytes.count)
            case .hardware: strata_crc32c_hardware(before, bytes.baseAddress, bytes.count)
            }
        }
    }

    /// The definition, bit by bit, from the parameters in docs/format.md: the polynomial 0x1EDC6F41, reflected.
    private struct Reference {
        private var remainder = UInt32.max
        var value: UInt32 { ~remainder }

        mutating func update(_ byte: UInt8) {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0x82F6_3B78 : remainder >> 1 }
        }
    }

    // The check value of the CRC catalogue, and the vectors of RFC 3720, appendix B.4.
    @Test("Published values", arguments: Path.usable)
    func publishedValues(path: Path) {
        let vectors: [(bytes: [UInt8], checksum: UInt32)] = [
            ([], 0), (Array("123456789".utf8), 0xE306_9283), ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
            ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43), (Array(0..<32), 0x46DD_794E),
            ((0..<32).reversed(), 0x113F_DB5C),
        ]
        for vector in vectors {
            #expect(vector.bytes.withUnsafeBytes { path.checksum($0) } == vector.checksum, "\(vector.bytes)")
        }
    }

    @Test("Bytes of which only number and checksum are known count as if they were there")
    func knownByChecksum() {
        var generator = SeededGenerator(seed: 4)
        for count in [0, 1, 2, 3, 7, 8, 63, 64, 65, 255, 256, 1_000, 65_536, 100_003] {
            let (front, back) = (generator.nextBytes(28), generator.nextBytes(count))
            let whole = (front + back).withUnsafeBytes { CRC32C.checksum($0) }
            var checksum = CRC32C()
            front.withUnsafeBytes { checksum.update($0) }
            checksum.update(UInt64(count), checksum: back.withUnsafeBytes { CRC32C.checksum($0) })
            #expect(checksum.value == whole, "\(count) bytes")
        }
    }

    /// All short lengths, some of the others, and those around the lanes that the fast way cuts long inputs into.
    private static let lengths: Set<Int> = {
        let lanes = (1...26).map { $0 * 768 } + [12_288, 12_288 + 768, 12_288 + 8]
        let edges = lanes.flatMap { [$0 - 9, $0 - 8, $0 - 1, $0, $0 + 1, $0 + 7, $0 + 8] }
        return Set(Array(0...1_100) + Array(stride(from: 1_100, through: 20_000, by: 37)) + edges + [20_000])
    }()

    @Test("Every way agrees with the definition, at all kinds of lengths", arguments: Path.usable)
    func lengths(path: Path) {
        var generator = SeededGenerator(seed: 1)
        let bytes = generator.nextBytes(20_000)
        var reference = Reference()
        bytes.withUnsafeBytes { bytes in
            for length in 0...bytes.count {
                if Self.lengths.contains(length) {
                    let prefix = UnsafeRawBufferPointer(rebasing: bytes[..<length])
                    #expect(path.checksum(prefix) == reference.value, "length \(length)")
                }
                if length < bytes.count { reference.update(bytes[length]) }
            }
        }
    }

    @Test("Where in memory the bytes are does not matter", arguments: Path.usable)
    func alignments(path: Path) {
        var generator = SeededGenerator(seed: 2)
        for length in [1, 7, 8, 63, 800, 13_000] {
            let content = generator.nextBytes(length)
            var reference = Reference()
            for byte in content { reference.update(byte) }
            for alignment in 0..<16 {
                let shifted = [UInt8](repeating: 0xEE, count: alignment) + content + [0xEE]
                let checksum = shifted.withUnsafeBytes {
                    path.checksum(UnsafeRawBufferPointer(rebasing: $0[alignment..<alignment + length]))
                }
                #expect(checksum == reference.value, "length \(length), alignment \(alignment)")
            }
        }
    }

    @Test("Split anywhere, the checksum goes on from the part before", arguments: Path.usable)
    func continuing(path: Path) throws {
        try withSeeds(200) { seed in
            var generator = SeededGenerator(seed: seed)
            let bytes = generator.nextBytes(generator.next(below: 20_000))
            let split = generator.next(below: bytes.count + 1)
            try bytes.withUnsafeBytes { bytes in
                let front = path.checksum(UnsafeRawBufferPointer(rebasing: bytes[..<split]))
                let both = path.checksum(UnsafeRawBufferPointer(rebasing: bytes[split...]), after: front)
                try #require(both == path.checksum(bytes), "\(split) of \(bytes.count)")
            }
        }
    }

    @Test("The Swift type sums parts and little-endian numbers")
    func swiftType() {
        let bytes = Array("123456789".utf8)
        #expect(bytes.withUnsafeBytes { CRC32C.checksum($0) } == 0xE306_9283)
        var sum = CRC32C()
        sum.update(UInt32(0x3433_3231))
        sum.update(UInt8(0x35))
        var rest = CRC32C(continuing: sum.value)
        bytes.withUnsafeBytes { rest.update(UnsafeRawBufferPointer(rebasing: $0[5...])) }
        #expect(rest.value == 0xE306_9283)
        sum.update(UInt32(0x3938_3736))
        #expect(sum.value == 0xE306_9283)
    }
}
