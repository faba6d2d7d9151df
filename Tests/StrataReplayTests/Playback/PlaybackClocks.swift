import StrataSystem

@testable import StrataStore

/// A clock for whom waiting takes no time: it is at once what somebody waits for.
final class JumpingClock: PlaybackClock {
    private let time = ManualTime(microseconds: 1_000)

    func nowMicroseconds() -> Int64 { time.nowMicroseconds() }

    func sleep(untilMicroseconds due: Int64) async throws {
        try Task.checkCancellation()
        time.advance(byMicroseconds: max(0, due - nowMicroseconds()))
        await Task.yield()
    }

    func advance(by microseconds: Int64) { time.advance(byMicroseconds: microseconds) }
}

/// A clock that stands still until it is moved.
final class StandingClock: PlaybackClock {
    private let time = ManualTime(microseconds: 0)

    func nowMicroseconds() -> Int64 { time.nowMicroseconds() }

    func sleep(untilMicroseconds due: Int64) async throws {
        repeat { try await Task.sleep(for: .milliseconds(1)) } while nowMicroseconds() < due
    }

    func advance(by microseconds: Int64) { time.advance(byMicroseconds: microseconds) }
}
