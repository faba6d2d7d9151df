import Foundation

extension NotificationCenter {
    /// Returns the notifications of a name, from the moment at which the iterator is made.
    ///
    /// - Parameter object: The object whose notifications are wanted; nil for those of all objects.
    public func notifications(named name: Notification.Name, object: (any AnyObject & Sendable)? = nil) -> Notifications
    {
        Notifications(center: self, name: name, object: object)
    }

    /// The notifications of a name as they are posted. None is missed while an iterator exists.
    // Foundation's center may be used from any thread, but is not declared so here.
    public struct Notifications: AsyncSequence, @unchecked Sendable {
        fileprivate let center: NotificationCenter
        fileprivate let name: Notification.Name
        fileprivate let object: (any AnyObject & Sendable)?

        public func makeAsyncIterator() -> Iterator {
            let (stream, continuation) = AsyncStream.makeStream(of: Posted.self)
            let observer = center.addObserver(forName: name, object: object, queue: nil) { note in
                continuation.yield(Posted(note: note))
            }
            let observation = Observation(center: center, observer: observer)
            continuation.onTermination = { _ in observation.end() }
            return Iterator(posted: stream.makeAsyncIterator())
        }

        /// Iterates over the notifications.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var posted: AsyncStream<Posted>.Iterator

            /// Returns the next notification; nil if the task is canceled.
            public mutating func next() async -> Notification? { await posted.next()?.note }

            /// Returns the next notification; nil if the task is canceled.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Notification? {
                await posted.next(isolation: actor)?.note
            }
        }
    }

    // A notification belongs to its receiver, as with Foundation's own observers.
    fileprivate struct Posted: @unchecked Sendable { let note: Notification }

    // An observer is only handed back to the center, from any thread.
    private struct Observation: @unchecked Sendable {
        let center: NotificationCenter
        let observer: any NSObjectProtocol

        func end() { center.removeObserver(observer) }
    }
}
