/// When the commits of a playback are due, by its clock.
///
/// What takes long is made up for: the pauses that follow are shorter until it is as far as it should be.
struct PlaybackPace: Sendable {
    let speed: PlaybackSpeed
    /// Longer a pause never is, in microseconds.
    let maximumPause: Int64?
    /// The latest time of a commit so far, by the log; commits from behind it are due at once.
    private(set) var latest: Int64?
    /// When the last commit was due, or playing began: from there the next pause counts.
    private var anchor: Int64
    /// Of the pause before the next commit, while nothing is played: how much of it had passed.
    private var passed: Int64?
    private var hasBegun = false

    /// - Parameter latest: of the state that it begins with.
    init(_ speed: PlaybackSpeed, maximumPause: Int64?, latest: Int64?, now: Int64) {
        (self.speed, self.maximumPause, self.latest) = (speed, maximumPause.map { max(0, $0) }, latest)
        anchor = now
    }

    /// When a commit with a time is due that comes next; nil if that is not a matter of time.
    func due(_ time: Int64) -> Int64? {
        if speed == .stepped { return nil }
        return Self.sum(anchor, pause(before: time))
    }

    /// In microseconds.
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

    /// A commit has been played, when it was due or before.
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

    /// Stops at the ends of what the number can say.
    static func difference(_ one: Int64, _ other: Int64) -> Int64 {
        let (difference, overflows) = one.subtractingReportingOverflow(other)
        return overflows ? (one < 0 ? .min : .max) : difference
    }
}
