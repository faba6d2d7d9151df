/// The times at which the commits of a playback are due, by its clock.
///
/// Delays are made up for: the pauses after a delay are shorter until the playback has caught up.
struct PlaybackPace: Sendable {
    let speed: PlaybackSpeed
    /// The longest pause, in microseconds.
    let maximumPause: Int64?
    /// The latest time of a commit so far, by the log; commits with an earlier time are due immediately.
    private(set) var latest: Int64?
    /// The time when the last commit was due, or when playing began; the next pause counts from there.
    private var anchor: Int64
    /// The part of the next pause that has passed; nil while the playback runs.
    private var passed: Int64?
    private var hasBegun = false

    /// - Parameter latest: the time of the state that the playback begins with.
    init(_ speed: PlaybackSpeed, maximumPause: Int64?, latest: Int64?, now: Int64) {
        (self.speed, self.maximumPause, self.latest) = (speed, maximumPause.map { max(0, $0) }, latest)
        anchor = now
    }

    /// Returns the time when the next commit is due; nil if that does not depend on time.
    func due(_ time: Int64) -> Int64? {
        if speed == .stepped { return nil }
        return Self.sum(anchor, pause(before: time))
    }

    /// Returns the pause before the next commit, in microseconds.
    func pause(before time: Int64) -> Int64 {
        let gap = latest.map { max(0, Self.difference(time, $0)) } ?? 0
        let pause: Int64 =
            switch speed {
            case .original: gap
            case .multiplied(let factor): Int64(exactly: (Double(gap) / factor).rounded(.down)) ?? .max
            case .unpaced, .stepped: 0
            }
        return min(pause, maximumPause ?? .max)
    }

    /// Notes that a commit was played; the next pause counts from when it was due, or from now if that is earlier.
    mutating func play(_ time: Int64, now: Int64) {
        anchor = min(due(time) ?? now, now)
        latest = max(latest ?? time, time)
        hasBegun = true
    }

    mutating func pause(now: Int64) {
        if passed == nil { passed = max(0, Self.difference(now, anchor)) }
    }

    mutating func resume(now: Int64) {
        if let passed { anchor = Self.difference(now, passed) } else if !hasBegun { anchor = now }
        (passed, hasBegun) = (nil, true)
    }

    private static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, overflows) = one.addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, clamped to the range of the integer.
    static func difference(_ one: Int64, _ other: Int64) -> Int64 {
        let (difference, overflows) = one.subtractingReportingOverflow(other)
        return overflows ? (one < 0 ? .min : .max) : difference
    }
}
