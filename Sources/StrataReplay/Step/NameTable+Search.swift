import StrataModel
import StrataStore
import StrataViews

/// Finds the ordinals of names.
extension NameTable {
    /// Collects all names that a store has ever given.
    init(of store: Store) throws {
        self.init()
        try store.snapshot().trees.forEachName { collect($0) }
    }

    /// Returns the ordinals that have a text, with any user for a device; nil if none is asked for.
    ///
    /// - Throws: ``Refusal`` for a name that was never given.
    func ordinals(of text: String?, _ namespace: Namespace) throws -> Set<UInt64>? {
        guard let text else { return nil }
        let found = names(in: namespace).filter { $0.name.text.map { isSameText($0, text) } ?? false }.map(\.ordinal)
        guard !found.isEmpty else { throw Refusal(.unknownItem, "The store has no \(namespace.noun) '\(text)'.") }
        return Set(found)
    }

    /// Returns the zones with a name, in an owner's databases, or both; nil if neither is asked for.
    ///
    /// - Throws: ``Refusal`` for a name that was never given.
    func zones(named name: String?, owner: String?) throws -> [UInt64]? {
        if name == nil, owner == nil { return nil }
        _ = try ordinals(of: owner, .user)
        var isKnown = name == nil
        let found = try names(in: .zone).map(\.ordinal).filter { ordinal in
            guard let zone = try zone(ordinal), name.map({ isSameText(zone.name, $0) }) ?? true else { return false }
            isKnown = true
            return owner.map { isSameText(zone.database.owner, $0) } ?? true
        }
        if let name, !isKnown { throw Refusal(.zoneNotFound, "The store has no zone '\(name)'.") }
        return found
    }
}
