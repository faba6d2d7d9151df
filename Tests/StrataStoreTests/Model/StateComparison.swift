import ModelComparison
import ReferenceModel
import StrataLog
import StrataModel
import StrataTree
import StrataViews

@testable import StrataStore

/// Compares all that the plain model has with what a store's state has.
struct StateComparison {
    private let expected: ReferenceState
    private let found: StoreSnapshot

    init(_ expected: ReferenceState, _ found: StoreSnapshot) {
        self.expected = expected
        self.found = found
    }

    func run(_ versions: inout VersionTable, _ shares: inout ShareTable) throws {
        for user in RequestGenerator.users {
            try compareAccount(of: user)
            let isAvailable = expected.accounts[user].map { $0.status == .available } ?? true
            // Somebody has to look where the user may not.
            let actor = isAvailable ? Actor(user: user) : .service
            for reader in [user, ""] { try compareReading(of: reader) }
            for scope in [InternedName.Scope.private, .public] {
                let id = DatabaseID(scope, owner: scope == .public ? "" : user)
                let database = expected.databases[id]
                try compare(
                    database ?? ReferenceDatabase(), isAvailable ? DatabaseID(scope) : id, actor, &versions, &shares)
            }
            guard isAvailable else { continue }
            for scope in InternedName.Scope.allCases { try compareSubscriptions(DatabaseID(scope), actor) }
        }
    }

    private func compareAccount(of user: String) throws {
        let wanted = expected.accounts[user] ?? ReferenceAccount()
        let ordinal = try found.trees.ordinal(of: .user(user))
        let account = try ordinal.map { try found.trees.account(of: $0) } ?? Account()
        guard wanted.status == account.status, wanted.quota == account.quota, wanted.person == account.person else {
            throw Divergence(description: "account of \(user): \(wanted) and \(account)")
        }
        let own = ordinal == nil ? [] : [UserAddress(.recordName, try found.recordName(of: user))]
        for address in wanted.person.addresses + own {
            let holder = try found.user(at: address)
            guard holder?.name == user, holder?.person == wanted.person else {
                throw Divergence(description: "\(address) of \(user) leads to \(holder as Any)")
            }
        }
        for address in RequestGenerator.addresses where !wanted.person.addresses.contains(address) {
            guard try found.user(at: address)?.name != user else {
                throw Divergence(description: "\(address) leads to \(user), who does not have it")
            }
        }
        let privately = expected.databases[DatabaseID(.private, owner: user)]
        let database = try ordinal.flatMap { try found.trees.ordinal(of: .database(.private, owner: $0)) }
        let used = try database.map { try found.trees.usedBytes(of: $0) } ?? 0
        let hasShares = privately?.zones.values.contains { !$0.shares.isEmpty } ?? false
        guard Int(used) == privately?.usedBytes ?? 0 || hasShares else {
            throw Divergence(description: "\(user) uses \(privately?.usedBytes ?? 0) bytes, and \(used)")
        }
        guard wanted.status != .available else { return }
        let code: Refusal.Code =
            wanted.status == .temporarilyUnavailable ? .accountTemporarilyUnavailable : .notAuthenticated
        let refusal = Result { try found.zones(in: DatabaseID(.private), as: Actor(user: user)) }.refusal
        guard refusal?.code == code else {
            throw Divergence(description: "\(user), who is \(wanted.status), reads \(refusal as Any)")
        }
    }

    /// Whom grants let read the records of the public database, whatever the state of the account.
    private func compareReading(of user: String) throws {
        guard !expected.grants.isEmpty, let zone = expected.databases[DatabaseID(.public)]?.zones[.defaultZone] else {
            return
        }
        for (name, record) in zone.records {
            let id = RecordID(name.text, zone: ZoneID("_defaultZone"))
            let result = Result { try found.record(id, in: DatabaseID(.public), as: Actor(user: user)) }
            let mayRead = expected.mayRead(record, user)
            guard mayRead ? result.refusal == nil : result.refusal?.rule == .readGrants else {
                throw Divergence(description: "\(user) may read \(name): \(mayRead), and is answered \(result)")
            }
        }
    }

    private func compareSubscriptions(_ id: DatabaseID, _ actor: Actor) throws {
        let database = expected.databases[DatabaseID(id.scope, owner: id.scope == .public ? "" : actor.user)]
        let wanted = database?.subscriptions[actor.user]?.values.map(\.content).sorted { $0.id < $1.id } ?? []
        let kept = try found.subscriptions(in: id, as: actor)
        guard kept == wanted else { throw Divergence(description: "subscriptions to \(id): \(wanted) and \(kept)") }
    }

    private func compare(
        _ database: ReferenceDatabase, _ id: DatabaseID, _ actor: Actor, _ versions: inout VersionTable,
        _ shares: inout ShareTable
    ) throws {
        let living = database.zones.values.filter(\.isAlive)
        let zones = try found.zones(in: id, as: actor)
        let names = Set(living.map(\.name)).union([.defaultZone])
        guard Set(zones.map { ReferenceName($0.id.name) }) == names, zones.count == names.count else {
            throw Divergence(description: "zones of \(id): \(names) and \(zones.map(\.id.name))")
        }
        for zone in zones {
            guard let expected = database.zones[ReferenceName(zone.id.name)] else { continue }
            try compare(expected, zone, id, actor, &versions, &shares)
        }
        for zone in database.zones.values where !zone.isAlive {
            let refusal = Result { try found.zone(ZoneID(zone.name.text), in: id, as: actor) }.refusal
            let code: Refusal.Code = zone.ending == .purged ? .userDeletedZone : .zoneNotFound
            guard refusal?.code == code,
                refusal?.didResetEncryptedData == (zone.ending == .encryptedDataReset)
            else { throw Divergence(description: "zone \(zone) answers \(refusal as Any)") }
        }
    }

    private func compare(
        _ expected: ReferenceZone, _ zone: Zone, _ id: DatabaseID, _ actor: Actor, _ versions: inout VersionTable,
        _ shares: inout ShareTable
    ) throws {
        guard versions.learn(expected.version, zone.version), expected.capabilities == zone.capabilities,
            expected.encryptionScope == zone.encryptionScope, Int(zone.recordCount) == expected.records.count
        else { throw Divergence(description: "zone \(expected) and \(zone)") }
        let ids = expected.records.keys.sorted().map { RecordID($0.text, zone: ZoneID(zone.id.name)) }
        let isPublic = id.scope == .public
        for (id, result) in zip(ids, try found.records(ids, in: id, as: actor)) {
            guard let record = expected.records[ReferenceName(id.name)] else { continue }
            if isPublic, actor != .service, !self.expected.mayRead(record, actor.user) { continue }
            switch result {
            case .failure(let refusal): throw Divergence(description: "\(id.name) is not there: \(refusal)")
            case .success(let found): try compare(record, found, actor, &versions, &shares)
            }
        }
    }

    private func compare(
        _ expected: ReferenceRecord, _ record: Record, _ actor: Actor, _ versions: inout VersionTable,
        _ shares: inout ShareTable
    ) throws {
        if let sharing = expected.sharing, actor != .service {
            guard let state = try record.shareState, shares.learn(sharing, state) else {
                throw Divergence(
                    description: "share \(record.id.name): \(sharing)\nand \(try record.shareState as Any)")
            }
        }
        var fields: [ReferenceName: FieldValue] = [:]
        for (key, value) in try record.fields { fields[ReferenceName(key)] = value.withoutZones }
        guard versions.learn(expected.version, record.version), try ReferenceName(record.type) == expected.type,
            fields == expected.fields.mapValues(\.withoutZones),
            try record.parent.map({ ReferenceName($0) }) == expected.parent,
            try record.share.map({ ReferenceName($0) }) == expected.share, record.created == expected.created,
            record.modified == expected.modified, try record.createdBy == expected.createdBy,
            try record.modifiedBy == expected.modifiedBy, try record.modifiedWith == expected.modifiedWith
        else {
            throw Divergence(
                description: """
                    record \(record.id.name): \(expected)
                    and \(try record.type) \(fields) parent \(try record.parent as Any) \(record.created) \
                    share \(try record.share as Any) \
                    \(record.modified) \(try record.createdBy) \(try record.modifiedBy) \(try record.modifiedWith) \
                    \(record.version)
                    """)
        }
    }

    // MARK: Feeds

    func compareFeeds(_ log: any EventLog, _ versions: inout VersionTable) throws {
        for (id, database) in expected.databases {
            let owner = try id.owner.isEmpty ? 0 : found.trees.ordinal(of: .user(id.owner)) ?? 0
            guard let ordinal = try found.trees.ordinal(of: .database(id.scope, owner: owner)) else { continue }
            for zone in database.zones.values where zone.isAlive {
                let name = InternedName.Name.zone(database: ordinal, owner: owner, zone.name.text)
                guard let zoneOrdinal = try found.trees.ordinal(of: name) else {
                    throw Divergence(description: "zone \(zone.name) has no ordinal")
                }
                try compareFeed(zone, zoneOrdinal, log, &versions)
            }
        }
    }

    private func compareFeed(
        _ zone: ReferenceZone, _ ordinal: UInt64, _ log: any EventLog, _ versions: inout VersionTable
    ) throws {
        let start = versions.store(zone.incarnation)
        var found: [[String]] = []
        var offset: UInt64 = 0
        for touch in try log.touches(zone: ordinal, after: start.offset - 1, limit: .max).touches {
            let version = Version(offset: touch.offset, eventIndex: touch.eventIndex)
            guard version > start, touch.kind == .recordSaved || touch.kind == .recordDeleted else { continue }
            let text = (touch.kind == .recordSaved ? "saved " : "deleted ") + String(decoding: touch.key, as: UTF8.self)
            if touch.offset == offset { found[found.count - 1].append(text) } else { found.append([text]) }
            offset = touch.offset
        }
        var expected: [[String]] = []
        offset = 0
        for change in zone.changes {
            let text = (change.kind == .saved ? "saved " : "deleted ") + change.record.text
            if change.version.offset == offset {
                expected[expected.count - 1].append(text)
            } else {
                expected.append([text])
            }
            offset = change.version.offset
        }
        // Within a commit the order of deletions is the model's own.
        guard expected.map({ $0.sorted() }) == found.map({ $0.sorted() }) else {
            throw Divergence(description: "feed of \(zone.name): \(expected)\nand \(found)")
        }
    }
}

extension Result {
    var refusal: Refusal? {
        if case .failure(let error) = self { error as? Refusal } else { nil }
    }
}
