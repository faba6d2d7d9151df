import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataSystem

/// A part of an unchanged history that is judged in parallel with other parts. Each begins with the state that the log
/// has there.
final class RerunPart: Sendable {
    struct Limits {
        /// The minimum number of commits per part, on average.
        var minimumCommits: UInt64 = 8_192
        /// The maximum number of parts, since each takes memory for its own pages.
        var maximumParts = min(Processors.count, 4)
    }

    /// The result of judging a part on a thread.
    // @unchecked: the thread that made it has ended before another one receives it.
    struct Replayed: @unchecked Sendable {
        let shown: Store
        let timeline: AlternateTimeline
        let rerun: UnchangedRerun
        /// True if the whole part is unchanged; otherwise the timelines diverge after what was judged.
        let isUnchanged: Bool
    }

    private enum State {
        case waiting
        case replayed(Replayed)
        case failed(any Error)
        case ended
    }

    /// The number of pages in memory, 48 MiB.
    private static let memoryPages = 12_288
    /// The cost of folding a commit, relative to judging it. The sizes of parts are chosen by it so that they end
    /// together (Benchmarks/RESULTS.md).
    private static let foldingCost = 0.19

    private let store: Store
    private let first: UInt64
    private let last: UInt64
    private let lastOfAll: UInt64
    private let firstOfAll: UInt64
    private let rules: Rules
    private let log: (any EventLog)?
    private let state = Lock(State.waiting)
    /// The last commit of the first part that failed or in which the timelines diverge; later parts are not needed.
    private let lastNeeded: Lock<UInt64>

    private init(
        _ store: Store, _ range: ClosedRange<UInt64>, in all: ClosedRange<UInt64>, _ rules: Rules,
        _ log: (any EventLog)?, _ lastNeeded: Lock<UInt64>
    ) {
        self.store = store
        (first, last) = (range.lowerBound, range.upperBound)
        (firstOfAll, lastOfAll) = (all.lowerBound, all.upperBound)
        self.rules = rules
        self.log = log
        self.lastNeeded = lastNeeded
    }

    /// - Parameter log: receives the commits in order; there is then only one part.
    static func all(
        of store: Store, from first: UInt64, through end: UInt64, _ rules: Rules, into log: (any EventLog)?,
        _ limits: Limits
    ) -> [RerunPart] {
        let count = end + 1 - first
        let most = min(limits.maximumParts, Int(clamping: count / limits.minimumCommits))
        let parts = log == nil ? max(1, most) : 1
        // Each part first folds what comes before it, so later parts must be smaller to finish with the others.
        let weights = sequence(first: 1.0) { $0 * (1 - foldingCost) }.prefix(parts)
        let sum = weights.reduce(0, +)
        var (found, place, weight) = ([RerunPart](), first, 0.0)
        let lastNeeded = Lock(end)
        for (index, share) in weights.enumerated() where place <= end {
            weight += share
            let last = index == parts - 1 ? end : max(place, first + UInt64(Double(count) * weight / sum) - 1)
            found.append(RerunPart(store, place...last, in: first...end, rules, log, lastNeeded))
            place = last + 1
        }
        return found
    }

    /// Judges the parts in parallel.
    static func run(_ parts: [RerunPart]) { Processors.perform(parts.count) { parts[$0].run() } }

    private func run() {
        let result: State
        do {
            let replayed = try replay()
            if !replayed.isUnchanged { endAll(after: last) }
            result = .replayed(replayed)
        } catch {
            endAll(after: last)
            result = .failed(error)
        }
        state.withLock { $0 = result }
    }

    private func endAll(after offset: UInt64) { lastNeeded.withLock { $0 = min($0, offset) } }

    private func replay() throws -> Replayed {
        // Refusals noted in this part may have been judged before it.
        let seen = first - min(first - firstOfAll, UInt64(RerunWindow.lookahead))
        let shown = try store.asOf(seen - 1, aloneIn: Self.memoryPages)
        do {
            let time = try store.log.timeInFront(of: seen)
            let timeline = AlternateTimeline(on: shown.pages, time: time ?? .min, rules: rules, into: log)
            let window = try RerunWindow(store.log, from: seen, through: lastOfAll)
            let rerun = UnchangedRerun(window, timeline, rules, time: time ?? 0)
            var isUnchanged = true
            if seen < first {
                isUnchanged = try rerun.run(through: first - 1)
                rerun.resetTally()
            }
            if isUnchanged {
                isUnchanged = try rerun.run(through: last) { lastNeeded.withLock { $0 >= first } }
            }
            return Replayed(shown: shown, timeline: timeline, rerun: rerun, isUnchanged: isUnchanged)
        } catch {
            try? shown.close()
            throw error
        }
    }

    /// - Throws: the error that kept the part from being judged.
    func replayed() throws -> Replayed {
        try state.withLock { state in
            switch state {
            case .replayed(let replayed): return replayed
            case .failed(let error): throw error
            case .waiting, .ended: preconditionFailure("the thread of a part must end before its result is read")
            }
        }
    }

    /// Returns the state that the part has reached; the caller closes it.
    func keep() -> Store {
        state.withLock { state in
            guard case .replayed(let replayed) = state else { preconditionFailure("only a replayed part has a state") }
            state = .ended
            return replayed.shown
        }
    }

    /// Closes a state that was not kept.
    func end() {
        state.withLock { state in
            if case .replayed(let replayed) = state { try? replayed.shown.close() }
            state = .ended
        }
    }
}
