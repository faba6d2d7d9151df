import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataSystem

/// A part of a history in which nothing is changed, which is judged beside other parts: each begins with the state that
/// the log has there.
final class RetellingPart: Sendable {
    struct Limits {
        /// Parts have at least so many commits.
        var minimumCommits: UInt64 = 8_192
        /// Each part takes memory for pages of its own.
        var maximumParts = min(Processors.count, 4)
    }

    /// What a thread has made of a part.
    // @unchecked: the thread that made it has come to its end when another one gets it.
    struct Told: @unchecked Sendable {
        let shown: Store
        let timeline: RetoldTimeline
        let telling: UnchangedTelling
        /// Whether all of the part is as it was; otherwise the timelines part behind what was told.
        let isUnchanged: Bool
    }

    private enum State {
        case waiting
        case told(Told)
        case failed(any Error)
        case ended
    }

    /// 48 MiB.
    private static let memoryPages = 12_288
    /// Parts are cut as if folding a commit cost so much of judging it, with which they end together
    /// (Benchmarks/RESULTS.md).
    private static let foldingCost = 0.19

    private let store: Store
    private let first: UInt64
    private let last: UInt64
    private let lastOfAll: UInt64
    private let firstOfAll: UInt64
    private let rules: Rules
    private let log: (any EventLog)?
    private let state = Lock(State.waiting)
    /// The first part that has failed, or has come to where the timelines part: those behind it are of no use.
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

    /// - Parameter log: gets what is told, in order; then there is one part.
    static func all(
        of store: Store, from first: UInt64, through end: UInt64, _ rules: Rules, into log: (any EventLog)?,
        _ limits: Limits
    ) -> [RetellingPart] {
        let count = end + 1 - first
        let most = min(limits.maximumParts, Int(clamping: count / limits.minimumCommits))
        let parts = log == nil ? max(1, most) : 1
        // Each part folds first what is in front of it, so that later ones have to be smaller to be ready with others.
        let weights = sequence(first: 1.0) { $0 * (1 - foldingCost) }.prefix(parts)
        let sum = weights.reduce(0, +)
        var (found, place, weight) = ([RetellingPart](), first, 0.0)
        let lastNeeded = Lock(end)
        for (index, share) in weights.enumerated() where place <= end {
            weight += share
            let last = index == parts - 1 ? end : max(place, first + UInt64(Double(count) * weight / sum) - 1)
            found.append(RetellingPart(store, place...last, in: first...end, rules, log, lastNeeded))
            place = last + 1
        }
        return found
    }

    /// Tells them side by side.
    static func run(_ parts: [RetellingPart]) { Processors.perform(parts.count) { parts[$0].run() } }

    private func run() {
        let result: State
        do {
            let told = try tell()
            if !told.isUnchanged { endAll(behind: last) }
            result = .told(told)
        } catch {
            endAll(behind: last)
            result = .failed(error)
        }
        state.withLock { $0 = result }
    }

    private func endAll(behind offset: UInt64) { lastNeeded.withLock { $0 = min($0, offset) } }

    private func tell() throws -> Told {
        // Refusals that are noted in here may have been judged in front of it.
        let seen = first - min(first - firstOfAll, UInt64(RetellingWindow.lookahead))
        let shown = try store.asOf(seen - 1, aloneIn: Self.memoryPages)
        do {
            let time = try store.log.timeInFront(of: seen)
            let timeline = RetoldTimeline(on: shown.pages, time: time ?? .min, rules: rules, into: log)
            let window = try RetellingWindow(store.log, from: seen, through: lastOfAll)
            let telling = UnchangedTelling(window, timeline, rules, time: time ?? 0)
            var isUnchanged = true
            if seen < first {
                isUnchanged = try telling.run(through: first - 1)
                telling.resetTally()
            }
            if isUnchanged {
                isUnchanged = try telling.run(through: last) { lastNeeded.withLock { $0 >= first } }
            }
            return Told(shown: shown, timeline: timeline, telling: telling, isUnchanged: isUnchanged)
        } catch {
            try? shown.close()
            throw error
        }
    }

    /// - Throws: what has kept it from being told.
    func told() throws -> Told {
        try state.withLock { state in
            switch state {
            case .told(let told): return told
            case .failed(let error): throw error
            case .waiting, .ended: preconditionFailure("a part is told when its thread has come to its end")
            }
        }
    }

    /// The state that it has come to, for whoever calls to close.
    func keep() -> Store {
        state.withLock { state in
            guard case .told(let told) = state else { preconditionFailure("only what was told has a state") }
            state = .ended
            return told.shown
        }
    }

    /// Lets go of what nobody keeps.
    func end() {
        state.withLock { state in
            if case .told(let told) = state { try? told.shown.close() }
            state = .ended
        }
    }
}
