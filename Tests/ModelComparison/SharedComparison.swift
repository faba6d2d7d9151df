import ReferenceModel
import StrataModel
import StrataQuery
import StrataStore

/// Compares what each user finds in the zones that others share with them with what the plain model says.
package struct SharedComparison {
    private let expected: ReferenceStore
    private let found: StoreSnapshot

    package init(expected: ReferenceStore, found: StoreSnapshot) {
        self.expected = expected
        self.found = found
    }

    private func divergence(_ user: String, _ what: String) -> Divergence {
        Divergence(description: "\(user), as a member, \(what)")
    }

    package func run(_ versions: inout VersionTable, _ shares: inout ShareTable) throws {
        for user in expected.readers {
            let view = ReferenceSharedView(expected.state, user: user)
            let zones = try found.zones(in: DatabaseID(.shared), as: Actor(user: user))
            guard Set(zones.map(\.id)) == Set(view.zones.keys.map(expected.zone)), zones.count == view.zones.count
            else { throw divergence(user, "finds the zones \(zones.map(\.id)), not \(view.zones.keys)") }
            for owner in RequestGenerator.users {
                let database = expected.state.databases[DatabaseID(.private, owner: owner)]
                for zone in database?.zones.values.filter(\.isAlive) ?? [] {
                    let id = ReferenceSharedView.Zone(owner: owner, name: zone.name)
                    try compare(view.zones[id], zone, expected.zone(id), Actor(user: user), &versions, &shares)
                }
            }
        }
    }

    /// Compares what a user fetches of one zone.
    package func compareFetch(
        of id: ReferenceSharedView.Zone, to user: String, _ versions: inout VersionTable, _ shares: inout ShareTable
    ) throws {
        guard let zone = expected.state.databases[DatabaseID(.private, owner: id.owner)]?.zones[id.name] else { return }
        let visible = ReferenceSharedView(expected.state, user: user, of: id).zones[id]
        try compare(visible, zone, expected.zone(id), Actor(user: user), &versions, &shares)
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
                try compare(wanted, record, actor.user, &versions, &shares)
            default:
                throw divergence(
                    actor.user, "sees \(name) of \(id): \(visible?[name] != nil), and is answered \(answer)")
            }
        }
    }

    private func compare(
        _ wanted: ReferenceRecord, _ record: Record, _ user: String, _ versions: inout VersionTable,
        _ shares: inout ShareTable
    ) throws {
        guard versions.learn(wanted.version, record.version), try ReferenceName(record.type) == wanted.type else {
            throw Divergence(
                description: """
                    \(user) finds \(record.id.name) with version \(record.version) of type \(try record.type), not \
                    \(versions.store(wanted.version)) of \(wanted.type)
                    """)
        }
        guard let sharing = wanted.sharing else { return }
        guard let state = try record.shareState, shares.learn(sharing, state) else {
            throw Divergence(description: "\(user) finds \(try record.shareState as Any), not \(sharing)")
        }
    }

    /// Compares the records of a zone, and their values, as those find them whose database it is in. The service looks
    /// where the account of its user is not available.
    package func compareHome(
        _ zone: ReferenceZone, in id: DatabaseID, _ versions: inout VersionTable, _ shares: inout ShareTable
    ) throws {
        guard zone.isAlive else { return }
        let user = expected.readers.first { id.scope == .public || $0 == id.owner }
        let actor = user.map { Actor(user: $0) } ?? .service
        let database = user == nil ? id : DatabaseID(id.scope)
        let zones = try found.zones(in: database, as: actor)
        guard let home = zones.first(where: { ReferenceName($0.id.name) == zone.name }),
            versions.learn(zone.version, home.version), Int(home.recordCount) == zone.records.count
        else { throw Divergence(description: "\(actor.user) finds another zone than \(zone) in \(id)") }
        let names = zone.records.keys.sorted()
        let ids = names.map { RecordID($0.text, zone: ZoneID(zone.name.text)) }
        for (name, answer) in zip(names, try found.records(ids, in: database, as: actor)) {
            guard var wanted = zone.records[name] else { continue }
            let record = try answer.get()
            if actor == .service { wanted.sharing = nil }
            try compare(wanted, record, actor.user, &versions, &shares)
            var fields: [ReferenceName: FieldValue] = [:]
            for (key, value) in try record.fields { fields[ReferenceName(key)] = value.withoutZones }
            guard fields == wanted.fields.mapValues(\.withoutZones),
                try record.parent.map({ ReferenceName($0) }) == wanted.parent
            else { throw Divergence(description: "\(actor.user) finds \(fields) in \(name), not \(wanted)") }
        }
    }

    // MARK: Queries

    package static let types = ["Note", "Task", ShareState.recordType]

    /// A query of each type finds the visible records of the type, whatever the size of its pages.
    package func compareQueries(_ store: Store) throws {
        for user in expected.readers {
            for zone in ReferenceSharedView(expected.state, user: user).zones.keys {
                for type in Self.types { try compareQuery(type, of: zone, to: user, store) }
            }
        }
    }

    /// Compares a query of one type; where nothing is visible, the zone is refused.
    package func compareQuery(
        _ type: String, of zone: ReferenceSharedView.Zone, to user: String, _ store: Store
    ) throws {
        let records = ReferenceSharedView(expected.state, user: user, of: zone).zones[zone]
        let wanted = records?.filter { $0.value.type == ReferenceName(type) }.keys.sorted() ?? []
        let names: [ReferenceName]
        do {
            names = try queried(type, expected.zone(zone), store, Actor(user: user))
        } catch is Refusal where records == nil { return }
        guard names == wanted else {
            throw divergence(user, "queries \(names) of \(type) in \(zone), not \(wanted)")
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
    /// The users of whom the service lets read anything.
    package var readers: [String] {
        RequestGenerator.users.filter { state.accounts[$0]?.status ?? .available == .available }
    }

    /// Returns the ID of a zone for members of its shares.
    package func zone(_ zone: ReferenceSharedView.Zone) -> ZoneID {
        ZoneID(zone.name.text, owner: userRecordName(zone.owner))
    }
}
