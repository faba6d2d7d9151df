import StrataModel

extension Store {
    /// Returns the records of a zone that have changed since a token, or all existing records for nil (docs/feeds.md).
    ///
    /// ```swift
    /// let page = try store.zoneChanges(of: ZoneID("Notes"), in: DatabaseID(.private), since: token, as: anna)
    /// for note in page.changed { cache[note.id] = note }
    /// for deletion in page.deleted { cache[deletion.id] = nil }
    /// token = page.token
    /// ```
    ///
    /// - Parameters:
    ///   - desiredKeys: nil for all.
    ///   - limit: 0 lets the store choose.
    /// - Throws: ``Refusal`` for a zone that does not exist or has no feed, and for a token that does not fit (B156,
    ///   B160, B161).
    public func zoneChanges(
        of zone: ZoneID, in database: DatabaseID, since token: FeedToken? = nil, desiredKeys: [String]? = nil,
        limit: Int = 0, as actor: Actor
    ) throws -> ZoneFeedPage {
        if zone.isDefault, database.scope != .shared {
            throw Refusal(
                .invalidArguments, "AppDefaultZone does not support getChanges call", rule: .changesOfDefaultZone)
        }
        let limit = try pageLimit(limit)
        try catchUp(with: token)
        let (page, offset) = try readingFeed { snapshot in
            try snapshot.reading { trees in
                let place = try snapshot.names.place(database, actor, in: trees)
                let shared = database.scope == .shared ? try place.sharedZone(zone, trees, snapshot.names) : nil
                let (ordinal, row) = try place.existingZone(zone, trees, snapshot.names)
                let id = shared?.id ?? ZoneID(zone.name)
                let feed = ZoneFeed(
                    engine: engine, snapshot: snapshot, place: place, trees: trees, zone: ordinal, shared: shared,
                    origin: try snapshot.origin(place, id, desiredKeys: desiredKeys, trees), row: row, limit: limit)
                try token.map(feed.check)
                var page =
                    if let shared, feed.isOfHierarchies {
                        try MemberFeed(feed: feed, zone: shared).page(since: token)
                    } else {
                        try feed.page(since: token)
                    }
                page.clientToken = try feed.clientToken(of: actor)
                return page
            }
        }
        auditFeedRead(
            of: zone, database, desiredKeys, by: actor, at: offset, since: token,
            count: page.changed.count + page.deleted.count, page.token, moreComing: page.moreComing)
        return page
    }
}

extension Store {
    /// Returns a page of a feed, and the offset of its state. If history that the state needs was removed in the
    /// meantime, reads a later state.
    func readingFeed<Page>(_ body: (StoreSnapshot) throws -> Page) throws -> (Page, offset: UInt64) {
        let floor = log.floor.offset
        let snapshot = snapshot()
        do { return (try body(snapshot), snapshot.offset) } catch let error as StrataError
            where error.code == .outOfRange
        {
            // Another process may have removed the history.
            let isNewer = try access == .readOnly && refresh()
            guard isNewer || log.floor.offset > floor else { throw error }
        }
        let newer = self.snapshot()
        return (try body(newer), newer.offset)
    }
}
