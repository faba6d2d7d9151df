@testable import StrataViews

extension KeyReader {
    mutating func readInt64() throws -> Int64 { Int64(bitPattern: try readBits() ^ 1 << 63) }
}

extension RunSorter {
    /// True if entries went to the file.
    var isSpilled: Bool { !runs.isEmpty }
}
