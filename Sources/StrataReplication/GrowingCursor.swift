import StrataLog

/// Reads the commits of a new copy while they come, and ends after the last that was there when it was opened.
struct GrowingCursor: CommitCursor {
    private var cursor: any CommitCursor
    private let log: ReplicatedLog
    /// The last offset that was read.
    private var offset: UInt64
    private var isGrowing = true

    init(_ cursor: any CommitCursor, of log: ReplicatedLog, from first: UInt64) {
        self.cursor = cursor
        self.log = log
        offset = max(first, 1) - 1
    }

    mutating func next() throws -> Commit? {
        while true {
            if let commit = try cursor.next() {
                offset = commit.offset
                return commit
            }
            guard isGrowing else { return nil }
            // Commits may have come since the cursor met the end, also when none come any more.
            isGrowing = try log.awaitCommits(after: offset)
        }
    }
}
