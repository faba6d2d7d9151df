import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// What a store has beside its log, compared with what the log gives.
public struct DeepReport: Sendable {
    /// Where the views are not what the log gives.
    public struct Difference: Sendable {
        /// The commit that made the entry; nil if that cannot be told, or a base stands for it.
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
        /// Both digests as they were noted with it, summed up from its trees, and as the log gives them.
        public var noted: Digests?
        public var found: Digests?
        public var expected: Digests

        public var isWhole: Bool { [noted, found].allSatisfy { $0 == nil || $0 == expected } }
    }

    /// A file of an asset that is not what commits name.
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

    /// What was found of the page file; nil if there is none.
    public internal(set) var finding: PageFileFinding?
    /// Why checkpoints cannot be taken.
    public internal(set) var reasons: [StrataError] = []
    /// Oldest first; the last is the one of which every entry was compared.
    public internal(set) var checkpoints: [Checkpoint] = []
    public internal(set) var pageCount = 0
    public internal(set) var entryCount = 0
    public internal(set) var comparedIndexes = false
    /// Pages that are not what was written there.
    public internal(set) var pageDamage: [StrataError] = []
    /// Some of them, if there are many.
    public internal(set) var differences: [Difference] = []
    /// Whether a writer was too fast for the newest checkpoint to be compared.
    public internal(set) var wasOutrun = false
    /// A commit that is whole and does not fit those in front of it.
    public internal(set) var logDamage: StrataError?

    // MARK: Assets

    public internal(set) var assetCount = 0
    public internal(set) var assetBytes: UInt64 = 0
    public internal(set) var assetProblems: [AssetProblem] = []
    /// Paths of files in the directory of assets that no commit names.
    public internal(set) var strayFiles: [String] = []

    /// The last commit that was folded.
    public internal(set) var end: UInt64 = 0
    /// Whether an erasure has begun that is not done: files may have what the log has no more.
    public internal(set) var isErasing = false

    /// The page file is there, and no checkpoint of it can be taken because it is damaged or another store's.
    public var isPageFileDamaged: Bool { checkpoints.isEmpty && (finding == .damaged || finding == .foreign) }

    public var isWhole: Bool { !isPageFileDamaged && areViewsWhole && assetProblems.isEmpty && logDamage == nil }

    var areViewsWhole: Bool { pageDamage.isEmpty && differences.isEmpty && checkpoints.allSatisfy(\.isWhole) }

    /// The first commit that made an entry which differs.
    public var firstOffset: UInt64? { differences.compactMap(\.offset).min() }
}
