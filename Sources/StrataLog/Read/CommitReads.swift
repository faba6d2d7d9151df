/// Reads single commits in the order of their offsets, and those that are close together in one pass.
///
/// ```swift
/// var reads = CommitReads(log)
/// for offset in offsets { let commit = try reads.commit(at: offset) }
/// ```
package struct CommitReads {
    /// The maximum gap that is read through rather than skipped.
    private static let nearOffsets: UInt64 = 32

    private let log: any HistoryLog
    private var cursor: (any CommitCursor)?
    private var lastOffset: UInt64?

    package init(_ log: any HistoryLog) { self.log = log }

    /// Returns the commit at `offset`; nil if there is none.
    package mutating func commit(at offset: UInt64) throws -> Commit? {
        let isNear = lastOffset.map { $0 < offset && offset - $0 <= Self.nearOffsets } ?? false
        lastOffset = offset
        guard isNear else {
            cursor = nil
            return try log.commit(at: offset)
        }
        if cursor == nil { cursor = try log.read(from: offset) }
        while let commit = try cursor?.next() {
            if commit.offset >= offset { return commit.offset == offset ? commit : nil }
        }
        return nil
    }
}
