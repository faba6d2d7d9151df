import StrataLog
import StrataModel
import StrataStore

/// Reads the feed of a database, or of one of its zones, as a client does.
struct FeedReading {
    enum Page {
        case database(DatabaseFeedPage)
        case zone(ZoneFeedPage)

        private var parts: (token: FeedToken, moreComing: Bool, changed: Int, deleted: Int) {
            switch self {
            case .database(let page): (page.token, page.moreComing, page.changed.count, page.deleted.count)
            case .zone(let page): (page.token, page.moreComing, page.changed.count, page.deleted.count)
            }
        }

        var token: FeedToken { parts.token }
        var moreComing: Bool { parts.moreComing }
        var changedCount: Int { parts.changed }
        var deletedCount: Int { parts.deleted }
    }

    var store: Store
    let database: DatabaseID
    /// Nil for the feed of the database.
    let zone: ZoneID?
    let actor: Actor
    /// 0 lets the store choose.
    var limit = 0

    /// - Throws: ``Refusal`` if a client would be refused.
    func page(since token: FeedToken?) throws -> Page {
        guard let zone else {
            return .database(try store.databaseChanges(in: database, since: token, limit: limit, as: actor))
        }
        return .zone(try store.zoneChanges(of: zone, in: database, since: token, limit: limit, as: actor))
    }

    /// Calls `body` with each page, until it returns false or the feed ends.
    func forEachPage(since token: FeedToken?, _ body: (Page) throws -> Bool) throws {
        var token = token
        while true {
            let page = try page(since: token)
            guard try body(page), page.moreComing else { return }
            token = page.token
        }
    }

    /// Returns the token of a client that has received everything up to an offset and nothing after it; nil if the zone
    /// did not exist then.
    ///
    /// - Throws: ``Refusal`` if the database or the zone does not exist now.
    func token(at offset: UInt64, in access: StateAccess) throws -> FeedToken? {
        var token = try presentToken()
        let log = try access.log()
        if case .zone(_, let life) = token.feed, offset >= log.floor.offset, offset < life.offset {
            return try earlierToken(at: offset, in: access)
        }
        // A token outside the log's range is refused, whatever its chain value.
        let isKnown = (log.floor.offset...log.end.offset).contains(offset)
        token.position = Position(offset: offset, chain: isKnown ? try log.chain(at: offset) : 0)
        return token
    }

    /// Returns the token of a client that has received everything.
    func presentToken() throws -> FeedToken {
        var reading = self
        reading.limit = 1
        var token = try reading.page(since: nil).token
        token.progress = .whole
        return token
    }

    /// Looks before the zone's current life, since the zone may have had an earlier one.
    private func earlierToken(at offset: UInt64, in access: StateAccess) throws -> FeedToken? {
        var past = self
        past.store = try access.past(at: offset)
        defer { try? past.store.close() }
        do { return try past.presentToken() } catch let refusal as Refusal
            where [.zoneNotFound, .userDeletedZone].contains(refusal.code)
        { return nil }
    }
}
