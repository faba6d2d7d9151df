import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// The result of comparing a store's page file and asset files with what the log yields.
package struct DeepReport: Sendable {
    /// The current step of the comparison, and its progress.
    package enum Progress: Sendable {
        case folding(done: UInt64, total: UInt64)
        case comparing
        case readingAssets(done: UInt64, total: UInt64)
    }

    /// A place where the views differ from what the log yields.
    package struct Difference: Sendable {
        /// The commit that made the entry; nil if it cannot be determined, or if a base replaces it.
        package var offset: UInt64?
        package var tree: String
        package var key: [UInt8]
        /// The entry in words, with names.
        package var entry: String
        package var kind: ScrubReport.Difference.Kind
    }

    /// A checkpoint that was compared.
    package struct Checkpoint: Sendable {
        package var position: Position
        /// The digests as noted with the checkpoint, as computed from its trees, and as the log yields them.
        package var noted: Digests?
        package var found: Digests?
        package var expected: Digests

        package var isWhole: Bool { [noted, found].allSatisfy { $0 == nil || $0 == expected } }
    }

    /// An asset file that differs from what commits name.
    package struct AssetProblem: Sendable {
        package enum Kind: String, Sendable { case missing, size, content, unreadable }

        package var path: String
        package var kind: Kind
        /// The last commit that names it.
        package var offset: UInt64
        package var expectedBytes: UInt64
        package var foundBytes: UInt64?
        package var error: StrataError?
    }

    // MARK: Views

    /// The condition of the page file; nil if there is none.
    package internal(set) var finding: PageFileFinding?
    /// The reasons why checkpoints cannot be used.
    package internal(set) var reasons: [StrataError] = []
    /// The compared checkpoints, oldest first; every entry of the last one was compared.
    package internal(set) var checkpoints: [Checkpoint] = []
    package internal(set) var pageCount = 0
    package internal(set) var entryCount = 0
    /// Pages whose content is not what was written there.
    package internal(set) var pageDamage: [StrataError] = []
    /// The differences, or some of them if there are many.
    package internal(set) var differences: [Difference] = []
    /// True if a writer was too fast for the newest checkpoint to be compared.
    package internal(set) var wasOutrun = false
    /// A commit that is whole but does not fit the commits before it.
    package internal(set) var logDamage: StrataError?

    // MARK: Assets

    package internal(set) var assetCount = 0
    package internal(set) var assetBytes: UInt64 = 0
    package internal(set) var assetProblems: [AssetProblem] = []
    /// Paths of files in the directory of assets that no commit names.
    package internal(set) var strayFiles: [String] = []

    /// The last commit that was folded.
    package internal(set) var end: UInt64 = 0
    /// True if an erasure has begun but is not complete: files may contain what the log no longer has.
    package internal(set) var isErasing = false

    /// True if entries could be compared, those of indexes included.
    package var comparedIndexes: Bool { !checkpoints.isEmpty && pageDamage.isEmpty }

    /// True if the page file exists, but no checkpoint in it can be used because it is damaged or another store's.
    package var isPageFileDamaged: Bool { checkpoints.isEmpty && (finding == .damaged || finding == .foreign) }

    package var isWhole: Bool { !isPageFileDamaged && areViewsWhole && assetProblems.isEmpty && logDamage == nil }

    var areViewsWhole: Bool { pageDamage.isEmpty && differences.isEmpty && checkpoints.allSatisfy(\.isWhole) }

    /// The first commit that made a differing entry.
    package var firstOffset: UInt64? { differences.compactMap(\.offset).min() }
}
