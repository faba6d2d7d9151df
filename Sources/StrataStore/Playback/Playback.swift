import StrataLog
import StrataModel
import StrataSystem

/// Plays a store's history again as its clients saw it. A read-only store begins as it was after some commit, and
/// advances as later commits are played, step by step or without pauses. Devices that listen receive the notifications
/// that their subscriptions would have sent, and change tokens are those that clients were given then.
///
/// ```swift
/// let playback = try Playback(of: store, from: 1_200)
/// let box = try playback.store.listen(as: phone)
/// playback.play()
/// while let push = await box.next() { print(playback.offset, push.subscriptionID) }
/// ```
/// Any number of playbacks can run at the same time, also while the store is written to. If commits that are still to
/// be played are compacted, the playback ends with an error.
public final class Playback: Sendable {
    /// The state that playing a commit changes.
    private struct PlaybackState {
        var cursor: (any CommitCursor)?
        /// The next commit; nil if it has not been looked up.
        var coming: Commit?
    }

    /// The size of commits that are played together.
    private static let bytesTogether = 4 << 20

    private struct State {
        var task: Task<Void, Never>?
        /// The number of the current task; a task with an earlier number was paused, and plays nothing.
        var turn = 0
        var failure: (any Error)?
        var isClosed = false
        /// True if the last commit to play has been played.
        var isAtEnd = false
        var onPlay: @Sendable () -> Void = {}
    }

    /// The store as far as it has been played; it is read-only.
    public let store: Store
    /// The commit that the playback begins with; the commits after it are played.
    public let first: UInt64
    /// The last commit to play; nil to continue with commits that are written later.
    public let last: UInt64?
    private let reel = Lock(PlaybackState())
    private let state = Lock(State())
    private let waiters = EndWaiters()

    /// - Parameters:
    ///   - store: is only read.
    ///   - first: the offset of the state to begin with; by default the earliest one.
    ///   - last: the last commit to play; by default the store's last commit.
    ///   - follows: true to continue with commits that are written later.
    /// - Throws: ``StrataError`` `outOfRange` for offsets that the log does not have.
    public init(
        of store: Store, from first: UInt64? = nil, through last: UInt64? = nil, follows: Bool = false
    ) throws {
        let end = store.offset
        let begin = first ?? store.log.floor.offset
        guard last.map({ $0 >= begin && $0 <= end }) ?? (begin <= end) else {
            throw StrataError(
                .outOfRange, "The store does not have the commits to play back.",
                .init(expected: "\(store.log.floor.offset) to \(end)", found: "\(begin) to \(last ?? end)"))
        }
        self.store = try store.played(from: begin, through: last ?? end)
        (self.first, self.last) = (begin, last ?? (follows ? nil : end))
    }

    deinit { try? close() }

    /// The last commit played, or the one that the playback began with.
    public var offset: UInt64 { store.offset }

    /// The time of that commit, in microseconds since 1970; nil if the playback begins with an empty store.
    public var time: Int64? { store.log.endTime }

    /// True if all commits to play have been played.
    public var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

    // MARK: Playing

    /// Plays the next commit, and returns when the listening devices have been notified; nil if there is none.
    @discardableResult
    public func step() throws -> PlayedCommit? { try steps(atMost: 1).first }

    /// Plays the next commits, up to a number of them, and returns when the listening devices have been notified;
    /// none at the end. This is much faster than playing each by itself, but the states in between are not seen: a
    /// notification has the values of the last one.
    package func steps(atMost limit: Int) throws -> [PlayedCommit] {
        try reel.withLock { reel in
            if isClosed { throw StrataError(.closed, "The playback has been closed.") }
            return try playNext(&reel, atMost: limit)
        }
    }

    /// Plays commit after commit without pauses, until the end or ``pause()``.
    public func play() {
        state.withLock { state in
            guard state.task == nil, !state.isClosed, state.failure == nil else { return }
            state.turn += 1
            // The task holds the playback only while it plays, so that a playback without other references ends.
            state.task = Task { [turn = state.turn, weak self] in
                while let next = self?.playNext(turn) {
                    switch next {
                    case .now: await Task.yield()
                    case .later(let store): await store.waitForLaterCommits()
                    }
                }
            }
        }
    }

    /// Stops playing until ``play()``.
    public func pause() {
        let task = state.withLock { state in
            state.turn += 1
            defer { state.task = nil }
            return state.task
        }
        task?.cancel()
        // Waits for a commit that is being played.
        reel.withLock { _ in }
    }

    /// Returns when all commits to play have been played, ``close()`` was called, or the task is canceled.
    ///
    /// - Throws: the error that ended ``play()``.
    public func waitForEnd() async throws {
        await waiters.wait(past: .max - 1) { self.state.withLock { $0.isAtEnd || $0.isClosed || $0.failure != nil } }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Ends the playback: its store can no longer be read, and devices receive nothing more.
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

    /// Sets a closure that is called when a played commit is in the store. The closure may not play.
    package func onPlay(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onPlay = body } }

    // MARK: The loop

    /// The time when to play on.
    private enum Next {
        case now
        case later(Store)
    }

    /// Plays the next commit, and returns when to play on; nil for never.
    private func playNext(_ turn: Int) -> Next? {
        do {
            return try reel.withLock { reel in
                guard state.withLock({ $0.turn == turn && !$0.isAtEnd }) else { return nil }
                if try playNext(&reel, atMost: 1).isEmpty { return isAtEnd ? nil : .later(store) }
                return .now
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

    private func playNext(_ reel: inout PlaybackState, atMost limit: Int) throws -> [PlayedCommit] {
        let commits = try comingTogether(&reel, atMost: limit)
        guard let final = commits.last else { return [] }
        do { try store.play(commits) } catch {
            // They are still to be played, and those before the one that cannot be are not held back.
            (reel.coming, reel.cursor) = (nil, nil)
            guard commits.count > 1 else { throw error }
            return try playNext(&reel, atMost: commits.count / 2)
        }
        let trees = store.snapshot().trees
        let played = try commits.map { try PlayedCommit($0, in: trees) }
        for _ in commits { state.withLock { $0.onPlay }() }
        if final.offset == last { setEnd() }
        waiters.wake(end: final.offset, isClosed: false)
        return played
    }

    /// Removes and returns the next commits, up to a number of them and to a size.
    private func comingTogether(_ reel: inout PlaybackState, atMost limit: Int) throws -> [Commit] {
        var commits: [Commit] = []
        var byteCount = 0
        while commits.count < limit, byteCount < Self.bytesTogether {
            // The end and errors are left to the next call, so that these commits are played first.
            guard let next = try commits.isEmpty ? coming(&reel) : try? following(&reel), next.offset <= last ?? .max
            else { break }
            reel.coming = nil
            commits.append(next)
            byteCount += next.payload.count
        }
        return commits
    }

    /// Returns the next commit; offsets may have gaps.
    private func coming(_ reel: inout PlaybackState) throws -> Commit? {
        if let coming = reel.coming { return coming }
        if isAtEnd { return nil }
        var next = try following(&reel)
        if next == nil {
            reel.cursor = try store.laterCommits()
            next = try following(&reel)
        }
        if let last, next.map({ $0.offset > last }) ?? (store.offset >= last) {
            setEnd()
            return nil
        }
        reel.coming = next
        return next
    }

    /// Reads on. After an error, the next call begins after the commits that were played, since a cursor may be past
    /// what it could not read.
    private func following(_ reel: inout PlaybackState) throws -> Commit? {
        do { return try reel.cursor?.next() } catch {
            reel.cursor = nil
            throw error
        }
    }

    private func setEnd() {
        state.withLock { $0.isAtEnd = true }
        waiters.wake(end: .max, isClosed: true)
    }

    // MARK: Played commits

    /// The commits as they are played, from the first one on. The sequence ends when all have been played.
    ///
    /// ```swift
    /// for try await commit in playback.commits { print(commit.offset, commit.actor?.user ?? "") }
    /// ```
    public var commits: Commits { Commits(playback: self) }

    /// A playback's commits as they are played. A slow reader misses none.
    public struct Commits: AsyncSequence, Sendable {
        public typealias Element = PlayedCommit

        let playback: Playback

        public func makeAsyncIterator() -> Iterator { Iterator(playback: playback, seen: playback.first) }

        public struct Iterator: AsyncIteratorProtocol {
            let playback: Playback
            var seen: UInt64
            var cursor: (any CommitCursor)?

            /// - Throws: the error that ended ``Playback/play()``, or that keeps a commit from being read.
            public mutating func next() async throws -> PlayedCommit? {
                while true {
                    if playback.offset > seen {
                        if cursor == nil { cursor = try playback.store.log.read(from: seen + 1) }
                        if let commit = try cursor?.next() {
                            seen = commit.offset
                            return try PlayedCommit(commit, in: playback.store.snapshot().trees)
                        }
                        cursor = nil
                    }
                    guard try await playback.waitForMore(past: seen) else { return nil }
                }
            }
        }
    }

    /// Returns false if no further commits will follow.
    private func waitForMore(past offset: UInt64) async throws -> Bool {
        await waiters.wait(past: offset) { self.offset > offset || self.isOver }
        if self.offset > offset, !isClosed { return true }
        if let failure = state.withLock({ $0.failure }) { throw failure }
        return false
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }
    private var isOver: Bool { state.withLock { $0.isAtEnd || $0.isClosed || $0.failure != nil } }
}
