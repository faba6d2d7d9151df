import StrataModel
import StrataRules
import StrataStore
import StrataTree
import StrataViews

/// The state that a request was judged against, and its facts about what the request names.
struct ExplainedState {
    /// The store as of that state.
    let past: Store
    /// The store as it is now.
    let newest: Store
    let snapshot: StoreSnapshot
    let request: Request
    let actor: Actor
    /// The database of the request, with its owner named.
    let database: DatabaseID
    /// 0 for a database that the state does not have.
    private let databaseOrdinal: UInt64

    var trees: Snapshot { snapshot.trees }

    init(of request: Request, by actor: Actor, on past: Store, newest: Store) throws {
        (self.past, self.newest, self.request, self.actor) = (past, newest, request, actor)
        snapshot = past.snapshot()
        database = request.database.named(for: actor.user)
        databaseOrdinal = try snapshot.trees.ordinal(ofDatabase: database) ?? 0
    }

    /// Returns the ordinal of a zone, which in the shared database is one of its owner's.
    func ordinal(of zone: ZoneID) throws -> UInt64? { try trees.place(of: zone, in: database, as: actor)?.zone }

    /// Returns the ordinal of a zone; nil for a zone that was never written to, and for one of the shared database.
    func ordinal(ofZone name: String) throws -> UInt64? {
        database.scope == .shared ? nil : try ordinal(of: ZoneID(name))
    }

    /// Returns a zone of the shared database; nil if nothing in it was shared with the actor.
    func sharedZone(_ id: ZoneID) throws -> SharedZone? { try trees.sharedZone(id, with: actor) }

    // MARK: Facts

    func facts(ofWhole explanation: Explanation) throws -> [Explanation.Fact] {
        switch explanation.code {
        case .notAuthenticated?, .accountTemporarilyUnavailable?: try accountFacts()
        case .badDatabase?: [.init("the request named the \(database.scope) database")]
        default: []
        }
    }

    func facts(of item: Explanation.Item) throws -> [Explanation.Fact] {
        switch item.code {
        case .zoneNotFound?, .userDeletedZone?: try zoneFacts(item)
        case .unknownItem?: try item.zone == nil ? [] : deletionFacts(item)
        case .permissionFailure?: try database.scope == .shared ? sharingFacts(item) : permissionFacts(item)
        case .invalidArguments?: try schemaFacts(item)
        case .quotaExceeded?: try accountFacts()
        case .serverRejectedRequest?: try duplicateFacts(item)
        default: []
        }
    }

    private func accountFacts() throws -> [Explanation.Fact] {
        guard !actor.user.isEmpty else { return [.init("no one was signed in")] }
        guard let user = try trees.ordinal(of: .user(actor.user)) else { return [] }
        let account = try trees.account(of: user)
        var facts: [Explanation.Fact] = []
        let changed = try trees.accountVersion(of: user)?.offset
        if account.status != .available {
            facts.append(.init("the account of \(actor.user) was \(account.status)", by: changed))
        }
        if account.quota > 0 {
            facts.append(.init("the quota of \(actor.user) was \(account.quota) bytes", by: changed))
            facts.append(.init("\(try trees.usedBytes(of: databaseOrdinal)) bytes were in use"))
        }
        return facts
    }

    private func zoneFacts(_ item: Explanation.Item) throws -> [Explanation.Fact] {
        let name = item.zone?.name ?? item.name
        guard let ordinal = try ordinal(ofZone: name), let row = try trees.zoneRow(databaseOrdinal, ordinal) else {
            return [.init("no commit up to \(past.offset) had created the zone '\(name)'")]
        }
        switch row.status {
        case .alive:
            return [
                .init("the zone '\(name)' existed, but does not support the request", by: row.version.offset)
            ]
        case .deleted: return [.init("the zone '\(name)' was deleted", by: row.version.offset)]
        case .purged: return [.init("the zone '\(name)' was purged by its user", by: row.version.offset)]
        case .encryptedDataReset:
            return [.init("the zone '\(name)' was deleted when encrypted data was reset", by: row.version.offset)]
        }
    }

    private func deletionFacts(_ item: Explanation.Item) throws -> [Explanation.Fact] {
        guard let zone = item.zone, let ordinal = try ordinal(ofZone: zone.name) else { return [] }
        var last: UInt64?
        let key = RecordKey(zone: ordinal, name: item.name)
        try past.log.forEachTouch(of: key, after: newest.log.floor.offset, through: .max) { touch in
            if touch.kind == .recordDeleted { last = touch.offset }
        }
        if let last { return [.init("the record '\(item.name)' was deleted", by: last)] }
        let row = try trees.zoneRow(databaseOrdinal, ordinal)
        if let row, let base = item.base, base.offset < row.incarnation.offset {
            return [.init("the zone '\(zone.name)' was created again without its records", by: row.incarnation.offset)]
        }
        let floor = newest.log.floor.offset
        return [
            .init(
                floor > 0
                    ? "no commit after \(floor) had the record '\(item.name)'; earlier commits were compacted"
                    : "no commit up to \(past.offset) had created the record '\(item.name)'")
        ]
    }

    /// Returns the creator of the record, the roles to which the missing permission is granted, and those of the actor.
    private func permissionFacts(_ item: Explanation.Item) throws -> [Explanation.Fact] {
        var facts: [Explanation.Fact] = []
        let header = try storedHeader(item)
        if let header {
            facts.append(.init("the record '\(item.name)' was created by \(try trees.user(header.createdBy) ?? "")"))
        }
        guard let type = try type(of: item, header) else { return facts }
        let declared = try trees.declaration(of: type.ordinal)?.grants ?? []
        let changed = declared.isEmpty ? nil : try trees.declarationVersion(of: type.ordinal)?.offset
        if !declared.isEmpty {
            let grants = declared.map { "\($0.role) \($0.permissions.schemaNames)" }
            facts.append(.init("type \(type.name) grants \(grants.joined(separator: "; "))", by: changed))
        }
        guard database.scope == .public, !isSameText(type.name, UserRecord.type) else { return facts }
        let action: Action =
            item.zone == nil ? .read : item.list == .deletes ? .delete : header == nil ? .create : .change
        let wanted = action.permission
        let roles = try trees.grants(of: type.ordinal).filter { $0.permissions.contains(wanted) }.map(\.role)
        let holders = roles.isEmpty ? "no role" : roles.joined(separator: ", ") + " alone"
        facts.append(.init("\(wanted.schemaNames) on type \(type.name) was granted to \(holders)", by: changed))
        guard !actor.user.isEmpty, let user = try trees.ordinal(of: .user(actor.user)) else { return facts }
        let held = try trees.account(of: user).person.roles
        let text = held.isEmpty ? "no custom role" : held.joined(separator: ", ")
        let given = try trees.accountVersion(of: user)?.offset
        return facts + [.init("\(actor.user) was a member of \(text)", by: given)]
    }

    /// Returns the header of the stored record of an item; nil if there is none.
    func storedHeader(_ item: Explanation.Item) throws -> RecordHeader? {
        guard let zone = item.zone, let ordinal = try ordinal(of: zone) else { return nil }
        return try trees.withRecord(RecordKey(zone: ordinal, name: item.name)) {
            try RecordStateView($0, in: 0..<$0.count).header()
        }
    }

    /// Returns a fact for each key that is bound to another kind than the request sent.
    private func schemaFacts(_ item: Explanation.Item) throws -> [Explanation.Fact] {
        guard item.list == .saves, item.zone != nil, case .modifyRecords(let body) = request.content,
            let type = try type(of: item), let declared = try trees.declaration(of: type.ordinal)
        else { return [] }
        let version = try trees.declarationVersion(of: type.ordinal)
        var facts: [Explanation.Fact] = []
        for change in body.saves[item.index].fields {
            guard let key = request.names.key(change.field), let value = change.value,
                let field = try trees.ordinal(of: .field(key)),
                let bound = declared.fields.first(where: { UInt64($0.field) == field }), bound.kind != value.kind
            else { continue }
            facts.append(
                .init(
                    "'\(key)' of type \(type.name) was bound as \(bound.kind) but was sent as \(value.kind)",
                    by: version?.offset))
        }
        return facts
    }

    /// - Parameter stored: the header of the item's stored record, whose type a delete does not name.
    private func type(
        of item: Explanation.Item, _ stored: RecordHeader? = nil
    ) throws -> (name: String, ordinal: UInt64)? {
        var name: String?
        switch request.content {
        case .modifyRecords(let body) where item.list == .saves:
            name = request.names.recordType(body.saves[item.index].type)
        case .modifyRecords: name = try stored.map { try trees.text(.recordType, $0.type) }
        case .modifySubscriptions(let body) where item.list == .saves:
            name = request.names.recordType(body.saves[item.index].recordType)
        default: break
        }
        guard let name, let ordinal = try trees.ordinal(of: .recordType(name)) else { return nil }
        return (name, ordinal)
    }

    private func duplicateFacts(_ item: Explanation.Item) throws -> [Explanation.Fact] {
        var facts: [Explanation.Fact] = []
        guard let user = try trees.ordinal(of: .user(actor.user)) else { return [] }
        try trees.forEachSubscription(of: databaseOrdinal, user: user) { row in
            // The message has the ID of the subscription that was repeated.
            if item.message?.contains("'\(row.event.subscription.id)'") == true {
                facts.append(
                    .init("the subscription '\(row.event.subscription.id)' was saved", by: row.version.offset))
            }
            return true
        }
        return facts
    }
}
