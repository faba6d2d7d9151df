import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataTree
import StrataViews

/// Looks up a container's databases, zones and users in a state, by the ordinals in its rows.
struct ContainerState {
    struct Database {
        let ordinal: UInt64
        /// The database with its owner's name.
        let id: DatabaseID
    }

    struct ZoneEntry {
        let ordinal: UInt64
        let name: String
        let row: ZoneRow
    }

    let snapshot: StoreSnapshot
    /// The log up to the state, or further.
    let log: any EventLog

    var trees: Snapshot { snapshot.trees }

    init(_ store: Store) { (snapshot, log) = (store.snapshot(), store.log) }

    // MARK: Names

    /// Every ordinal in a row has a name, unless the row is damaged.
    func user(_ ordinal: UInt64) throws -> String { ordinal == 0 ? "" : try trees.text(.user, ordinal) }
    func device(_ ordinal: UInt64) throws -> String { try trees.text(.device, ordinal) }
    func recordType(_ ordinal: UInt64) throws -> String { try trees.text(.recordType, ordinal) }
    func zone(_ ordinal: UInt64) throws -> String { try trees.text(.zone, ordinal) }

    /// `anna on phone`, or the words for an actor without a name.
    func actorText(_ header: EnvelopeHeader) throws -> String {
        try header.unnamedActorText ?? actorText(user: header.user, device: header.device)
    }

    func actorText(user: UInt64, device: UInt64) throws -> String {
        if user == 0 { return LogFilter.systemName }
        return try self.user(user) + (device == 0 ? "" : " on \(self.device(device))")
    }

    // MARK: Users

    /// Calls `body` with each user, in order of first appearance.
    func forEachUser(_ body: (_ ordinal: UInt64, _ name: String) throws -> Void) throws {
        for ordinal in try ordinals(of: .user) { try body(ordinal, try user(ordinal)) }
    }

    /// - Throws: ``Refusal`` for a user who has written nothing.
    func userOrdinal(_ name: String) throws -> UInt64 {
        if let ordinal = try trees.ordinal(of: .user(name)) { return ordinal }
        throw Refusal(.unknownItem, "The store has no user '\(name)'.")
    }

    // MARK: Databases

    /// Calls `body` with each database that has been written to, in the order of first writes.
    func forEachDatabase(_ body: (Database) throws -> Void) throws {
        for ordinal in try ordinals(of: .database) {
            try body(Database(ordinal: ordinal, id: try trees.requiredDatabase(ordinal)))
        }
    }

    /// Returns the database that a command line names; nil if it has never been written to.
    ///
    /// - Throws: ``Refusal`` if the actor may not read it, or for an owner who has written nothing.
    func database(_ options: DatabaseOptions) throws -> Database? {
        _ = try snapshot.zones(in: options.database, as: options.actor)
        return try database(options.database.scope, of: options.ownerName)
    }

    /// - Throws: ``Refusal`` for an owner who has written nothing.
    func database(_ scope: InternedName.Scope, of owner: String) throws -> Database? {
        let ownerOrdinal = owner.isEmpty ? 0 : try userOrdinal(owner)
        guard let ordinal = try trees.ordinal(of: .database(scope, owner: ownerOrdinal)) else { return nil }
        return Database(ordinal: ordinal, id: DatabaseID(scope, owner: owner))
    }

    private func ordinals(of namespace: Namespace) throws -> Range<UInt64> {
        1..<(try trees.nameCount(namespace)) + 1
    }

    // MARK: Zones

    /// Returns true if a zone of that name has ever existed in any database.
    func hasHadZone(named name: String) throws -> Bool {
        try ordinals(of: .zone).contains { LogFilter.isSame(try zone($0), name) }
    }

    /// Returns the zones of a database, including deleted ones, in the order in which they were first created.
    func zones(of database: Database) throws -> [ZoneEntry] {
        try trees.zoneRows(of: database.ordinal).map { ordinal, row in
            ZoneEntry(ordinal: ordinal, name: try zone(ordinal), row: row)
        }
    }

    /// Returns the database and the zone that a command line names, also if the zone was deleted; nil if the database
    /// never had it.
    func place(of zone: ZoneID, _ options: DatabaseOptions) throws -> (database: Database, zone: ZoneEntry)? {
        let isShared = options.database.scope == .shared
        let owner = isShared ? options.zoneOwner : options.ownerName
        // An owner who has written nothing has no database.
        guard let database = try? database(isShared ? .private : options.database.scope, of: owner) else { return nil }
        return try zones(of: database).first { LogFilter.isSame($0.name, zone.name) }.map { (database, $0) }
    }

    /// Returns the name of the user whose record has a name, or the record's name if there is none.
    func user(ofRecord name: String) throws -> String {
        try trees.user(at: UserAddress(.recordName, name)).map { try user($0) } ?? name
    }

    /// Returns the name of the user who owns a zone of the shared database; nil for another zone.
    func owner(of zone: ZoneID) throws -> String? { zone.owner.isEmpty ? nil : try user(ofRecord: zone.owner) }

    /// `Notes`, in the shared database `Notes of anna`, escaped for display.
    func shownText(of zone: ZoneID) throws -> String {
        Printable.escaped(zone.name) + (try owner(of: zone).map { " of \(Printable.escaped($0))" } ?? "")
    }

    /// Returns the zones that are shared with a user, with their owners.
    ///
    /// - Throws: ``Refusal`` for a zone that is not shared with the user.
    func sharedZones(_ options: DatabaseOptions) throws -> [(zone: ZoneEntry, id: ZoneID, owner: String)] {
        let actor = options.actor
        if let zone = options.zone { _ = try snapshot.zone(zone, in: options.database, as: actor) }
        let member = try userOrdinal(actor.user)
        return try snapshot.zones(in: options.database, as: actor).compactMap { zone in
            let isWanted =
                options.zone.map { $0 == zone.id }
                ?? (options.zoneOwner.isEmpty || isSameText(options.zoneRecord, zone.id.owner))
            guard isWanted else { return nil }
            let place = try SharedZone(
                zone.id, of: member, recordName: snapshot.recordName(of: actor.user), in: trees,
                ordinal: { try trees.ordinal(of: $0) })
            guard let row = try trees.zoneRow(place.database, place.zone) else { return nil }
            let entry = ZoneEntry(ordinal: place.zone, name: zone.id.name, row: row)
            return (entry, zone.id, try user(place.owner))
        }
    }

    /// Returns true if the user of a command line sees a record of a zone that another user shares.
    func sees(_ name: String, in zone: ZoneID, _ options: DatabaseOptions) throws -> Bool {
        let found = try snapshot.records(
            [RecordID(name, zone: zone)], in: options.database, desiredKeys: [], as: options.actor)
        if case .success? = found.first { return true }
        return false
    }

    /// Returns the existing zones that a command line names.
    ///
    /// - Throws: ``Refusal`` for a zone that does not exist, and as ``database(_:)``.
    func livingZones(_ options: DatabaseOptions) throws -> [ZoneEntry] {
        let database = try database(options)
        if let zone = options.zone { _ = try snapshot.zone(zone, in: options.database, as: options.actor) }
        let entries = try database.map { try zones(of: $0) } ?? []
        return entries.filter { entry in
            entry.row.status == .alive && (options.zone.map { ZoneID(entry.name) == $0 } ?? true)
        }
    }
}

/// The names in a state by their ordinals, each looked up once: most records share a few.
struct NameCache {
    private struct Key: Hashable {
        let namespace: Namespace
        let ordinal: UInt64
    }

    private let trees: Snapshot
    private var texts: [Key: String] = [:]

    init(_ state: ContainerState) { trees = state.trees }

    /// Returns a name; an empty one for a user without an ordinal.
    mutating func text(_ ordinal: UInt64, of namespace: Namespace) throws -> String {
        if namespace == .user, ordinal == 0 { return "" }
        let key = Key(namespace: namespace, ordinal: ordinal)
        if let known = texts[key] { return known }
        let text = try trees.text(namespace, ordinal)
        if texts.count < 1 << 16 { texts[key] = text }
        return text
    }
}
