@testable import StrataTree

extension Cursor {
    /// Moves to the last entry: no key is greater than the longest one of the greatest bytes.
    func seekLast() throws -> Bool {
        try [UInt8](repeating: 0xFF, count: PageLayout.maximumKeyBytes + 1).withUnsafeBytes { try seekBefore($0) }
    }
}
