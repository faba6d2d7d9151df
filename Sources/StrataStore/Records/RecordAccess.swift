import StrataModel
import StrataQuery
import StrataRules
import StrataTree
import StrataViews

/// Decides which records of a database a reader may read (docs/rules.md §5.5). In the public database, the grants of a
/// record's type decide; they are looked up once per type and reader. In the shared database, the shares of the user in
/// the record's zone decide (B356).
struct RecordAccess: Sendable {
    enum Reader: Sendable {
        case actor(Actor)
        /// The ordinal of a user.
        case user(UInt64)
    }

    /// The state in which grants and roles are looked up; nil if everything may be read.
    private let state: (context: SnapshotContext, trees: Snapshot)?
    private let reader: Reader
    private let scope: InternedName.Scope
    /// The last type that was looked up.
    private var known: (type: UInt64, readable: ReadableRecords)?
    /// The last zone of the shared database that was looked up.
    private(set) var shared: MemberZone?

    init(_ scope: InternedName.Scope, _ reader: Reader, _ context: SnapshotContext, _ trees: Snapshot) {
        var isLimited = scope != .private
        if scope == .public, case .actor(.service) = reader { isLimited = false }
        state = isLimited ? (context, trees) : nil
        self.reader = reader
        self.scope = scope
    }

    var isLimited: Bool { state != nil }

    /// Returns a zone's ordinal, or the reason why there is none, as ``ResolvedDatabase/zone(_:_:_:)`` does. Afterward,
    /// only records of that zone are asked for.
    mutating func zone(
        _ id: ZoneID, in place: ResolvedDatabase, _ trees: Snapshot, _ names: Directory
    ) throws -> (ordinal: UInt64?, refusal: Refusal?) {
        guard scope == .shared else { return try place.zone(id, trees, names) }
        if let shared, shared.id == id { return (shared.zone.zone, nil) }
        do {
            let zone = try place.sharedZone(id, trees, names)
            shared = zone
            return (zone.zone.zone, nil)
        } catch let refusal as Refusal {
            return (nil, refusal)
        }
    }

    /// - Parameter key: the key of the record in ``ViewTree/records``.
    mutating func mayRead(_ key: UnsafeRawBufferPointer, _ header: @autoclosure () throws -> RecordHeader) throws
        -> Bool
    {
        guard scope == .shared else { return try mayRead(header()) }
        guard let state, let shared else { return false }
        return try shared.visible.includes(key, in: state.trees)
    }

    mutating func mayRead(_ header: RecordHeader) throws -> Bool {
        guard isLimited else { return true }
        if let known, known.type == header.type { return known.readable.includes(createdBy: header.createdBy) }
        let readable = try readableRecords(ofType: header.type)
        known = (header.type, readable)
        return readable.includes(createdBy: header.createdBy)
    }

    func readableRecords(ofType type: UInt64) throws -> ReadableRecords {
        guard let state, scope == .public else { return .all }
        let found = try state.context.names.grants(of: type, in: state.trees)
        if found.isReadByAll { return .all }
        return try principal(state.context.names, state.trees).readableRecords(
            isUserType: found.isUserType, grants: found.grants)
    }

    /// Returns true for each record that may be read; nil if all of them may.
    var checkOfTargets: (@Sendable (RecordHeader) throws -> Bool)? {
        guard scope == .public, isLimited else { return nil }
        return { try readableRecords(ofType: $0.type).includes(createdBy: $0.createdBy) }
    }

    private func principal(_ names: Directory, _ trees: Snapshot) throws -> Principal {
        let user: UInt64
        switch reader {
        case .actor(let actor) where actor.user.isEmpty: return .anonymous
        case .actor(let actor): user = try names.ordinal(of: .user(actor.user), in: trees) ?? 0
        case .user(let ordinal): user = ordinal
        }
        return Principal(user: user, try user == 0 ? Account() : trees.account(of: user))
    }

    /// Returns the refusal for a record that does not exist.
    func missingRecord(_ name: String) -> Refusal {
        Refusal(.unknownItem, "Record not found: \(name)", rule: scope == .shared ? .visibleRecords : nil)
    }

    /// Returns the refusal for a record that exists but may not be read (B395). A member does not learn that there is
    /// such a record (B356).
    func refusal(of record: String) -> Refusal {
        if scope == .shared { return missingRecord(record) }
        return Refusal(
            .permissionFailure, "Access failure: READ operation not permitted on record '\(record)'.",
            rule: .readGrants)
    }
}

/// The treatment of a record that the actor may not read.
public enum UnreadableRecord: Sendable {
    case refused
    /// The record without its fields and links: the answer to a save (B396).
    case withoutFields
}
