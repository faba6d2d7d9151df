import Foundation
import StrataModel
import StrataStore

extension CKDatabase {
    /// What has become of zones, and where to go on.
    public struct ChangePage: Sendable {
        /// The zones that are new, were changed, or have changes of their records.
        public let modifications: [DatabaseChange.Modification]
        /// The zones that are gone.
        public let deletions: [DatabaseChange.Deletion]
        /// Where to go on after it.
        public let changeToken: CKServerChangeToken
    }

    /// The zones of a private or shared database that change, page after page, as soon as they do; what has changed
    /// since the token comes first. Nobody polls.
    ///
    /// ```swift
    /// for await change in database.changes(after: token) {
    ///     let page = try change.get()
    ///     for zone in page.modifications { try await fetch(zone.zoneID) }
    ///     token = page.changeToken
    /// }
    /// ```
    ///
    /// It ends when the task is cancelled or the store is closed; and with an error where the feed cannot be read, as
    /// with a token that has expired.
    public func changes(after changeToken: CKServerChangeToken?) -> Changes {
        Changes(call: call, token: changeToken)
    }

    /// A database's changes as they happen.
    public struct Changes: AsyncSequence, Sendable {
        /// A page of changes, or why there are no more.
        public typealias Element = Result<ChangePage, CKError>
        /// Errors are elements.
        public typealias Failure = Never

        let call: DatabaseCall
        let token: CKServerChangeToken?

        /// Begins after the token.
        public func makeAsyncIterator() -> Iterator { Iterator(call: call, token: token) }

        /// Gives page after page.
        public struct Iterator: AsyncIteratorProtocol {
            let call: DatabaseCall
            var token: CKServerChangeToken?
            var hasEnded = false

            init(call: DatabaseCall, token: CKServerChangeToken?) {
                self.call = call
                self.token = token
            }

            /// The next page that has anything; nil at the end.
            public mutating func next() async -> Element? { await next(isolation: nil) }

            /// As the other `next`.
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
                        let seen = try FeedToken(decoding: page.token.bytes).position.offset
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
