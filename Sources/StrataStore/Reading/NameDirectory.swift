import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import Synchronization

/// The names and ordinals that readers have looked up. Published names are never dropped, so they hold for every state.
final class NameDirectory: Sendable {
    private struct State {
        var ordinals: [InternedName.Name: UInt64] = [:]
        var names: [[UInt64: InternedName.Name]] = Array(repeating: [:], count: Namespace.count)
        var count = 0
        /// The names of the records of users that have ordinals.
        var recordNames: [UInt64: String] = [:]
        var texts = KnownTexts()
        /// The databases that were looked up, newest first.
        var places: [KnownPlace] = []
    }

    private struct KnownPlace {
        let asked: DatabaseID
        let actor: Actor
        let place: ResolvedDatabase
        /// The ordinals of the only states in which the place holds; nil if it holds in all of them.
        let ordinals: TreeIdentity?

        /// Returns true if another actor reads the same: a user on another device does; the service is not a user.
        func serves(_ database: DatabaseID, _ other: Actor) -> Bool {
            asked == database && actor.user.utf8.elementsEqual(other.user.utf8)
                && (actor == .service) == (other == .service)
        }
    }

    /// The number of databases that are kept; others are looked up each time.
    private static let keptPlaces = 8

    /// The number of names above which everything is forgotten and read again.
    private static let maximumCount = 1 << 17

    private let state = Lock(State())
    /// The secret of a store whose log has none yet.
    private let newSecret: StoreSecret?
    let sharedZones = MemberZoneDirectory()
    /// The number of texts that were ever added to ``knownTexts``.
    private let addedTexts = Atomic(0)

    init(newSecret: StoreSecret?) { self.newSecret = newSecret }

    /// Returns the database as the actor reads it. Once the database has been written to, the result never changes.
    /// Before that, which is always the case for most shared databases, it holds as long as no name gets an ordinal.
    ///
    /// - Throws: ``Refusal`` for an actor that may not read it.
    func place(_ database: DatabaseID, _ actor: Actor, in snapshot: Snapshot) throws -> ResolvedDatabase {
        if database.scope != .public { try requireAvailable(actor, in: snapshot) }
        let known = state.withLock { state in state.places.first { $0.serves(database, actor) } }
        if let known, try known.ordinals == nil || known.ordinals == snapshot.identity(of: ViewTree.ordinals) {
            return known.place
        }
        let place = try ResolvedDatabase(database, as: actor, self, in: snapshot)
        // The name of the record of an actor whom the state does not have may still be chosen.
        let isFinal = try place.ordinal != 0 && (actor.user.isEmpty || snapshot.ordinal(of: .user(actor.user)) != nil)
        let ordinals = try isFinal ? nil : snapshot.identity(of: ViewTree.ordinals)
        state.withLock { state in
            state.places.removeAll { $0.serves(database, actor) }
            if state.places.count >= Self.keptPlaces { state.places.removeLast() }
            state.places.insert(KnownPlace(asked: database, actor: actor, place: place, ordinals: ordinals), at: 0)
        }
        return place
    }

    /// Requires that the account of the actor is available. Costs nothing if no account was ever set.
    ///
    /// - Throws: ``Refusal`` for a user whose account is not available (B221).
    func requireAvailable(_ actor: Actor, in snapshot: Snapshot) throws {
        guard snapshot.entryCount(ViewTree.users) > 0, actor != .service,
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
        if let known = state.withLock({ $0.names[namespace.index][ordinal] }) { return known }
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
            state.names[name.namespace.index][ordinal] = name
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
    let directory: NameDirectory
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
