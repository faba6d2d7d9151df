import StrataModel

/// Reads single commits in the order of their offsets, those that stand close together in one go.
///
/// ```swift
/// var reads = CommitReads(log)
/// for offset in offsets { let commit = try reads.commit(at: offset) }
/// ```
public struct CommitReads {
    /// So many offsets are rather passed over than jumped over.
    private static let nearOffsets: UInt64 = 32

    private let log: any HistoryLog
    private var cursor: (any CommitCursor)?
    private var lastOffset: UInt64?

    public init(_ log: any HistoryLog) { self.log = log }

    /// Nil where there is none.
    public mutating func commit(at offset: UInt64) throws -> Commit? {
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
