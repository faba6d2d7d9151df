import StrataModel
import StrataTree
import StrataViews

/// The names of a state's ordinals, each read once, since names never change.
final class OrdinalNames: NameResolver {
    /// The number of ordinals whose names are cached; other names are looked up each time.
    private static let cachedOrdinals: UInt64 = 1 << 16

    private let lookup: (Namespace, UInt64) throws -> InternedName.Name?
    /// The cached names, by namespace and ordinal.
    private var known: [[InternedName.Name?]] = Array(repeating: [], count: Namespace.count)
    /// The names that the state does not have yet.
    private var new: [InternedName] = []

    init(_ lookup: @escaping (Namespace, UInt64) throws -> InternedName.Name?) { self.lookup = lookup }

    convenience init(_ state: Fork) { self.init { try state.name($0, $1) } }

    /// Runs `body` with names in effect that the state does not have yet.
    func interning<Result>(_ names: [InternedName], _ body: () throws -> Result) rethrows -> Result {
        new = names
        defer { new = [] }
        return try body()
    }

    func name(_ namespace: Namespace, _ ordinal: UInt64) throws -> InternedName.Name? {
        let place = Int(clamping: ordinal)
        if place < known[namespace.index].count, let name = known[namespace.index][place] { return name }
        if let name = new.first(where: { $0.ordinal == ordinal && $0.name.namespace == namespace })?.name {
            return name
        }
        guard let name = try lookup(namespace, ordinal) else { return nil }
        guard ordinal < Self.cachedOrdinals else { return name }
        let missing = place + 1 - known[namespace.index].count
        if missing > 0 { known[namespace.index] += repeatElement(nil, count: missing) }
        known[namespace.index][place] = name
        return name
    }
}
