import Foundation
import StrataModel
import StrataStore
import StrataSystem

extension CloudStore {
    /// Replays the store's history as its clients saw it: from a commit on, at the original speed, at another speed, or
    /// step by step.
    ///
    /// ```swift
    /// let playback = try store.playback(from: 1_200, speed: .multiplied(10), maximumPause: .seconds(5))
    /// let phone = playback.container(user: "anna", device: "phone")
    /// playback.play()
    /// for await push in phone.remoteNotifications { print(playback.offset, push.subscriptionID) }
    /// ```
    /// The store's clock measures the time between commits: with a ``ManualClock``, a playback continues when the clock
    /// is advanced.
    ///
    /// - Parameters:
    ///   - offset: The state to begin with; the earliest available one by default.
    ///   - last: The last commit to play; by default the current last commit.
    ///   - speed: The treatment of the pauses between commits.
    ///   - maximumPause: The longest pause between two commits, however far apart they were.
    ///   - follows: True to continue with commits that are written later.
    /// - Throws: `CKError`: `invalidArguments` for offsets after the end, for offsets whose history was compacted, and
    ///   for an invalid speed.
    public func playback(
        from offset: UInt64? = nil, through last: UInt64? = nil, speed: PlaybackSpeed = .original,
        maximumPause: Duration? = nil, follows: Bool = false
    ) throws -> Playback {
        do {
            let reel = try StrataStore.Playback(
                of: store, from: offset, through: last, speed: speed.engine, maximumPause: maximumPause,
                follows: follows, clock: options.playbackClock)
            return Playback(reel, try CloudStore(options, at: nil) { reel.store })
        } catch let error as StrataError where [.outOfRange, .invalidArgument].contains(error.code) {
            throw CKError(.invalidArguments, message: "The playback is not possible: \(error)", cause: error)
        } catch { throw CKError(engine: error) }
    }

    /// The speed of a playback.
    public enum PlaybackSpeed: Sendable, Hashable {
        /// With the original pauses between commits.
        case original
        /// Faster by this factor; slower for a factor below 1.
        case multiplied(Double)
        /// Without pauses.
        case unpaced
        /// Only on demand: each call of ``Playback/step()`` plays one commit.
        case stepped

        fileprivate var engine: StrataStore.PlaybackSpeed {
            switch self {
            case .original: .original
            case .multiplied(let factor): .multiplied(factor)
            case .unpaced: .unpaced
            case .stepped: .stepped
            }
        }
    }

    /// A replay of a store's history. Its containers read the state of each time, follow feeds with the tokens that
    /// clients had, and receive the notifications that subscriptions sent. Requests that would change something fail
    /// with `serverRejectedRequest`.
    public final class Playback: Sendable {
        /// A replayed commit.
        public struct Commit: Sendable, Hashable {
            public let offset: UInt64
            public let date: Date
            /// The user that made it; nil for the service.
            public let user: String?
            public let device: String?

            fileprivate init(_ commit: PlayedCommit) {
                offset = commit.offset
                date = Date(microseconds: commit.time)
                user = commit.actor?.user
                device = commit.actor?.device
            }
        }

        /// The store as far as it has been played; read-only.
        public let store: CloudStore
        private let reel: StrataStore.Playback

        fileprivate init(_ reel: StrataStore.Playback, _ store: CloudStore) {
            (self.reel, self.store) = (reel, store)
            // No console event announces here that an account is usable again.
            reel.onPlay { [weak store] in store?.faults.wakeAll() }
        }

        /// Returns the container of a user's device at that time; the same container for the same user and device.
        public func container(user: String?, device: String = "default") -> CKContainer {
            store.container(user: user, device: device)
        }

        /// The last commit that was played, or the one that the playback began with.
        public var offset: UInt64 { reel.offset }

        /// The date of that commit; nil if the playback begins with an empty store.
        public var date: Date? { reel.time.map { Date(microseconds: $0) } }

        /// True if everything has been played.
        public var isAtEnd: Bool { reel.isAtEnd }

        /// Plays commit after commit, each when it is due, until the end or ``pause()``. Has no effect on a stepped
        /// playback.
        public func play() { reel.play() }

        /// Stops playing until ``play()``, which continues within the interrupted pause.
        public func pause() { reel.pause() }

        /// Plays the next commit now, and returns when the listening devices have been notified of it; nil at the end.
        @discardableResult
        public func step() throws -> Commit? {
            do { return try reel.step().map { Commit($0) } } catch { throw CKError(engine: error) }
        }

        /// Returns once everything has been played, ``close()`` was called, or the task is canceled.
        ///
        /// - Throws: `CKError`: the error that ended ``play()``, such as history that was compacted in the meantime.
        public func waitForEnd() async throws {
            do { try await reel.waitForEnd() } catch { throw CKError(engine: error) }
        }

        /// The commits as they are played, from the first one on; ends when all have been played. A slow reader misses
        /// none.
        ///
        /// ```swift
        /// for try await commit in playback.commits { print(commit.offset, commit.user ?? "") }
        /// ```
        public var commits: Commits { Commits(commits: reel.commits) }

        /// A playback's commits as they are played.
        public struct Commits: AsyncSequence, Sendable {
            public typealias Element = Commit

            fileprivate let commits: StrataStore.Playback.Commits

            /// Returns an iterator that begins with the first commit.
            public func makeAsyncIterator() -> Iterator { Iterator(commits: commits.makeAsyncIterator()) }

            /// Iterates over the commits.
            public struct Iterator: AsyncIteratorProtocol {
                fileprivate var commits: StrataStore.Playback.Commits.Iterator

                /// Returns the next commit; nil at the end.
                ///
                /// - Throws: `CKError`: the error that ended ``Playback/play()``.
                public mutating func next() async throws -> Commit? {
                    do { return try await commits.next().map { Commit($0) } } catch { throw CKError(engine: error) }
                }
            }
        }

        /// Ends the playback: calls of its containers fail from now on, and devices get no more notifications.
        public func close() throws {
            do { try reel.close() } catch { throw CKError(engine: error) }
            try store.close()
        }
    }
}

extension CloudStore.Options {
    /// The clock that measures the pauses.
    var playbackClock: any PlaybackClock {
        switch clock {
        case is CloudStore.SystemClock: SteadyClock()
        case let clock as CloudStore.ManualClock: ManualPlaybackClock(clock: clock)
        default: OtherPlaybackClock(clock: clock)
        }
    }
}

private struct ManualPlaybackClock: PlaybackClock {
    let clock: CloudStore.ManualClock

    func nowMicroseconds() -> Int64 { clock.microseconds }

    func sleep(untilMicroseconds time: Int64) async throws {
        await clock.sleep(untilMicroseconds: time)
        try Task.checkCancellation()
    }
}

/// A clock that does not report when it moves, so it is polled. Its time never goes back: when the program's clock
/// does, this one continues from where it was, so nothing waits for an earlier time to come again.
private final class OtherPlaybackClock: PlaybackClock {
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
