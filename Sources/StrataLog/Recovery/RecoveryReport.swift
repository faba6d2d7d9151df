import StrataModel

/// The findings and the repairs of opening a log.
public struct RecoveryReport: Sendable, Equatable {
    /// Bytes of an unfinished write, which were overwritten with zeros.
    public struct TornTail: Sendable, Equatable {
        public var path: String
        /// The position after the last whole commit.
        public var position: Int
        public var byteCount: Int
        /// The last commit that was kept.
        public var lastOffset: UInt64
        /// The fault found at `position`, in words.
        public var reason: String
    }

    public var tornTail: TornTail?
    /// Files that an interrupted creation, switch or trim had left, and that were removed.
    public var removedFiles: [String] = []
    /// True if the newest segment was closed without a successor, which has then been created.
    public var madeSuccessor = false
    /// The number of commits that were read to find the end.
    public var replayedCommits = 0
}
