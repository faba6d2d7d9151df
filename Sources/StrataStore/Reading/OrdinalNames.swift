import StrataModel
import StrataTree
import StrataViews

/// The names of a state's ordinals, each read once, since names never change.
final class OrdinalNames: NameResolver {
    /// The number of ordinals whose names are cached; other names are looked up each time.
    private static let cachedOrdinals: UInt64 = 1 << 16

    private let state: () -> Fork
    private var known = NameTable()
    /// The names that the state does not have yet.
    private var new: [InternedName] = []

    /// - Parameter state: returns the present state.
    init(_ state: @escaping () -> Fork) { self.state = state }

    convenience init(_ state: Fork) { self.init { state } }

    /// Runs `body` with names in effect that the state does not have yet.
    func interning<Result>(_ names: [InternedName], _ body: () throws -> Result) rethrows -> Result {
        new = names
        defer { new = [] }
        return try body()
    }

    /// Returns the ID by which members of its shares know a zone.
    func sharedZone(_ zone: UInt64) throws -> ZoneID {
        let (database, text) = try requiredZone(zone)
        guard case .zone(_, let owner, _)? = try name(.zone, zone), let name = try state().recordedName(ofUser: owner)
        else { return ZoneID(text, owner: UserRecord.earlierName(of: database.owner)) }
        return ZoneID(text, owner: name)
    }

    func name(_ namespace: Namespace, _ ordinal: UInt64) throws -> InternedName.Name? {
        if let name = known.name(namespace, ordinal) { return name }
        if let name = new.first(where: { $0.ordinal == ordinal && $0.name.namespace == namespace })?.name {
            return name
        }
        guard let name = try state().name(namespace, ordinal) else { return nil }
        if ordinal < Self.cachedOrdinals { known.collect(InternedName(ordinal: ordinal, name: name)) }
        return name
    }
}
