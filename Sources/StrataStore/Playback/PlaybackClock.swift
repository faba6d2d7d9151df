/// The clock that measures a playback's pauses.
public protocol PlaybackClock: Sendable {
    /// Returns the microseconds since some moment; the value may jump.
    func nowMicroseconds() -> Int64

    /// Returns once ``nowMicroseconds()`` has reached a time.
    ///
    /// - Throws: `CancellationError` if the task is canceled before.
    func sleep(untilMicroseconds time: Int64) async throws
}

/// Real time, which cannot be set.
public struct SteadyClock: PlaybackClock {
    private let start = ContinuousClock.now

    public init() {}

    public func nowMicroseconds() -> Int64 {
        let (seconds, attoseconds) = start.duration(to: .now).components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    public func sleep(untilMicroseconds time: Int64) async throws {
        try Task.checkCancellation()
        let now = nowMicroseconds()
        if time <= now { return await Task.yield() }
        try await Task.sleep(for: .microseconds(PlaybackPace.difference(time, now)))
    }
}
