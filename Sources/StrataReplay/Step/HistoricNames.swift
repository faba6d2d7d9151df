import StrataModel
import StrataQuery
import StrataRules
import StrataStore
import StrataViews

/// All names that a store has ever given, with their ordinals.
struct HistoricNames {
    struct Zone {
        let ordinal: UInt64
        let name: String
        /// Empty for a public database.
        let owner: String
    }

    private(set) var users: [(ordinal: UInt64, name: String)] = []
    private(set) var devices: [(ordinal: UInt64, name: String)] = []
    private(set) var types: [(ordinal: UInt64, name: String)] = []
    private(set) var fields: [(ordinal: UInt64, name: String)] = []
    private(set) var zones: [Zone] = []

    init(_ store: Store) throws {
        let trees = store.snapshot().trees
        var databases: [UInt64: UInt64] = [:]
        var foundZones: [(ordinal: UInt64, database: UInt64, name: String)] = []
        try trees.forEachName { interned in
            let ordinal = interned.ordinal
            switch interned.name {
            case .user(let text): users.append((ordinal, text))
            case .device(_, let text): devices.append((ordinal, text))
            case .database(_, let owner): databases[ordinal] = owner
            case .zone(let database, _, let text): foundZones.append((ordinal, database, text))
            case .recordType(let text): types.append((ordinal, text))
            case .field(let text): fields.append((ordinal, text))
            }
        }
        let owners = Dictionary(users.map { ($0.ordinal, $0.name) }, uniquingKeysWith: { first, _ in first })
        zones = foundZones.map { ordinal, database, name in
            Zone(ordinal: ordinal, name: name, owner: databases[database].flatMap { owners[$0] } ?? "")
        }
    }

    /// - Throws: ``Refusal`` for a name that was never given.
    func ordinals(
        of name: String?, in names: [(ordinal: UInt64, name: String)], _ what: String
    ) throws -> Set<UInt64>? {
        guard let name else { return nil }
        let found = names.filter { isSameText($0.name, name) }.map(\.ordinal)
        guard !found.isEmpty else { throw Refusal(.unknownItem, "The store has no \(what) '\(name)'.") }
        return Set(found)
    }

    /// Returns the zones with a name, in an owner's databases, or both; nil if neither is asked for.
    ///
    /// - Throws: ``Refusal`` for a name that was never given.
    func zones(named name: String?, owner: String?) throws -> [UInt64]? {
        if name == nil, owner == nil { return nil }
        _ = try ordinals(of: owner, in: users, "user")
        if let name, !zones.contains(where: { isSameText($0.name, name) }) {
            throw Refusal(.zoneNotFound, "The store has no zone '\(name)'.")
        }
        return zones.filter { zone in
            (name.map { isSameText(zone.name, $0) } ?? true) && (owner.map { isSameText(zone.owner, $0) } ?? true)
        }.map(\.ordinal)
    }
}
