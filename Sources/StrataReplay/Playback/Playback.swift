import StrataLog
import StrataModel
import StrataStore
import StrataSystem

/// A store's history once more, as its clients saw it: a store that is only read begins as it was when some commit was
/// its last, and goes on as the commits behind that one come again, at the pace at which they came, at another, or step
/// by step. Devices that listen to it are told what subscriptions would have told them; change tokens are those that
/// clients were given then.
///
/// ```swift
/// let playback = try Playback(of: store, from: 1_200, speed: .multiplied(10), maximumPause: .seconds(5))
/// let box = try playback.store.listen(as: phone)
/// playback.play()
/// while let push = await box.next() { print(playback.offset, push.subscriptionID) }
/// ```
/// Any number of them can be there at once, beside whoever writes. What is let go of while it is still to be played
/// ends it with an error.
public final class Playback: Sendable {
    /// What is touched by whoever plays.
    private struct Reel {
        var pace: PlaybackPace
        var cursor: (any CommitCursor)?
        /// What comes next; nil if it was not looked for.
        var coming: Commit?
    }

    private struct State {
        var task: Task<Void, Never>?
        /// Which of all tasks it is; one that has been paused plays nothing any more.
        var turn = 0
        var failure: (any Error)?
        var isClosed = false
        /// Whether the last commit that is to be played has been.
        var isAtEnd = false
        var onPlay: @Sendable () -> Void = {}
    }

    /// The store as far as it has been played; nothing can be written to it.
    public let store: Store
    /// The commit that it began with: what came behind it is played.
    public let first: UInt64
    /// The last commit that is played; nil if it goes on with what comes.
    public let last: UInt64?
    public let speed: PlaybackSpeed
    private let clock: any PlaybackClock
    private let reel: Lock<Reel>
    private let state = Lock(State())
    private let waiters = EndWaiters()

    /// - Parameters:
    ///   - store: is only read.
    ///   - first: the offset of the state to begin with; the earliest one that there is, if nothing is said.
    ///   - last: the last commit to play; the last one that there is now, if nothing is said.
    ///   - maximumPause: longer it waits for no commit, however far apart they were.
    ///   - follows: whether to go on with commits that are still to be written.
    /// - Throws: ``StrataError``: `outOfRange` for offsets that the log does not have, `invalidArgument` for a speed
    ///   that is none.
    public init(
        of store: Store, from first: UInt64? = nil, through last: UInt64? = nil, speed: PlaybackSpeed = .original,
        maximumPause: Duration? = nil, follows: Bool = false, clock: any PlaybackClock = SteadyClock()
    ) throws {
        try speed.requireValid()
        let end = store.offset
        let begin = first ?? store.log.floor.offset
        guard last.map({ $0 >= begin && $0 <= end }) ?? (begin <= end) else {
            throw StrataError(
                .outOfRange, "The store has no such commits to play.",
                .init(expected: "\(store.log.floor.offset) to \(end)", found: "\(begin) to \(last ?? end)"))
        }
        self.store = try store.played(from: begin, through: last ?? end)
        (self.first, self.last) = (begin, last ?? (follows ? nil : end))
        (self.speed, self.clock) = (speed, clock)
        let pace = PlaybackPace(
            speed, maximumPause: maximumPause.map { $0.microseconds }, latest: self.store.log.endTime,
            now: clock.nowMicroseconds())
        reel = Lock(Reel(pace: pace))
    }

    deinit { try? close() }

    /// The last commit that has been played, or the one that it began with.
    public var offset: UInt64 { store.offset }

    /// Of that commit, in microseconds since 1970; nil if it begins with nothing.
    public var time: Int64? { store.log.endTime }

    /// Whether all has been played that is to be.
    public var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

    // MARK: Playing

    /// Plays the next commit now, also where it is not due yet, and returns when the devices that listen have been told
    /// of it; nil if there is none.
    @discardableResult
    public func step() throws -> PlayedCommit? {
        try reel.withLock { reel in
            if isClosed { throw StrataError(.closed, "The playback has been closed.") }
            return try playNext(&reel)
        }
    }

    /// How long it is until the next commit is due, zero for one that is late; nil if there is none, or if that is not
    /// a matter of time.
    public func remaining() throws -> Duration? {
        let due = try reel.withLock { reel in try coming(&reel).flatMap { reel.pace.due($0.time) } }
        let now = clock.nowMicroseconds()
        return due.map { .microseconds($0 > now ? PlaybackPace.difference($0, now) : 0) }
    }

    /// Plays commit after commit, each when it is due, until the end or ``pause()``. One that is stepped stays where it
    /// is.
    public func play() {
        reel.withLock { $0.pace.resume(now: clock.nowMicroseconds()) }
        state.withLock { state in
            guard state.task == nil, !state.isClosed, state.failure == nil else { return }
            state.turn += 1
            // It holds the playback only while it plays, so that one which nobody has any more ends.
            state.task = Task { [turn = state.turn, clock, weak self] in
                while let next = self?.playDue(turn) {
                    do {
                        switch next {
                        case .due(let time): try await clock.sleep(untilMicroseconds: time)
                        case .later(let store): await store.waitForLaterCommits()
                        }
                    } catch { return }
                }
            }
        }
    }

    /// Plays nothing more until ``play()``, which goes on within the pause that it was in.
    public func pause() {
        let task = state.withLock { state in
            state.turn += 1
            defer { state.task = nil }
            return state.task
        }
        task?.cancel()
        // Also waits for a commit that is being played.
        reel.withLock { $0.pace.pause(now: clock.nowMicroseconds()) }
    }

    /// Returns once all has been played that is to be, or ``close()`` was called, or the task is cancelled.
    ///
    /// - Throws: what ended ``play()``.
    public func waitForEnd() async throws {
        await waiters.wait(past: .max - 1) { self.state.withLock { $0.isAtEnd || $0.isClosed || $0.failure != nil } }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Ends it: what is read of its store fails from now on, and devices get nothing any more.
    public func close() throws {
        let task = state.withLock { state in
            state.isClosed = true
            state.turn += 1
            defer { state.task = nil }
            return state.task
        }
        task?.cancel()
        waiters.wake(end: .max, isClosed: true)
        try store.close()
    }

    /// Has something be called with each commit, when it is in the store. That may not play.
    package func onPlay(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onPlay = body } }

    // MARK: The loop

    private enum Next {
        case due(Int64)
        case later(Store)
    }

    /// Plays what is due, and says when to look again; nil for never.
    private func playDue(_ turn: Int) -> Next? {
        do {
            return try reel.withLock { reel in
                guard state.withLock({ $0.turn == turn && !$0.isAtEnd }) else { return nil }
                guard let coming = try coming(&reel) else { return isAtEnd ? nil : .later(store) }
                guard let due = reel.pace.due(coming.time) else { return nil }
                if due <= clock.nowMicroseconds() { try playNext(&reel) }
                return .due(due)
            }
        } catch {
            fail(error, turn)
            return nil
        }
    }

    private func fail(_ error: any Error, _ turn: Int) {
        let isEnd = state.withLock { state in
            if state.turn == turn { state.failure = error }
            return state.turn == turn
        }
        if isEnd { waiters.wake(end: .max, isClosed: true) }
    }

    @discardableResult
    private func playNext(_ reel: inout Reel) throws -> PlayedCommit? {
        guard let commit = try coming(&reel) else { return nil }
        try store.play(through: commit.offset)
        reel.coming = nil
        reel.pace.play(commit.time, now: clock.nowMicroseconds())
        let played = try PlayedCommit(commit, in: store)
        state.withLock { $0.onPlay }()
        if commit.offset == last { setEnd() }
        waiters.wake(end: commit.offset, isClosed: false)
        return played
    }

    /// The next commit; offsets may have gaps.
    private func coming(_ reel: inout Reel) throws -> Commit? {
        if let coming = reel.coming { return coming }
        if isAtEnd { return nil }
        var next = try reel.cursor?.next()
        if next == nil {
            reel.cursor = try store.laterCommits()
            next = try reel.cursor?.next()
        }
        if let last, next.map({ $0.offset > last }) ?? (store.offset >= last) {
            setEnd()
            return nil
        }
        reel.coming = next
        return next
    }

    private func setEnd() {
        state.withLock { $0.isAtEnd = true }
        waiters.wake(end: .max, isClosed: true)
    }

    // MARK: What has been played

    /// The commits, from the first one on, as they are played; it ends when all have been.
    ///
    /// ```swift
    /// for try await commit in playback.commits { print(commit.offset, commit.actor?.user ?? "") }
    /// ```
    public var commits: Commits { Commits(playback: self) }

    /// A playback's commits as they are played. Whoever reads slowly misses none.
    public struct Commits: AsyncSequence, Sendable {
        public typealias Element = PlayedCommit

        let playback: Playback

        public func makeAsyncIterator() -> Iterator { Iterator(playback: playback, seen: playback.first) }

        public struct Iterator: AsyncIteratorProtocol {
            let playback: Playback
            var seen: UInt64
            var cursor: (any CommitCursor)?

            /// - Throws: what ended ``Playback/play()``, or keeps a commit from being read.
            public mutating func next() async throws -> PlayedCommit? {
                while true {
                    if playback.offset > seen {
                        if cursor == nil { cursor = try playback.store.log.read(from: seen + 1) }
                        if let commit = try cursor?.next() {
                            seen = commit.offset
                            return try PlayedCommit(commit, in: playback.store)
                        }
                        cursor = nil
                    }
                    guard try await playback.waitForMore(past: seen) else { return nil }
                }
            }
        }
    }

    /// False if there will be no more.
    private func waitForMore(past offset: UInt64) async throws -> Bool {
        await waiters.wait(past: offset) { self.offset > offset || self.isOver }
        if self.offset > offset, !isClosed { return true }
        if let failure = state.withLock({ $0.failure }) { throw failure }
        return false
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }
    private var isOver: Bool { state.withLock { $0.isAtEnd || $0.isClosed || $0.failure != nil } }
}

extension Duration {
    fileprivate var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, exceeds) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        return overflows || exceeds ? (seconds < 0 ? .min : .max) : sum
    }
}
