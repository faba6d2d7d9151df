import Foundation
import StrataModel
import StrataStore
import StrataSystem

extension CloudStore {
    /// Replays the store's history as its clients saw it: from a commit on, step by step or without pauses.
    ///
    /// ```swift
    /// let playback = try store.playback(from: 1_200)
    /// let phone = playback.container(user: "anna", device: "phone")
    /// playback.play()
    /// for await push in phone.remoteNotifications { print(playback.offset, push.subscriptionID) }
    /// ```
    /// - Parameters:
    ///   - offset: The state to begin with; the earliest available one by default.
    ///   - last: The last commit to play; by default the current last commit.
    ///   - follows: True to continue with commits that are written later.
    /// - Throws: `CKError`: `invalidArguments` for offsets after the end, and for offsets whose history was compacted.
    public func playback(
        from offset: UInt64? = nil, through last: UInt64? = nil, follows: Bool = false
    ) throws -> Playback {
        do {
            let reel = try StrataStore.Playback(of: store, from: offset, through: last, follows: follows)
            return Playback(reel, try CloudStore(options, at: nil) { reel.store })
        } catch let error as StrataError where error.code == .outOfRange {
            throw CKError(.invalidArguments, message: "The playback is not possible: \(error)", cause: error)
        } catch { throw CKError(engine: error) }
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

        /// Plays commit after commit without pauses, until the end or ``pause()``.
        public func play() { reel.play() }

        /// Stops playing until ``play()``.
        public func pause() { reel.pause() }

        /// Plays the next commit, and returns when the listening devices have been notified of it; nil at the end.
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
