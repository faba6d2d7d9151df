import Foundation
import StrataSystem

/// The clock of an engine's timers.
protocol SyncClock: Sendable {
    /// Returns the microseconds since some moment; the value may jump.
    func nowMicroseconds() -> Int64

    /// Returns once ``nowMicroseconds()`` has reached a time.
    ///
    /// - Throws: `CancellationError` if the task is canceled before.
    func sleep(untilMicroseconds time: Int64) async throws
}

extension CloudStore.Options {
    /// The clock of the timers of sync engines.
    var syncClock: any SyncClock {
        switch clock {
        case is CloudStore.SystemClock: SteadySyncClock()
        case let clock as CloudStore.ManualClock: ManualSyncClock(clock: clock)
        default: OtherSyncClock(clock: clock)
        }
    }
}

/// Real time, which cannot be set.
private struct SteadySyncClock: SyncClock {
    private let start = ContinuousClock.now

    func nowMicroseconds() -> Int64 {
        let (seconds, attoseconds) = start.duration(to: .now).components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    func sleep(untilMicroseconds time: Int64) async throws {
        try Task.checkCancellation()
        let now = nowMicroseconds()
        if time <= now { return await Task.yield() }
        try await Task.sleep(for: .microseconds(time - now))
    }
}

private struct ManualSyncClock: SyncClock {
    let clock: CloudStore.ManualClock

    func nowMicroseconds() -> Int64 { clock.microseconds }

    func sleep(untilMicroseconds time: Int64) async throws {
        await clock.sleep(untilMicroseconds: time)
        try Task.checkCancellation()
    }
}

/// A clock that does not report when it moves, so it is polled. Its time never goes back: when the program's clock
/// does, this one continues from where it was, so nothing waits for an earlier time to come again.
private final class OtherSyncClock: SyncClock {
    private static let askedMilliseconds = 10
    private let clock: any CloudStore.Clock
    /// The last time of the program's clock, and how far it has gone back in all.
    private let state = Lock((last: Int64.min, shift: Int64(0)))

    init(clock: any CloudStore.Clock) { self.clock = clock }

    func nowMicroseconds() -> Int64 {
        state.withLock { state in
            let now = clock.now.microseconds ?? 0
            if now < state.last { state.shift += state.last - now }
            state.last = now
            return now + state.shift
        }
    }

    func sleep(untilMicroseconds time: Int64) async throws {
        repeat {
            try await Task.sleep(for: .milliseconds(nowMicroseconds() < time ? Self.askedMilliseconds : 0))
        } while nowMicroseconds() < time
    }
}
