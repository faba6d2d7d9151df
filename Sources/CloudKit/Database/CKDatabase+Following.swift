import StrataModel
import StrataStore

extension CKDatabase {
    /// A page of zone changes, with the token of its end.
    public struct ChangePage: Sendable {
        /// The zones that are new or were changed, or whose records have changes.
        public let modifications: [DatabaseChange.Modification]
        /// The deleted zones.
        public let deletions: [DatabaseChange.Deletion]
        /// The token that continues after this page.
        public let changeToken: CKServerChangeToken
    }

    /// Returns the changed zones of a private or shared database, page by page, as soon as they change. Changes since
    /// the token come first. The sequence does not poll.
    ///
    /// ```swift
    /// for await change in database.changes(after: token) {
    ///     let page = try change.get()
    ///     for zone in page.modifications { try await fetch(zone.zoneID) }
    ///     token = page.changeToken
    /// }
    /// ```
    ///
    /// The sequence ends when the task is canceled or the store is closed. It also ends, with an error, when the feed
    /// cannot be read, for example because the token has expired.
    public func changes(after changeToken: CKServerChangeToken?) -> Changes {
        Changes(call: call, token: changeToken)
    }

    /// The changes of a database as they happen.
    public struct Changes: AsyncSequence, Sendable {
        /// A page of changes, or the error that ends the sequence.
        public typealias Element = Result<ChangePage, CKError>
        /// The sequence never throws: errors are elements.
        public typealias Failure = Never

        let call: DatabaseCall
        let token: CKServerChangeToken?

        /// Returns an iterator that starts after the token.
        public func makeAsyncIterator() -> Iterator { Iterator(call: call, token: token) }

        /// An iterator over pages of changes.
        public struct Iterator: AsyncIteratorProtocol {
            let call: DatabaseCall
            var token: CKServerChangeToken?
            var hasEnded = false

            /// Waits for the next page with changes and returns it; nil at the end.
            public mutating func next() async -> Element? { await next(isolation: nil) }

            /// The same as the other `next`.
            public mutating func next(isolation actor: isolated (any Swift.Actor)?) async -> Element? {
                while !hasEnded {
                    do {
                        let page = try await call.databaseChanges(since: token, limit: 0)
                        token = page.token
                        if !page.modifications.isEmpty || !page.deletions.isEmpty {
                            return .success(
                                ChangePage(
                                    modifications: page.modifications, deletions: page.deletions,
                                    changeToken: page.token))
                        }
                        if page.moreComing { continue }
                        let store = try call.client.opened().store
                        let seen = try store.token(from: page.token.bytes).position.offset
                        if try await !store.waitForChange(past: seen) { hasEnded = true }
                    } catch {
                        hasEnded = true
                        return .failure(CKError(engine: error))
                    }
                }
                return nil
            }
        }
    }
}
