import StrataModel

/// The findings and the repairs of opening a log.
package struct RecoveryReport: Sendable, Equatable {
    /// Bytes of an unfinished write, which were overwritten with zeros.
    package struct TornTail: Sendable, Equatable {
        package var path: String
        /// The position after the last whole commit.
        package var position: Int
        package var byteCount: Int
        /// The last commit that was kept.
        package var lastOffset: UInt64
        /// The fault found at `position`, in words.
        package var reason: String
    }

    package var tornTail: TornTail?
    /// Files that an interrupted creation, switch or trim had left, and that were removed.
    package var removedFiles: [String] = []
    /// True if the newest segment was closed without a successor, which has then been created.
    package var madeSuccessor = false
    /// The number of commits that were read to find the end.
    package var replayedCommits = 0
    /// The last commit that another file of a copy records, if the log ends before it.
    package var missingEnd: Position?
}
