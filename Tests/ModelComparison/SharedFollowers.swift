import ReferenceModel
import StrataModel
import StrataStore

/// Members who follow shared zones, each from some point in the past.
package struct SharedFollowers {
    private struct ZoneToken {
        var user: String
        var zone: ReferenceSharedView.Zone
        var token: FeedToken
        var commit: UInt64
    }
    private struct DatabaseToken {
        var user: String
        var token: FeedToken
        var commit: UInt64
    }

    private var zoneTokens: [ZoneToken] = []
    private var databaseTokens: [DatabaseToken] = []

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
        let earlier = databaseTokens.filter { $0.user == user && $0.commit <= now }
        for old in earlier.suffix(recent) + earlier.prefix(oldest) { try check(old, expected, store, pageSize) }
        let page = try databaseChanges(user, nil, store, pageSize)
        let view = ReferenceSharedView(expected.state, user: user)
        guard Set(page.changed) == Set(view.zones.keys.map(expected.zone)), page.deleted.isEmpty else {
            throw Divergence(description: "\(user) has \(page), not \(view.zones.keys), from nil")
        }
        databaseTokens.append(.init(user: user, token: page.token, commit: now))
    }

    /// Asks for the records of a user's zones with some earlier tokens, and with none.
    package mutating func followZones(
        of user: String, _ expected: ReferenceStore, _ store: Store, _ pageSize: Int, recent: Int, oldest: Int
    ) throws {
        let now = expected.commitCount
        let earlier = zoneTokens.filter { $0.user == user && $0.commit <= now }
        for old in earlier.suffix(recent) + earlier.prefix(oldest) { try check(old, expected, store, pageSize) }
        for (zone, records) in ReferenceSharedView(expected.state, user: user).zones {
            let page = try zoneChanges(user, zone, nil, expected, store, pageSize)
            guard page.changed == Set(records.keys), page.deleted.isEmpty else {
                throw Divergence(description: "\(user) has \(page) in \(zone), not \(records.keys), from nil")
            }
            zoneTokens.append(.init(user: user, zone: zone, token: page.token, commit: now))
        }
    }

    private struct DatabasePage {
        var changed: [ZoneID] = []
        var deleted: [ZoneID] = []
        var token: FeedToken
    }
    private struct ZonePage {
        var changed: Set<ReferenceName> = []
        var deleted: Set<ReferenceName> = []
        var token: FeedToken
    }

    private func databaseChanges(
        _ user: String, _ token: FeedToken?, _ store: Store, _ size: Int
    ) throws -> DatabasePage {
        var page = try store.databaseChanges(
            in: DatabaseID(.shared), since: token, limit: size, as: Actor(user: user))
        var all = DatabasePage(token: page.token)
        while true {
            all.changed += page.changed
            all.deleted += page.deleted.map(\.zone)
            all.token = page.token
            guard page.moreComing else { return all }
            page = try store.databaseChanges(
                in: DatabaseID(.shared), since: page.token, limit: size, as: Actor(user: user))
        }
    }

    private func zoneChanges(
        _ user: String, _ zone: ReferenceSharedView.Zone, _ token: FeedToken?, _ expected: ReferenceStore,
        _ store: Store,
        _ size: Int
    ) throws -> ZonePage {
        let id = expected.zone(zone)
        var next = token
        var all: ZonePage?
        while true {
            let page = try store.zoneChanges(
                of: id, in: DatabaseID(.shared), since: next, limit: size, as: Actor(user: user))
            var found = all ?? ZonePage(token: page.token)
            let changed = page.changed.map { ReferenceName($0.id.name) }
            let deleted = page.deleted.map { ReferenceName($0.id.name) }
            // A later page has what became of a record that an earlier one said was deleted.
            found.deleted.subtract(changed)
            found.changed.formUnion(changed)
            found.deleted.formUnion(deleted)
            found.token = page.token
            guard page.moreComing else { return found }
            all = found
            next = page.token
        }
    }

    private func check(_ old: DatabaseToken, _ expected: ReferenceStore, _ store: Store, _ size: Int) throws {
        let wanted = expected.expectedZones(of: old.user, since: old.commit)
        let page: DatabasePage
        do {
            page = try databaseChanges(old.user, old.token, store, size)
        } catch let refusal as Refusal where refusal.code == .changeTokenExpired && Self.isCompacted(old.token, store) {
            return
        }
        let deleted = Set(page.deleted)
        let allowed = Set(wanted.gone.map(expected.zone))
        let touched = Set(wanted.touched.map(expected.zone))
        guard Set(page.changed).subtracting(touched) == Set(wanted.modified.map(expected.zone)).subtracting(touched),
            Set(page.changed).isSuperset(of: wanted.modified.map(expected.zone)),
            deleted.isSuperset(of: wanted.deleted.map(expected.zone)), deleted.isSubset(of: allowed)
        else {
            throw Divergence(
                description: "\(old.user) has \(page) since commit \(old.commit) of the model, not \(wanted)")
        }
    }

    private static func isCompacted(_ token: FeedToken, _ store: Store) -> Bool {
        token.position.offset < store.log.floor.offset
    }

    private func check(_ old: ZoneToken, _ expected: ReferenceStore, _ store: Store, _ size: Int) throws {
        let isThere = ReferenceSharedView(expected.state, user: old.user).zones[old.zone] != nil
        let wanted = expected.expectedFeed(of: old.zone, to: old.user, since: old.commit)
        do {
            let page = try zoneChanges(old.user, old.zone, old.token, expected, store, size)
            guard isThere, let wanted else {
                throw Divergence(
                    description: "\(old.user) has \(page) of \(old.zone) since commit \(old.commit), which has expired")
            }
            guard page.changed == wanted.modified, page.deleted.isSuperset(of: wanted.deleted),
                page.deleted.isSubset(of: wanted.gone)
            else {
                throw Divergence(
                    description: """
                        \(old.user) has \(page.changed.sorted()) and without \(page.deleted.sorted()) of \(old.zone) \
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
                    description: "\(old.user) is answered \(refusal) for \(old.zone) since commit \(old.commit)")
            }
        }
    }
}
