@testable import StrataViews

extension KeyReader {
    mutating func readInt64() throws -> Int64 { Int64(bitPattern: try readBits() ^ 1 << 63) }
}
