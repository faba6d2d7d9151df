@testable import StrataTree

extension WaitingRuns {
    var listCount: Int { lists.values.reduce(records.count) { $0 + $1.count } }
}

extension Cursor {
    /// Moves to the last entry: no key is greater than the longest one of the greatest bytes.
    func seekLast() throws -> Bool {
        try [UInt8](repeating: 0xFF, count: PageLayout.maximumKeyBytes + 1).withUnsafeBytes { try seekBefore($0) }
    }
}
