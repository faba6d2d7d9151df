import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import Synchronization

/// The names, databases, zones and grants that readers of a store have looked up in any of its states.
///
/// Published names are never dropped, so they hold for every state. Databases, zones of members and grants hold as long
/// as the trees that they were read from.
final class Directory: Sendable {
    /// The grants of a record type.
    struct TypeGrants: Sendable {
        let grants: [SchemaGrant]
        let isUserType: Bool
        /// True if the records may be read by everybody, so that the reader does not matter.
        let isReadByAll: Bool
    }

    /// A database as a user on any device reads it. The service is not a user.
    private struct DatabaseKey: Hashable {
        let database: DatabaseID
        let user: ExactName
        let isService: Bool
    }

    private struct ZoneKey: Hashable {
        let member: UInt64
        let zone: ZoneID
    }

    private typealias Databases = Lookups<DatabaseKey, ResolvedDatabase>
    private typealias Zones = Lookups<ZoneKey, MemberZone>
    private typealias Grants = Lookups<UInt64, TypeGrants>

    private struct State {
        var ordinals: [InternedName.Name: UInt64] = [:]
        var names = NameTable()
        var count = 0
        /// The names of the records of users that have ordinals.
        var recordNames: [UInt64: String] = [:]
        var texts = KnownTexts()
        var databases = Databases()
        /// The zones of shared databases.
        var zones = Zones()
        var grants = Grants()
    }

    /// The number of names above which everything is forgotten and read again.
    private static let maximumCount = 1 << 17

    private let state = Lock(State())
    /// The secret of a store whose log has none yet.
    private let newSecret: StoreSecret?
    /// The number of texts that were ever added to ``knownTexts``.
    private let addedTexts = Atomic(0)

    init(newSecret: StoreSecret?) { self.newSecret = newSecret }

    /// Returns the database as the actor reads it. Once the database has been written to, the result never changes.
    /// Before that, which is always the case for most shared databases, it holds as long as no name gets an ordinal.
    ///
    /// - Throws: ``Refusal`` for an actor that may not read it.
    func place(_ database: DatabaseID, _ actor: Actor, in snapshot: Snapshot) throws -> ResolvedDatabase {
        if database.scope != .public { try requireAvailable(actor, in: snapshot) }
        let user = ExactName(text: actor.user)
        let key = DatabaseKey(database: database, user: user, isService: actor == .service)
        let known = state.withLock { $0.databases[key] }
        if let known, known.source == nil || known.source == Databases.Source(snapshot, ViewTree.ordinals) {
            return known.value
        }
        let place = try ResolvedDatabase(database, as: actor, self, in: snapshot)
        // The name of the record of an actor whom the state does not have may still be chosen.
        let isFinal = try place.ordinal != 0 && (actor.user.isEmpty || snapshot.ordinal(of: .user(actor.user)) != nil)
        let source = isFinal ? nil : Databases.Source(snapshot, ViewTree.ordinals)
        state.withLock { $0.databases.keep(place, for: key, source) }
        return place
    }

    /// Returns a zone of the shared database of a user. After a member left or a permission changed, and in branches
    /// and the past, the trees of shares and memberships are others, so that no earlier result is returned.
    ///
    /// - Parameters:
    ///   - member: the ordinal of the user; 0 if the state has none.
    ///   - find: reads the zone from the state; no error is kept.
    func zone(
        _ id: ZoneID, of member: UInt64, in trees: Snapshot, _ find: () throws -> MemberZone
    ) throws -> MemberZone {
        let source = Zones.Source(trees, ViewTree.shares, ViewTree.memberships)
        let key = ZoneKey(member: member, zone: id)
        if let known = state.withLock({ $0.zones[key, source] }) {
            // Zones are in another tree, which every commit changes.
            guard try trees.zoneStatus(known.zone.database, known.zone.zone) == .alive else {
                throw Refusal.missingZone(id.name, rule: .zonesOfMembers)
            }
            return known
        }
        let found = try find()
        state.withLock { $0.zones.keep(found, for: key, source) }
        return found
    }

    func grants(of type: UInt64, in trees: Snapshot) throws -> TypeGrants {
        let source = Grants.Source(trees, ViewTree.schema)
        if let known = state.withLock({ $0.grants[type, source] }) { return known }
        let grants = try trees.grants(of: type)
        let isUserType = isSameText(try text(.recordType, type, in: trees), UserRecord.type)
        let found = TypeGrants(
            grants: grants, isUserType: isUserType,
            isReadByAll: !isUserType && grants.contains { $0.role == "_world" && $0.permissions.contains(.read) })
        state.withLock { $0.grants.keep(found, for: type, source) }
        return found
    }

    /// Requires that the account of the actor is available. Costs nothing if no account was ever set.
    ///
    /// - Throws: ``Refusal`` for a user whose account is not available (B221).
    func requireAvailable(_ actor: Actor, in snapshot: Snapshot) throws {
        guard !snapshot.isUnused(ViewTree.users), actor != .service,
            let user = try ordinal(of: .user(actor.user), in: snapshot)
        else { return }
        try snapshot.account(of: user).status.requireAvailable()
    }

    /// The texts of the fields and types that have been looked up.
    var knownTexts: KnownTexts { state.withLock { $0.texts } }

    /// Returns true if no text was looked up since.
    func isUpToDate(_ texts: KnownTexts) -> Bool { texts.version == addedTexts.load(ordering: .relaxed) }

    func ordinal(of name: InternedName.Name, in snapshot: Snapshot) throws -> UInt64? {
        if let known = state.withLock({ $0.ordinals[name] }) { return known }
        guard let ordinal = try snapshot.ordinal(of: name) else { return nil }
        keep(name, ordinal)
        return ordinal
    }

    func name(_ namespace: Namespace, _ ordinal: UInt64, in snapshot: Snapshot) throws -> InternedName.Name? {
        if let known = state.withLock({ $0.names.name(namespace, ordinal) }) { return known }
        guard let name = try snapshot.name(namespace, ordinal) else { return nil }
        keep(name, ordinal)
        return name
    }

    private func keep(_ name: InternedName.Name, _ ordinal: UInt64) {
        state.withLock { state in
            if state.count >= Self.maximumCount {
                state = State()
                state.texts.version = addedTexts.load(ordering: .relaxed)
            }
            state.ordinals[name] = ordinal
            state.names.collect(InternedName(ordinal: ordinal, name: name))
            state.count += 1
            guard ordinal < Self.maximumCount else { return }
            switch name {
            case .field(let text): state.texts.fields.add(text, at: Int(ordinal))
            case .recordType(let text): state.texts.types.add(text, at: Int(ordinal))
            default: return
            }
            state.texts.version = addedTexts.add(1, ordering: .relaxed).newValue
        }
    }

    /// Returns the names of a state.
    func resolver(in snapshot: Snapshot) -> SnapshotNames { SnapshotNames(directory: self, snapshot: snapshot) }

    /// Returns the name of a user; empty for ordinal 0, the service.
    func user(_ ordinal: UInt64, in snapshot: Snapshot) throws -> String {
        ordinal == 0 ? "" : try resolver(in: snapshot).user(ordinal) ?? ""
    }

    /// Returns the name of a user's own record. A user whom the store has not met gets it with the first commit.
    func recordName(of user: String, in snapshot: Snapshot) throws -> String {
        guard let ordinal = try ordinal(of: .user(user), in: snapshot) else {
            return try snapshot.recordName(of: user, secret: snapshot.secret() ?? newSecret)
        }
        if let known = state.withLock({ $0.recordNames[ordinal] }) { return known }
        let recorded = try snapshot.recordedName(ofUser: ordinal)
        // The ordinal may come from a newer state than the snapshot.
        guard try recorded != nil || snapshot.ordinal(of: .user(user)) != nil else {
            return try snapshot.recordName(of: user, secret: snapshot.secret() ?? newSecret)
        }
        let name = recorded ?? UserRecord.earlierName(of: user)
        state.withLock { state in
            if state.recordNames.count >= Self.maximumCount { state.recordNames = [:] }
            state.recordNames[ordinal] = name
        }
        return name
    }

    /// Returns the ID that a zone has in the shared databases of other users.
    func sharedZone(_ zone: UInt64, in snapshot: Snapshot) throws -> ZoneID {
        let (database, name) = try resolver(in: snapshot).requiredZone(zone)
        return ZoneID(name, owner: try recordName(of: database.owner, in: snapshot))
    }

    func text(_ namespace: Namespace, _ ordinal: UInt64, in snapshot: Snapshot) throws -> String {
        try resolver(in: snapshot).text(namespace, ordinal)
    }
}

/// The names of a state, which are first looked up in the directory of its reader.
struct SnapshotNames: NameResolver {
    let directory: Directory
    let snapshot: Snapshot

    func name(_ namespace: Namespace, _ ordinal: UInt64) throws -> InternedName.Name? {
        try directory.name(namespace, ordinal, in: snapshot)
    }
}

/// The texts of some fields and record types, by their ordinals.
struct KnownTexts: Sendable {
    struct Texts: Sendable {
        private var all: [String?] = []

        subscript(ordinal: Int) -> String? { ordinal < all.count ? all[ordinal] : nil }

        fileprivate mutating func add(_ text: String, at ordinal: Int) {
            let missing = ordinal + 1 - all.count
            if missing > 0 { all += repeatElement(nil, count: missing) }
            all[ordinal] = text
        }
    }

    fileprivate(set) var fields = Texts()
    fileprivate(set) var types = Texts()
    fileprivate(set) var version = 0

    func field(_ ordinal: UInt32) -> String? { fields[Int(ordinal)] }
    func type(_ ordinal: UInt64) -> String? { types[Int(clamping: ordinal)] }
}
