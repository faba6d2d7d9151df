import Foundation
import StrataSystem

extension CloudStore {
    /// A clock that moves only when a test advances it, so that dates are the same in every run.
    ///
    /// ```swift
    /// let clock = CloudStore.ManualClock()
    /// options.clock = clock
    /// clock.advance(by: .seconds(60))
    /// ```
    public final class ManualClock: Clock {
        private let time: ManualTime
        private let sleepers = Lock(Sleepers())

        /// - Parameter date: The initial time; 1 January 2001 by default.
        public init(_ date: Date = Date(timeIntervalSinceReferenceDate: 0)) {
            time = ManualTime(microseconds: date.microseconds ?? 0)
        }

        public var now: Date { Date(microseconds: microseconds) }
        var microseconds: Int64 { time.nowMicroseconds() }

        /// Moves the clock, also backwards; it stops at the last date that it can represent.
        public func advance(by duration: Duration) {
            let (seconds, attoseconds) = duration.components
            let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
            let (step, exceeds) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
            time.advance(byMicroseconds: overflows || exceeds ? (seconds < 0 ? .min : .max) : step)
            for sleeper in sleepers.withLock({ $0.takeReady(microseconds) }) { sleeper.resume() }
        }

        /// Returns once the clock reaches a time, or the task is canceled.
        func sleep(untilMicroseconds time: Int64) async {
            let ticket = sleepers.withLock { $0.makeTicket() }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = sleepers.withLock { sleepers in
                        if microseconds >= time || Task.isCancelled { return true }
                        sleepers.waiting[ticket] = (time, continuation)
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                sleepers.withLock { $0.waiting.removeValue(forKey: ticket) }?.continuation.resume()
            }
        }

        /// The number of tasks that wait for the clock to advance.
        var sleeperCount: Int { sleepers.withLock { $0.waiting.count } }

        /// The waiting tasks with their times.
        private struct Sleepers {
            var waiting: [UInt64: (time: Int64, continuation: CheckedContinuation<Void, Never>)] = [:]
            private var lastTicket: UInt64 = 0

            mutating func makeTicket() -> UInt64 {
                lastTicket += 1
                return lastTicket
            }

            mutating func takeReady(_ now: Int64) -> [CheckedContinuation<Void, Never>] {
                let ready = waiting.filter { $0.value.time <= now }
                for ticket in ready.keys { waiting[ticket] = nil }
                return ready.values.map(\.continuation)
            }
        }
    }
}
