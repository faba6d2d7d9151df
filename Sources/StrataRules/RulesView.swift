import StrataModel
import StrataSystem
import StrataViews

/// The state against which requests are judged: the folded state, with a cache of names and schemas.
///
/// It belongs to one fold and is dropped with it, because the ordinals that it interned may later be assigned to other
/// names.
///
/// ```swift
/// let view = RulesView(Fold(trees.fork()))
/// let decision = try rules.decide(request, view, context)
/// if case .commit(let payload) = decision.outcome { try view.fold.apply(payload, …); view.adopt(decision) }
/// ```
package final class RulesView {
    package let fold: Fold
    /// The secret that the rules draw for a state without one.
    var secrets = SecretSource()
    private var ordinals: [InternedName.Name: UInt64] = [:]
    private var schemas: [UInt64: [UInt32: SchemaField]] = [:]
    private var grants: [UInt64: [SchemaGrant]] = [:]
    private var accounts: [UInt64: Account] = [:]
    /// The names of the records of users that the state knows.
    private var recordNames: [UInt64: String] = [:]
    /// The bytes in use in the databases of users with a quota.
    private var usages: [UInt64: UInt64] = [:]
    /// Existing zones. The totals and last changes in their rows may be outdated.
    private var zones: [UInt64: ZoneRow] = [:]
    private var secret: StoreSecret?
    /// The rules stated last, once they have been read.
    private var rules: RulesStatedEvent?
    /// The bindings of the last requests: clients use the same types and keys again and again.
    private var cachedBindings: [SchemaBindings] = []
    /// The next ordinal of each namespace; 0 if not yet known.
    private var nextOrdinals: [UInt64] = Array(repeating: 0, count: Namespace.count)
    /// The number of entries at which a cache is cleared.
    private static let cachedNames = 1 << 17
    private static let maximumBindings = 8
    /// Bindings with more names are not cached, because comparing them takes longer than looking up the names.
    private static let cachedKeys = 64

    package init(_ fold: Fold) { self.fold = fold }

    /// Adopts the names and declarations of a decision whose commit has been applied to the fold.
    package func adopt(_ decision: Decision) {
        for interned in decision.names {
            ordinals[interned.name] = interned.ordinal
            nextOrdinals[interned.name.namespace.index] = interned.ordinal + 1
        }
        if let stated = decision.statedRules { rules = stated }
        if decision.changesAccounts { accounts.removeAll() }
        if !decision.keepsZones { zones.removeAll() }
        switch decision.usage {
        case .unknown: usages.removeAll()
        case .none: break
        case .grows(let database, let bytes):
            if let known = usages[database] { usages[database] = UInt64(max(0, Int(clamping: known) + bytes)) }
        }
        if !decision.changedTypes.isEmpty { cachedBindings.removeAll() }
        for type in decision.changedTypes {
            schemas[type] = nil
            grants[type] = nil
        }
    }

    func ordinal(of name: InternedName.Name) throws -> UInt64? {
        if let known = ordinals[name] { return known }
        guard let ordinal = try fold.fork.ordinal(of: name) else { return nil }
        if ordinals.count >= Self.cachedNames { ordinals.removeAll() }
        ordinals[name] = ordinal
        return ordinal
    }

    /// The row of a zone, whose totals and last change may be outdated.
    func zone(_ zone: UInt64, in database: UInt64) throws -> ZoneRow? {
        if let known = zones[zone] { return known }
        guard let row = try fold.fork.zoneRow(database, zone) else { return nil }
        if zones.count >= Self.cachedNames { zones.removeAll() }
        zones[zone] = row
        return row
    }

    /// True if the state has the store's secret.
    package var hasSecret: Bool { secret != nil || !fold.fork.isUnused(ViewTree.secrets) }

    /// The store's secret; the new one if the state has none yet.
    ///
    /// - Throws: ``StrataError`` if there is none.
    func storeSecret() throws -> StoreSecret {
        if let secret { return secret }
        secret = try fold.fork.secret()
        guard let found = secret ?? secrets.newSecret else { throw StoreSecret.missing }
        return found
    }

    /// Returns the rules stated last; nil if there are none.
    func statedRules() throws -> RulesStatedEvent? {
        if let rules { return rules }
        rules = try fold.fork.statedRules()
        rules?.original = nil
        return rules
    }

    /// The name of a user's own record, which is derived from the store's secret until it is recorded.
    func recordName(of user: String) throws -> String {
        guard let ordinal = try ordinal(of: .user(user)) else {
            return try nameOfNewRecord(of: user) ?? UserRecord.earlierName(of: user)
        }
        if let known = recordNames[ordinal] { return known }
        if recordNames.count >= Self.cachedNames { recordNames.removeAll() }
        let name = try fold.fork.recordedName(ofUser: ordinal) ?? UserRecord.earlierName(of: user)
        recordNames[ordinal] = name
        return name
    }

    /// The name that the next commit records for a new user; nil as long as commits record none.
    func nameOfNewRecord(of user: String) throws -> String? {
        guard hasSecret || secrets.recordsSecret else { return nil }
        if let name = try secrets.recordedName(user), try userName(ofRecord: name) == nil { return name }
        return try fold.fork.nameOfNewRecord(of: user, secret: storeSecret())
    }

    /// The stored account of a user; costs nothing as long as no account is stored.
    func account(of user: String) throws -> Account {
        guard !fold.fork.isUnused(ViewTree.users), let ordinal = try ordinal(of: .user(user)) else { return Account() }
        if let known = accounts[ordinal] { return known }
        let account = try fold.fork.account(of: ordinal)
        if accounts.count >= Self.cachedNames { accounts.removeAll() }
        accounts[ordinal] = account
        return account
    }

    /// The bytes of a database that count for its user's quota. Read once, then updated with the changes of such users.
    func usage(of database: UInt64) throws -> UInt64 {
        if database == 0 { return 0 }
        if let known = usages[database] { return known }
        let usage = try fold.whole().usedBytes(of: database)
        usages[database] = usage
        return usage
    }

    func nextOrdinal(_ namespace: Namespace) throws -> UInt64 {
        if nextOrdinals[namespace.index] == 0 {
            nextOrdinals[namespace.index] = try fold.fork.nameCount(namespace) + 1
        }
        return nextOrdinals[namespace.index]
    }

    func schema(of type: UInt64) throws -> [UInt32: SchemaField] {
        if let known = schemas[type] { return known }
        var fields: [UInt32: SchemaField] = [:]
        for field in try fold.fork.schema(of: type) { fields[field.field] = field }
        schemas[type] = fields
        return fields
    }

    /// The cached bindings of a request, or new ones.
    func schemaBindings(of names: RequestNames) throws -> SchemaBindings {
        let known = cachedBindings.first { $0.isOf(types: names.recordTypes, keys: names.keys) }
        return try known
            ?? SchemaBindings(names, ordinals: names.recordTypes.map { try ordinal(of: .recordType($0)) ?? 0 })
    }

    /// Caches bindings with new lookups, unless part of it exists only if the request is committed.
    func keep(_ schemaBindings: SchemaBindings) {
        guard schemaBindings.hasNews, schemaBindings.isOfState, schemaBindings.keys.count <= Self.cachedKeys,
            schemaBindings.types.count <= Self.cachedKeys
        else { return }
        let types = schemaBindings.types.map(\.name)
        cachedBindings.removeAll { $0.isOf(types: types, keys: schemaBindings.keyNames) }
        if cachedBindings.count >= Self.maximumBindings { cachedBindings.removeFirst() }
        cachedBindings.append(schemaBindings.kept)
    }

    /// The grants of a type, which apply to its records in the public database.
    func grants(of type: UInt64) throws -> [SchemaGrant] {
        if let known = grants[type] { return known }
        let effective = try fold.fork.grants(of: type)
        grants[type] = effective
        return effective
    }

    /// The number of UTF-8 bytes in a field's name.
    func keyBytes(_ field: UInt32) throws -> Int {
        try fold.fork.field(UInt64(field))?.utf8.count ?? 0
    }

    func record(_ key: RecordKey) throws -> StoredRecord? {
        try fold.withRecord(key) { bytes in
            let header = try RecordStateView(bytes, in: 0..<bytes.count).header()
            return StoredRecord(bytes: [UInt8](bytes), header: header)
        }
    }

    /// Looks up many records together, which takes less time than one after the other.
    func records(_ keys: [RecordKey]) throws -> [StoredRecord?] {
        var records: [StoredRecord?] = Array(repeating: nil, count: keys.count)
        try fold.withEach(keys) { index, bytes in
            guard let bytes else { return }
            let header = try RecordStateView(bytes, in: 0..<bytes.count).header()
            records[index] = StoredRecord(bytes: [UInt8](bytes), header: header)
        }
        return records
    }

    func header(_ key: RecordKey) throws -> RecordHeader? {
        try fold.withRecord(key) { try RecordStateView($0, in: 0..<$0.count).header() }
    }

    func exists(_ key: RecordKey) throws -> Bool { try fold.withRecord(key) { _ in } != nil }

    /// Returns the names of the records that hold a record as their parent, and of those that hold it with
    /// `deleteSelf`, each in order.
    func linkedRecords(to target: RecordKey) throws -> (children: [String], owned: [String]) {
        var links: (children: [String], owned: [String]) = ([], [])
        guard try fold.mayBeReferred(to: target) else { return links }
        try fold.whole().forEachSource(of: target, .parent, through: .deleting) { kind, name in
            let name = String(decoding: name, as: UTF8.self)
            if kind == .parent { links.children.append(name) } else { links.owned.append(name) }
            return true
        }
        return links
    }

    /// The names of the records that refer to a record of their zone, in order; at most `limit`.
    func sources(of target: RecordKey, _ kind: ReferenceKind, limit: Int = .max) throws -> [String] {
        var names: [String] = []
        guard limit > 0 else { return names }
        try fold.whole().forEachSource(of: target, kind) { name in
            names.append(String(decoding: name, as: UTF8.self))
            return names.count < limit
        }
        return names
    }
}

/// A record as stored before the request.
struct StoredRecord {
    var bytes: [UInt8]
    var header: RecordHeader

    /// True if the record's next event must be a full one.
    var isFullDue: Bool { header.eventsSinceFull >= RecordHeader.maximumEventsSinceFull }

    /// The name of the parent, held or loose; nil for none.
    func parent() throws -> String? {
        try bytes.withUnsafeBytes { bytes in
            let view = try RecordStateView(bytes, in: 0..<bytes.count)
            return try view.links().parent.map { try view.key($0).name }
        }
    }
}

extension SchemaBindings {
    /// The binding of a key; nil if the key is not bound yet.
    mutating func binding(of key: UInt32, in type: Int, _ view: RulesView) throws -> Binding? {
        switch types[type].bindings[key] {
        case .bound(let known): return known
        case .none: return nil
        case .unknown: break
        }
        hasNews = true
        var binding: Binding?
        if types[type].ordinal != 0, let field = try view.ordinal(of: .field(keyNames[Int(key) - 1])) {
            keys[Int(key) - 1].ordinal = UInt32(field)
            binding = try view.schema(of: types[type].ordinal)[UInt32(field)].map { Binding($0) }
        }
        types[type].bindings[key] = binding.map { .bound($0) } ?? .none
        if binding == nil { types[type].hasNewKeys = true }
        return binding
    }
}
