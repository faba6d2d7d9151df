import StrataModel

/// How fast a history is played again.
public enum PlaybackSpeed: Sendable, Hashable {
    /// With the pauses that there were between commits.
    case original
    /// So many times as fast; below 1 it is slower.
    case multiplied(Double)
    /// Without pauses.
    case unpaced
    /// Not by itself: each commit when ``Playback/step()`` says so.
    case stepped

    /// - Throws: ``StrataError`` `invalidArgument` for a factor that is no positive number.
    func requireValid() throws {
        guard case .multiplied(let factor) = self, !(factor > 0 && factor.isFinite) else { return }
        throw StrataError(
            .invalidArgument, "A playback's speed is multiplied by a positive number.", .init(found: "\(factor)"))
    }
}

/// By what a playback's pauses are measured.
public protocol PlaybackClock: Sendable {
    /// Microseconds since some moment; it may jump.
    func nowMicroseconds() -> Int64

    /// Returns once ``nowMicroseconds()`` has reached a time.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    func sleep(untilMicroseconds time: Int64) async throws
}

/// Real time, which nobody can set.
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
