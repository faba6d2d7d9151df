import StrataLog
import StrataModel

/// A comparison of two logs that should have the same commits.
package struct HistoryComparison: Sendable {
    /// The first commit and the last one that both logs have; `first` is after `last` if they have none in common.
    package let first: UInt64
    package let last: UInt64
    /// The first commit that differs; nil if none does.
    package let difference: UInt64?

    /// Compares chain values, and then the commits.
    ///
    /// - Parameter progress: called with the number of a commit that was compared, and the last one.
    /// - Throws: `.outOfRange` if one log ends before the other one begins.
    package init(
        _ one: any HistoryLog, _ other: any HistoryLog, progress: (UInt64, UInt64) -> Void = { _, _ in }
    ) throws {
        let start = max(one.floor.offset, other.floor.offset)
        last = min(one.end.offset, other.end.offset)
        first = start + 1
        guard start <= last else {
            throw StrataError(
                .outOfRange, "One history ends before the other one begins: its first commits were compacted.",
                .init(expected: "commits after \(start)", found: "\(last) as the last one"))
        }
        // A chain value covers everything before it.
        if try one.chain(at: start) != other.chain(at: start) {
            difference = start
            return
        }
        difference = start == last ? nil : try Self.difference(one, other, first...last, progress)
    }

    private static func difference(
        _ one: any HistoryLog, _ other: any HistoryLog, _ range: ClosedRange<UInt64>,
        _ progress: (UInt64, UInt64) -> Void
    ) throws -> UInt64? {
        var (left, right) = (try one.read(from: range.lowerBound), try other.read(from: range.lowerBound))
        for offset in range {
            guard let commit = try left.next(), try right.next() == commit else { return offset }
            progress(offset, range.upperBound)
        }
        return nil
    }
}

/// The error of two histories of a store of which neither continues the other.
package struct PartedHistories: Error, CustomStringConvertible {
    /// The first commit that only one of them has.
    package let offset: UInt64
    package let reason: String

    package init(offset: UInt64, reason: String) { (self.offset, self.reason) = (offset, reason) }

    package var description: String { "the histories part at commit \(offset): \(reason)" }
}
