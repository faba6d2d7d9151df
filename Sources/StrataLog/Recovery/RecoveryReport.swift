import StrataModel

/// What opening a log found, and did about it.
public struct RecoveryReport: Sendable, Equatable {
    /// Bytes that nobody finished writing, and that were overwritten with zeros.
    public struct TornTail: Sendable, Equatable {
        public var path: String
        /// Behind the last whole commit.
        public var position: Int
        public var byteCount: Int
        /// The last commit that stayed.
        public var lastOffset: UInt64
        /// What was wrong at `position`, in words.
        public var reason: String
    }

    public var tornTail: TornTail?
    /// Files that an interrupted creation, switch or trim had left, and that were removed.
    public var removedFiles: [String] = []
    /// The newest segment was closed without a successor, which has been made.
    public var madeSuccessor = false
    /// Commits that were read to find the end.
    public var replayedCommits = 0
}
