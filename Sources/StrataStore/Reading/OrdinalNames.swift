import StrataModel
import StrataTree
import StrataViews

/// What a state's ordinals stand for, read once: names stay what they are.
final class OrdinalNames {
    /// Names beyond are looked up each time.
    private static let cachedOrdinals: UInt64 = 1 << 16

    private let lookup: (UInt8, UInt64) throws -> InternedName.Name?
    /// By namespace and ordinal.
    private var known: [[InternedName.Name?]] = Array(repeating: [], count: 7)
    /// What the state does not have yet.
    private var new: [InternedName] = []

    init(_ lookup: @escaping (UInt8, UInt64) throws -> InternedName.Name?) { self.lookup = lookup }

    convenience init(_ state: Fork) { self.init { try state.name($0, $1) } }

    /// Names are in force as long as `body` runs that the state does not have yet.
    func interning<Result>(_ names: [InternedName], _ body: () throws -> Result) rethrows -> Result {
        new = names
        defer { new = [] }
        return try body()
    }

    private func name(_ namespace: UInt8, _ ordinal: UInt64) throws -> InternedName.Name {
        let place = Int(clamping: ordinal)
        if place < known[Int(namespace)].count, let name = known[Int(namespace)][place] { return name }
        if let name = new.first(where: { $0.ordinal == ordinal && $0.name.namespace == namespace })?.name {
            return name
        }
        guard let name = try lookup(namespace, ordinal) else {
            throw StrataError(
                .malformed, "A commit names an ordinal that has no name.",
                .init(expected: "a name in namespace \(namespace)", found: "ordinal \(ordinal)"))
        }
        guard ordinal < Self.cachedOrdinals else { return name }
        let missing = place + 1 - known[Int(namespace)].count
        if missing > 0 { known[Int(namespace)] += repeatElement(nil, count: missing) }
        known[Int(namespace)][place] = name
        return name
    }

    func text(_ namespace: UInt8, _ ordinal: UInt64) throws -> String {
        switch try name(namespace, ordinal) {
        case .user(let text), .recordType(let text), .field(let text), .device(_, let text), .zone(_, _, let text): text
        case .database: ""
        }
    }

    /// A zone's database, with the name of its owner.
    func database(ofZone ordinal: UInt64) throws -> DatabaseID {
        guard case .zone(let database, _, _) = try name(4, ordinal) else { return DatabaseID(.private) }
        return try self.database(database)
    }

    /// A database, with the name of its owner.
    func database(_ ordinal: UInt64) throws -> DatabaseID {
        guard case .database(let scope, let owner) = try name(3, ordinal) else { return DatabaseID(.private) }
        return DatabaseID(scope, owner: owner == 0 ? "" : try text(1, owner))
    }

    /// A device with its user.
    func device(_ ordinal: UInt64) throws -> (user: String, device: String) {
        guard case .device(let user, let text) = try name(2, ordinal) else { return ("", "") }
        return (try self.text(1, user), text)
    }
}
