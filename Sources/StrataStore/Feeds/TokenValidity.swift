import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// The store's answer to a token, without any changes fetched (docs/feeds.md §3).
package struct TokenValidity: Sendable {
    /// The zone of the token; nil for a database's token, and for a zone that the store does not know.
    package internal(set) var zone: ZoneID?
    /// The reason why the token would not be served; nil if it would be.
    package internal(set) var refusal: Refusal?
}

extension Store {
    /// Returns whether a token would be served now, and the token's zone. Nothing is fetched.
    ///
    /// ```swift
    /// let standing = try store.standing(of: store.token(from: bytes))
    /// print(standing.zone?.name ?? "a database", standing.refusal?.message ?? "is served")
    /// ```
    package func standing(of token: FeedToken) throws -> TokenValidity {
        try catchUp(with: token)
        let snapshot = snapshot()
        return try snapshot.reading { trees in
            var standing = TokenValidity()
            if token.store == engine.storeID, case .zone(let ordinal, _) = token.feed {
                let owned = try snapshot.names.resolver(in: trees).zone(ordinal)
                standing.zone = try owned.map {
                    try token.database.scope == .shared
                        ? snapshot.names.sharedZone(ordinal, in: trees) : ZoneID($0.name)
                }
            }
            do {
                guard token.database.scope != .public else { throw Refusal.publicChanges }
                let place = try snapshot.names.place(
                    token.database, Actor(user: token.database.owner), in: trees)
                if case .zone = token.feed, let zone = standing.zone {
                    let shared =
                        token.database.scope == .shared ? try place.sharedZone(zone, trees, snapshot.names) : nil
                    let (ordinal, row) = try place.existingZone(zone, trees, snapshot.names)
                    try ZoneFeed(
                        engine: engine, snapshot: snapshot, place: place, trees: trees, zone: ordinal, shared: shared,
                        origin: try snapshot.origin(place, zone, desiredKeys: nil, trees), row: row, limit: 1
                    ).check(token)
                } else if token.store == engine.storeID, token.feed != .database {
                    throw FeedToken.expired("the zone does not exist in the store")
                } else {
                    try token.check(
                        place, token.feed, engine, expiredBefore: try trees.tokenExpiry(of: place.ordinal),
                        end: engine.durableOffset(of: trees))
                }
            } catch let refusal as Refusal {
                standing.refusal = refusal
            }
            return standing
        }
    }
}

extension Refusal {
    static var publicChanges: Refusal {
        Refusal(.badDatabase, "The public database does not track its changes.", rule: .changesOfPublicDatabase)
    }
}
