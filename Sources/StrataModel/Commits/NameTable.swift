/// The names of ordinals, collected from *name interned* events.
///
/// ```swift
/// var names = NameTable()
/// try names.add(InternedName(decoding: event.body))
/// try names.zone(3)?.name
/// ```
package struct NameTable: NameResolver, Sendable {
    // Ordinal n is at n − 1.
    private var names: [Namespace: [InternedName.Name]] = [:]

    package init() {}

    /// - Throws: ``StrataError`` if the ordinal already has another name, or leaves a gap.
    package mutating func add(_ interned: InternedName) throws {
        let namespace = interned.name.namespace
        // The array must have no second reference here, since appending would copy it.
        let count = UInt64(names[namespace]?.count ?? 0)
        if interned.ordinal == count + 1 {
            names[namespace, default: []].append(interned.name)
            return
        }
        let known = name(namespace, interned.ordinal)
        guard known == interned.name else {
            throw StrataError(
                .malformed, "A name is interned twice, or out of order.",
                .init(
                    expected: known.map { "\($0)" } ?? "ordinal \(count + 1)",
                    found: "\(interned.name) as ordinal \(interned.ordinal)"))
        }
    }

    /// Returns the name of an ordinal; nil if it has none.
    package func name(_ namespace: Namespace, _ ordinal: UInt64) -> InternedName.Name? {
        guard let known = names[namespace], ordinal > 0, ordinal <= UInt64(known.count) else { return nil }
        return known[Int(ordinal) - 1]
    }
}
