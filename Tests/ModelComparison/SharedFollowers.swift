import ReferenceModel
import StrataModel
import StrataStore

/// Members who follow shared zones, each from some point in the past.
package struct SharedFollowers {
    private struct Held {
        var user: String
        /// Nil for the feed of the database.
        var zone: ReferenceSharedView.Zone?
        var token: FeedToken
        var commit: UInt64
    }

    private var tokens: [Held] = []

    package init() {}

    /// Takes tokens now, and asks with earlier ones what has changed since.
    package mutating func follow(_ expected: ReferenceStore, _ store: Store, _ pageSize: Int) throws {
        for user in expected.readers {
            try followDatabase(of: user, expected, store, pageSize, recent: 6, oldest: 2)
            try followZones(of: user, expected, store, pageSize, recent: 8, oldest: 3)
        }
    }

    /// Asks for the zones of a user with some earlier tokens, and with none.
    package mutating func followDatabase(
        of user: String, _ expected: ReferenceStore, _ store: Store, _ pageSize: Int, recent: Int, oldest: Int
    ) throws {
        let now = expected.commitCount
        let earlier = tokens.filter { $0.user == user && $0.zone == nil && $0.commit <= now }
        for old in earlier.suffix(recent) + earlier.prefix(oldest) { try checkZones(old, expected, store, pageSize) }
        let page = try databaseChanges(user, nil, store, pageSize)
        let view = ReferenceSharedView(expected.state, user: user)
        guard page.changed == Set(view.zones.keys.map(expected.zone)), page.deleted.isEmpty else {
            throw Divergence(description: "\(user) has \(page), not \(view.zones.keys), from nil")
        }
        tokens.append(.init(user: user, token: page.token, commit: now))
    }

    /// Asks for the records of a user's zones with some earlier tokens, and with none.
    package mutating func followZones(
        of user: String, _ expected: ReferenceStore, _ store: Store, _ pageSize: Int, recent: Int, oldest: Int
    ) throws {
        let now = expected.commitCount
        let earlier = tokens.filter { $0.user == user && $0.zone != nil && $0.commit <= now }
        for old in earlier.suffix(recent) + earlier.prefix(oldest) {
            if let zone = old.zone { try checkRecords(of: zone, old, expected, store, pageSize) }
        }
        for (zone, records) in ReferenceSharedView(expected.state, user: user).zones {
            let page = try zoneChanges(user, expected.zone(zone), nil, store, pageSize)
            guard page.changed == Set(records.keys), page.deleted.isEmpty else {
                throw Divergence(description: "\(user) has \(page) in \(zone), not \(records.keys), from nil")
            }
            tokens.append(.init(user: user, zone: zone, token: page.token, commit: now))
        }
    }

    /// All pages of a feed as one.
    private struct Pages<ID: Hashable> {
        var changed: Set<ID> = []
        var deleted: Set<ID> = []
        var token: FeedToken

        /// A later page has what became of an ID that an earlier one said was deleted.
        mutating func append(changed new: [ID], deleted gone: [ID], token next: FeedToken) {
            deleted.subtract(new)
            changed.formUnion(new)
            deleted.formUnion(gone)
            token = next
        }
    }

    private func databaseChanges(
        _ user: String, _ token: FeedToken?, _ store: Store, _ size: Int
    ) throws -> Pages<ZoneID> {
        var next = token
        var all: Pages<ZoneID>?
        while true {
            let page = try store.databaseChanges(
                in: DatabaseID(.shared), since: next, limit: size, as: Actor(user: user))
            var pages = all ?? Pages(token: page.token)
            pages.append(changed: page.changed, deleted: page.deleted.map(\.zone), token: page.token)
            guard page.moreComing else { return pages }
            (all, next) = (pages, page.token)
        }
    }

    private func zoneChanges(
        _ user: String, _ zone: ZoneID, _ token: FeedToken?, _ store: Store, _ size: Int
    ) throws -> Pages<ReferenceName> {
        var next = token
        var all: Pages<ReferenceName>?
        while true {
            let page = try store.zoneChanges(
                of: zone, in: DatabaseID(.shared), since: next, limit: size, as: Actor(user: user))
            var pages = all ?? Pages(token: page.token)
            pages.append(
                changed: page.changed.map { ReferenceName($0.id.name) },
                deleted: page.deleted.map { ReferenceName($0.id.name) }, token: page.token)
            guard page.moreComing else { return pages }
            (all, next) = (pages, page.token)
        }
    }

    private func checkZones(_ old: Held, _ expected: ReferenceStore, _ store: Store, _ size: Int) throws {
        let wanted = expected.expectedZones(of: old.user, since: old.commit)
        let page: Pages<ZoneID>
        do {
            page = try databaseChanges(old.user, old.token, store, size)
        } catch let refusal as Refusal where refusal.code == .changeTokenExpired && Self.isCompacted(old.token, store) {
            return
        }
        let allowed = Set(wanted.gone.map(expected.zone))
        let touched = Set(wanted.touched.map(expected.zone))
        let modified = Set(wanted.modified.map(expected.zone))
        guard page.changed.isSuperset(of: modified), page.changed.isSubset(of: modified.union(touched)),
            page.deleted.isSuperset(of: wanted.deleted.map(expected.zone)), page.deleted.isSubset(of: allowed)
        else {
            throw Divergence(
                description: "\(old.user) has \(page) since commit \(old.commit) of the model, not \(wanted)")
        }
    }

    private static func isCompacted(_ token: FeedToken, _ store: Store) -> Bool {
        token.position.offset < store.log.floor.offset
    }

    private func checkRecords(
        of zone: ReferenceSharedView.Zone, _ old: Held, _ expected: ReferenceStore, _ store: Store, _ size: Int
    ) throws {
        let isThere = ReferenceSharedView(expected.state, user: old.user).zones[zone] != nil
        let wanted = expected.expectedFeed(of: zone, to: old.user, since: old.commit)
        do {
            let page = try zoneChanges(old.user, expected.zone(zone), old.token, store, size)
            guard isThere, let wanted else {
                throw Divergence(
                    description: "\(old.user) has \(page) of \(zone) since commit \(old.commit), which has expired")
            }
            guard page.changed == wanted.modified, page.deleted.isSuperset(of: wanted.deleted),
                page.deleted.isSubset(of: wanted.gone)
            else {
                throw Divergence(
                    description: """
                        \(old.user) has \(page.changed.sorted()) and without \(page.deleted.sorted()) of \(zone) \
                        since commit \(old.commit) of the model, not \(wanted)
                        """)
            }
        } catch let refusal as Refusal {
            switch refusal.code {
            case .zoneNotFound where !isThere: return
            case .changeTokenExpired where isThere:
                guard wanted == nil || wanted?.mayExpire == true || Self.isCompacted(old.token, store) else {
                    fallthrough
                }
            default:
                throw Divergence(
                    description: "\(old.user) is answered \(refusal) for \(zone) since commit \(old.commit)")
            }
        }
    }
}
