import StrataModel
import StrataTree

/// The result of comparing the views with views recomputed from the log.
package struct ScrubReport: Sendable {
    /// An entry that differs from the log.
    package struct Difference: Sendable, Hashable {
        package enum Kind: String, Sendable {
            /// The log yields the entry.
            case missing
            /// The log does not yield the entry.
            case surplus
            /// The log yields another row.
            case changed
        }

        package var tree: TreeID
        package var key: [UInt8]
        package var kind: Kind
        /// The commit that wrote the entry, or that a surplus entry names; nil if unknown.
        package var offset: UInt64?
        /// The name that the entry is about; only the log shows where it came from.
        package var name: UsedNames.Key?
    }

    /// The differences, at most ``maximumDifferences`` of them.
    package internal(set) var differences: [Difference] = []
    package internal(set) var entryCount = 0

    package static let maximumDifferences = 100

    package init() {}

    package var isWhole: Bool { differences.isEmpty }
    var isFull: Bool { differences.count >= Self.maximumDifferences }
}
