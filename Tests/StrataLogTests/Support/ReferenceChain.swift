import StrataLog
import StrataModel

/// CRC-32C and the chain, written again from docs/format.md and nothing else, so that tests do not trust the code they
/// test.
enum ReferenceChain {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
    }

    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        // Pointers and a plain loop: megabytes pass here, and builds for tests are not optimised.
        table.withUnsafeBufferPointer { table in
            bytes.withUnsafeBufferPointer { bytes in
                var value = UInt32.max
                var index = 0
                while index < bytes.count {
                    value = table[Int((value ^ UInt32(bytes[index])) & 0xFF)] ^ value >> 8
                    index += 1
                }
                return ~value
            }
        }
    }

    /// The 28 bytes in front of the payload.
    static func prefix(of commit: Commit, after chain: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: chain >> UInt32(shift))) }
        for number in [commit.offset, UInt64(bitPattern: commit.time), UInt64(commit.payload.count)] {
            for shift in stride(from: 0, to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
            }
        }
        return bytes
    }

    static func value(after chain: UInt32, offset: UInt64, time: Int64, payload: ArraySlice<UInt8>) -> UInt32 {
        let commit = Commit(offset: offset, id: .zero, time: time, chain: 0, payload: payload)
        return checksum(prefix(of: commit, after: chain) + payload)
    }

    /// The first commit whose chain value does not follow from the one in front of it.
    static func firstBreak(in commits: [Commit], after start: Position = .start) -> UInt64? {
        var chain = start.chain
        for commit in commits {
            let expected = value(after: chain, offset: commit.offset, time: commit.time, payload: commit.payload)
            if expected != commit.chain { return commit.offset }
            chain = expected
        }
        return nil
    }
}
