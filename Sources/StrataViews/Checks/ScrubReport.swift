import StrataModel
import StrataTree

/// The result of comparing the views with views recomputed from the log.
public struct ScrubReport: Sendable {
    /// An entry that differs from the log.
    public struct Difference: Sendable, Hashable {
        public enum Kind: String, Sendable {
            /// The log yields the entry.
            case missing
            /// The log does not yield the entry.
            case surplus
            /// The log yields another row.
            case changed
        }

        public var tree: TreeID
        public var key: [UInt8]
        public var kind: Kind
        /// The commit that wrote the entry, or that a surplus entry names; nil if unknown.
        public var offset: UInt64?
        /// The name that the entry is about; only the log shows where it came from.
        public var name: UsedNames.Key?
    }

    /// The differences, at most ``maximumDifferences`` of them.
    public internal(set) var differences: [Difference] = []
    public internal(set) var entryCount = 0
    /// True if index rows were compared too, which needs indexes of the same state as the records.
    public internal(set) var comparedIndexes = false

    public static let maximumDifferences = 100

    public init() {}

    public var isWhole: Bool { differences.isEmpty }
    var isFull: Bool { differences.count >= Self.maximumDifferences }
}
