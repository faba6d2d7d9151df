import ReferenceModel
import StrataModel
import StrataQuery
import StrataTree
import StrataViews

@testable import StrataStore

/// Compares what each user finds in the zones that others share with them with what the plain model says.
struct SharedComparison {
    let expected: ReferenceStore
    let found: StoreSnapshot

    private func divergence(_ user: String, _ what: String) -> Divergence {
        Divergence(description: "\(user), as a member, \(what)")
    }

    private func zone(_ zone: ReferenceSharedView.Zone) -> ZoneID { expected.zone(zone) }

    func run(_ versions: inout VersionTable, _ shares: inout ShareTable) throws {
        for user in RequestGenerator.users where expected.state.accounts[user]?.status ?? .available == .available {
            let view = ReferenceSharedView(expected.state, user: user)
            let actor = Actor(user: user)
            let zones = try found.zones(in: DatabaseID(.shared), as: actor)
            guard Set(zones.map(\.id)) == Set(view.zones.keys.map(zone)), zones.count == view.zones.count else {
                throw divergence(user, "finds the zones \(zones.map(\.id)), not \(view.zones.keys)")
            }
            for owner in RequestGenerator.users {
                let database = expected.state.databases[DatabaseID(.private, owner: owner)]
                for zone in database?.zones.values.filter(\.isAlive) ?? [] {
                    let id = ReferenceSharedView.Zone(owner: owner, name: zone.name)
                    try compare(view.zones[id], zone, self.zone(id), actor, &versions, &shares)
                }
            }
        }
    }

    /// A record that is not visible has the same answer as one that does not exist.
    private func compare(
        _ visible: [ReferenceName: ReferenceRecord]?, _ zone: ReferenceZone, _ id: ZoneID, _ actor: Actor,
        _ versions: inout VersionTable, _ shares: inout ShareTable
    ) throws {
        let names = zone.records.keys.sorted() + ["never"]
        let ids = names.map { RecordID($0.text, zone: id) }
        let answers = try found.records(ids, in: DatabaseID(.shared), as: actor)
        guard case .failure(let missing)? = answers.last else { throw divergence(actor.user, "finds what is not") }
        for (name, answer) in zip(names, answers) {
            switch (visible?[name], answer) {
            case (nil, .failure(let refusal)):
                guard refusal.code == missing.code, refusal.serverVersion == nil else {
                    throw divergence(actor.user, "is answered \(refusal) for the invisible \(name) of \(id)")
                }
            case (let wanted?, .success(let record)):
                guard versions.learn(wanted.version, record.version),
                    try ReferenceName(record.type) == wanted.type
                else { throw divergence(actor.user, "finds \(record) for \(wanted)") }
                if let sharing = wanted.sharing {
                    guard let state = try record.shareState, shares.learn(sharing, state) else {
                        throw divergence(actor.user, "finds \(try record.shareState as Any), not \(sharing)")
                    }
                }
            default:
                throw divergence(
                    actor.user, "sees \(name) of \(id): \(visible?[name] != nil), and is answered \(answer)")
            }
        }
    }

    /// A query of each type finds the visible records of the type, whatever the size of its pages.
    func compareQueries(_ store: Store) throws {
        for user in RequestGenerator.users where expected.state.accounts[user]?.status ?? .available == .available {
            for (zone, records) in ReferenceSharedView(expected.state, user: user).zones {
                for type in ["Note", "Task", "cloudkit.share"] {
                    let wanted = records.filter { $0.value.type == ReferenceName(type) }.keys.sorted()
                    let names = try queried(type, self.zone(zone), store, Actor(user: user))
                    guard names == wanted else {
                        throw divergence(user, "queries \(names) of \(type) in \(zone), not \(wanted)")
                    }
                }
            }
        }
    }

    private func queried(_ type: String, _ zone: ZoneID, _ store: Store, _ actor: Actor) throws -> [ReferenceName] {
        var names: [ReferenceName] = []
        var question = Question.new(Query(type, where: .constant(true), zone: zone))
        do {
            while true {
                let page = try store.query(question, in: DatabaseID(.shared), limit: 2, as: actor)
                names += page.matches.map { ReferenceName($0.id.name) }
                guard let cursor = page.cursor else { return names.sorted() }
                question = .continued(cursor)
            }
        } catch let error as Refusal where error.code == .unknownItem { return [] }
    }
}

extension ReferenceStore {
    /// Returns the ID of a zone for members of its shares.
    fileprivate func zone(_ zone: ReferenceSharedView.Zone) -> ZoneID {
        ZoneID(zone.name.text, owner: userRecordName(zone.owner))
    }
}

/// Members who follow shared zones, each from some point in the past.
struct SharedFollowers {
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

    /// Takes tokens now, and asks with earlier ones what has changed since.
    mutating func follow(_ expected: ReferenceStore, _ store: Store, _ pageSize: Int) throws {
        let now = expected.commitCount
        for user in RequestGenerator.users where expected.state.accounts[user]?.status ?? .available == .available {
            let databases = databaseTokens.filter { $0.user == user && $0.commit <= now }
            for old in databases.suffix(6) + databases.prefix(2) { try check(old, expected, store, pageSize) }
            let page = try databaseChanges(user, nil, store, pageSize)
            let view = ReferenceSharedView(expected.state, user: user)
            guard Set(page.changed) == Set(view.zones.keys.map(expected.zone)), page.deleted.isEmpty else {
                throw Divergence(description: "\(user) has \(page), not \(view.zones.keys), from nil")
            }
            databaseTokens.append(.init(user: user, token: page.token, commit: now))
            let zones = zoneTokens.filter { $0.user == user && $0.commit <= now }
            for old in zones.suffix(8) + zones.prefix(3) { try check(old, expected, store, pageSize) }
            for (zone, records) in view.zones {
                let page = try zoneChanges(user, zone, nil, expected, store, pageSize)
                guard page.changed == Set(records.keys), page.deleted.isEmpty else {
                    throw Divergence(description: "\(user) has \(page) in \(zone), not \(records.keys), from nil")
                }
                zoneTokens.append(.init(user: user, zone: zone, token: page.token, commit: now))
            }
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
            found.changed.formUnion(page.changed.map { ReferenceName($0.id.name) })
            found.deleted.formUnion(page.deleted.map { ReferenceName($0.id.name) })
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
        guard Set(page.changed) == Set(wanted.modified.map(expected.zone)),
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
