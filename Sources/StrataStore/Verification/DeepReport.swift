import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// The result of comparing a store's files beside the log with what the log yields.
public struct DeepReport: Sendable {
    /// A place where the views differ from what the log yields.
    public struct Difference: Sendable {
        /// The commit that made the entry; nil if it cannot be determined, or if a base replaces it.
        public var offset: UInt64?
        public var tree: String
        public var key: [UInt8]
        /// The entry in words, with names.
        public var entry: String
        public var kind: ScrubReport.Difference.Kind
    }

    /// A checkpoint that was compared.
    public struct Checkpoint: Sendable {
        public var position: Position
        /// The digests as noted with the checkpoint, as computed from its trees, and as the log yields them.
        public var noted: Digests?
        public var found: Digests?
        public var expected: Digests

        public var isWhole: Bool { [noted, found].allSatisfy { $0 == nil || $0 == expected } }
    }

    /// An asset file that differs from what commits name.
    public struct AssetProblem: Sendable {
        public enum Kind: String, Sendable { case missing, size, content, unreadable }

        public var path: String
        public var kind: Kind
        /// The last commit that names it.
        public var offset: UInt64
        public var expectedBytes: UInt64
        public var foundBytes: UInt64?
        public var error: StrataError?
    }

    // MARK: Views

    /// The condition of the page file; nil if there is none.
    public internal(set) var finding: PageFileFinding?
    /// The reasons why checkpoints cannot be used.
    public internal(set) var reasons: [StrataError] = []
    /// The compared checkpoints, oldest first; every entry of the last one was compared.
    public internal(set) var checkpoints: [Checkpoint] = []
    public internal(set) var pageCount = 0
    public internal(set) var entryCount = 0
    public internal(set) var comparedIndexes = false
    /// Pages whose content is not what was written there.
    public internal(set) var pageDamage: [StrataError] = []
    /// The differences, or some of them if there are many.
    public internal(set) var differences: [Difference] = []
    /// True if a writer was too fast for the newest checkpoint to be compared.
    public internal(set) var wasOutrun = false
    /// A commit that is whole but does not fit the commits before it.
    public internal(set) var logDamage: StrataError?

    // MARK: Assets

    public internal(set) var assetCount = 0
    public internal(set) var assetBytes: UInt64 = 0
    public internal(set) var assetProblems: [AssetProblem] = []
    /// Paths of files in the directory of assets that no commit names.
    public internal(set) var strayFiles: [String] = []

    /// The last commit that was folded.
    public internal(set) var end: UInt64 = 0
    /// True if an erasure has begun but is not complete: files may contain what the log no longer has.
    public internal(set) var isErasing = false

    /// True if the page file exists, but no checkpoint in it can be used because it is damaged or another store's.
    public var isPageFileDamaged: Bool { checkpoints.isEmpty && (finding == .damaged || finding == .foreign) }

    public var isWhole: Bool { !isPageFileDamaged && areViewsWhole && assetProblems.isEmpty && logDamage == nil }

    var areViewsWhole: Bool { pageDamage.isEmpty && differences.isEmpty && checkpoints.allSatisfy(\.isWhole) }

    /// The first commit that made a differing entry.
    public var firstOffset: UInt64? { differences.compactMap(\.offset).min() }
}
