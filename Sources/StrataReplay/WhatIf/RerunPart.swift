import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataSystem

/// A part of an unchanged history that is judged in parallel with other parts. Each begins with the state that the log
/// has there.
// @unchecked: one thread judges the part, and no other uses it until that thread has ended.
final class RerunPart: @unchecked Sendable {
    struct Limits {
        /// The minimum number of commits per part, on average.
        var minimumCommits: UInt64 = 8_192
        /// The maximum number of parts, since each takes memory for its own pages.
        var maximumParts = min(Processors.count, 4)

        /// One part, for a history that is judged in order.
        static let whole = Limits(maximumParts: 1)
    }

    /// The number of pages in memory, 48 MiB.
    static let memoryPages = 12_288
    /// The cost of folding a commit, relative to judging it. The sizes of parts are chosen by it so that they end
    /// together (Benchmarks/RESULTS.md).
    private static let foldingCost = 0.19

    private let range: ClosedRange<UInt64>
    private var result: Result<RequestRerun, any Error>?
    /// True if the whole part is unchanged; otherwise the timelines diverge after what was judged.
    private(set) var isUnchanged = false
    private var shown: Store?

    private init(_ range: ClosedRange<UInt64>) { self.range = range }

    /// Judges a history in parts, each up to where the timelines diverge.
    ///
    /// - Parameter log: receives the commits; there may then be only one part.
    static func judge(
        _ store: Store, _ all: ClosedRange<UInt64>, by rules: Rules, into log: (any EventLog)?, _ limits: Limits,
        _ counter: RerunCounter
    ) -> [RerunPart] {
        let parts = divide(all, limits).map { RerunPart($0) }
        /// The last commit of the first part that failed or in which the timelines diverge; later parts are not needed.
        let lastNeeded = Lock(all.upperBound)
        Processors.perform(parts.count) { index in
            let part = parts[index]
            part.result = Result {
                try part.judge(store, all, by: rules, into: log, counter) {
                    lastNeeded.withLock { $0 >= part.range.lowerBound }
                }
            }
            if !part.isUnchanged { lastNeeded.withLock { $0 = min($0, part.range.upperBound) } }
        }
        return parts
    }

    /// Each part first folds what comes before it, so later parts must be smaller to finish with the others.
    private static func divide(_ all: ClosedRange<UInt64>, _ limits: Limits) -> [ClosedRange<UInt64>] {
        let count = all.upperBound + 1 - all.lowerBound
        let parts = max(1, min(limits.maximumParts, Int(clamping: count / limits.minimumCommits)))
        let weights = sequence(first: 1.0) { $0 * (1 - foldingCost) }.prefix(parts)
        let sum = weights.reduce(0, +)
        var (ranges, place, weight) = ([ClosedRange<UInt64>](), all.lowerBound, 0.0)
        for (index, share) in weights.enumerated() where place <= all.upperBound {
            weight += share
            let end = all.lowerBound + UInt64(Double(count) * weight / sum) - 1
            let last = index == parts - 1 ? all.upperBound : max(place, end)
            ranges.append(place...last)
            place = last + 1
        }
        return ranges
    }

    private func judge(
        _ store: Store, _ all: ClosedRange<UInt64>, by rules: Rules, into log: (any EventLog)?,
        _ counter: RerunCounter, while isNeeded: () -> Bool
    ) throws -> RequestRerun {
        let first = range.lowerBound
        // Refusals noted in this part may have been judged before it.
        let seen = first - min(first - all.lowerBound, UInt64(RerunWindow.lookahead))
        let shown = try store.past.state(at: seen - 1, aloneIn: Self.memoryPages)
        self.shown = shown
        let time = try store.log.timeInFront(of: seen)
        let timeline = AlternateTimeline(on: shown.pages, time: time ?? .min, rules: rules, into: log)
        let window = try RerunWindow(store.log, from: seen, through: all.upperBound)
        let rerun = RequestRerun(window, timeline, rules, time: time ?? 0, counter: counter)
        if seen < first {
            guard try rerun.runUnchanged(through: first - 1) else { return rerun }
            // The part before reports them.
            rerun.tally = RerunTally()
        }
        isUnchanged = try rerun.runUnchanged(through: range.upperBound, while: isNeeded)
        return rerun
    }

    /// - Throws: the error that kept the part from being judged.
    func rerun() throws -> RequestRerun {
        guard let result else { preconditionFailure("the thread of a part must end before its result is read") }
        return try result.get()
    }

    /// Returns the state that the part has reached; the caller closes it.
    func keep() -> Store {
        guard let shown else { preconditionFailure("only a judged part has a state") }
        self.shown = nil
        return shown
    }

    /// Closes a state that was not kept.
    func close() { try? shown?.close() }
}
