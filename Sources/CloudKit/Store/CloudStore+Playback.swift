import Foundation
import StrataModel
import StrataReplay
import StrataStore
import StrataSystem

extension CloudStore {
    /// The store's history once more, as its clients saw it: from a commit on, at the speed that it had, at another, or
    /// step by step.
    ///
    /// ```swift
    /// let playback = try store.playback(from: 1_200, speed: .multiplied(10), maximumPause: .seconds(5))
    /// let phone = playback.container(user: "anna", device: "phone")
    /// playback.play()
    /// for await push in phone.remoteNotifications { print(playback.offset, push.subscriptionID) }
    /// ```
    /// The time between commits is measured by the store's clock: with a ``ManualClock`` a playback goes on when that
    /// is moved.
    ///
    /// - Parameters:
    ///   - offset: of the state to begin with; the earliest one that there is, if nothing is said.
    ///   - last: the last commit to play; the last one that there is now, if nothing is said.
    ///   - speed: how the pauses between commits are kept.
    ///   - maximumPause: longer it waits for no commit, however far apart they were.
    ///   - follows: whether to go on with commits that are still to be written.
    /// - Throws: `CKError`: `invalidArguments` for offsets behind the end, for such whose history was let go, and for a
    ///   speed that is none.
    public func playback(
        from offset: UInt64? = nil, through last: UInt64? = nil, speed: PlaybackSpeed = .original,
        maximumPause: Duration? = nil, follows: Bool = false
    ) throws -> Playback {
        do {
            let reel = try StrataReplay.Playback(
                of: store, from: offset, through: last, speed: speed.engine, maximumPause: maximumPause,
                follows: follows, clock: options.playbackClock)
            return Playback(reel, try CloudStore(options, at: nil) { reel.store })
        } catch let error as StrataError where [.outOfRange, .invalidArgument].contains(error.code) {
            throw CKError(.invalidArguments, message: "That cannot be played: \(error)", cause: error)
        } catch { throw CKError(engine: error) }
    }

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

        fileprivate var engine: StrataReplay.PlaybackSpeed {
            switch self {
            case .original: .original
            case .multiplied(let factor): .multiplied(factor)
            case .unpaced: .unpaced
            case .stepped: .stepped
            }
        }
    }

    /// A history that is played again. Its containers read what there was at each time, follow feeds with the tokens
    /// that clients had, and are told what subscriptions told them; whatever would change something is refused with
    /// `serverRejectedRequest`.
    public final class Playback: Sendable {
        /// A commit that has come again.
        public struct Commit: Sendable, Hashable {
            public let offset: UInt64
            public let date: Date
            /// Who made it; nil for the service.
            public let user: String?
            public let device: String?

            fileprivate init(_ commit: PlayedCommit) {
                offset = commit.offset
                date = Date(microseconds: commit.time)
                user = commit.actor?.user
                device = commit.actor?.device
            }
        }

        /// The store as far as it has been played, only to be read.
        public let store: CloudStore
        private let reel: StrataReplay.Playback

        fileprivate init(_ reel: StrataReplay.Playback, _ store: CloudStore) {
            (self.reel, self.store) = (reel, store)
            // Accounts that can be used again are no news of a console here.
            reel.onPlay { [weak store] in store?.disturbances.stir() }
        }

        /// A device of a user, as it was then; the same user and device are the same container.
        public func container(user: String?, device: String = "default") -> CKContainer {
            store.container(user: user, device: device)
        }

        /// The last commit that has been played, or the one that it began with.
        public var offset: UInt64 { reel.offset }

        /// When that commit was made; nil if it begins with nothing.
        public var date: Date? { reel.time.map { Date(microseconds: $0) } }

        /// Whether all has been played that is to be.
        public var isAtEnd: Bool { reel.isAtEnd }

        /// Plays commit after commit, each when it is due, until the end or ``pause()``. One that is stepped stays
        /// where it is.
        public func play() { reel.play() }

        /// Plays nothing more until ``play()``, which goes on within the pause that it was in.
        public func pause() { reel.pause() }

        /// Plays the next commit now, and returns when the devices that listen have been told of it; nil if there is
        /// none.
        @discardableResult
        public func step() throws -> Commit? {
            do { return try reel.step().map { Commit($0) } } catch { throw CKError(engine: error) }
        }

        /// Returns once all has been played that is to be, or ``close()`` was called, or the task is cancelled.
        ///
        /// - Throws: `CKError`: what ended ``play()``, such as history that was let go meanwhile.
        public func waitForEnd() async throws {
            do { try await reel.waitForEnd() } catch { throw CKError(engine: error) }
        }

        /// The commits, from the first one on, as they are played; it ends when all have been. Whoever reads slowly
        /// misses none.
        ///
        /// ```swift
        /// for try await commit in playback.commits { print(commit.offset, commit.user ?? "") }
        /// ```
        public var commits: Commits { Commits(commits: reel.commits) }

        /// A playback's commits as they are played.
        public struct Commits: AsyncSequence, Sendable {
            public typealias Element = Commit

            fileprivate let commits: StrataReplay.Playback.Commits

            /// Begins with the first.
            public func makeAsyncIterator() -> Iterator { Iterator(commits: commits.makeAsyncIterator()) }

            /// Gives commit after commit.
            public struct Iterator: AsyncIteratorProtocol {
                fileprivate var commits: StrataReplay.Playback.Commits.Iterator

                /// The next commit; nil at the end.
                ///
                /// - Throws: `CKError`: what ended ``Playback/play()``.
                public mutating func next() async throws -> Commit? {
                    do { return try await commits.next().map { Commit($0) } } catch { throw CKError(engine: error) }
                }
            }
        }

        /// Ends it: calls of its containers fail from now on, and devices get nothing any more.
        public func close() throws {
            do { try reel.close() } catch { throw CKError(engine: error) }
            try store.close()
        }
    }
}

extension CloudStore.Options {
    /// By what pauses are measured.
    fileprivate var playbackClock: any PlaybackClock {
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

/// One that says nothing when it moves, and is asked again and again.
private struct OtherPlaybackClock: PlaybackClock {
    private static let askedMilliseconds = 10
    let clock: any CloudStore.Clock

    func nowMicroseconds() -> Int64 { clock.now.microseconds ?? 0 }

    func sleep(untilMicroseconds time: Int64) async throws {
        repeat {
            try await Task.sleep(for: .milliseconds(nowMicroseconds() < time ? Self.askedMilliseconds : 0))
        } while nowMicroseconds() < time
    }
}
