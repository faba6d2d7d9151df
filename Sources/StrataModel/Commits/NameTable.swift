/// The names of ordinals, collected from *name interned* events.
///
/// ```swift
/// var names = NameTable()
/// try names.add(InternedName(decoding: event.body))
/// try names.zone(3)?.name
/// ```
package struct NameTable: NameResolver, Sendable {
    // By namespace; ordinal n is at n − 1.
    private var names: [[InternedName.Name]] = Array(repeating: [], count: Namespace.count)
    /// The names after a gap, which is not filled: a damaged ordinal may be any number.
    private var distant: [UsedNames.Key: InternedName.Name] = [:]

    package init() {}

    /// - Throws: ``StrataError`` if the ordinal already has another name, or leaves a gap.
    package mutating func add(_ interned: InternedName) throws {
        let namespace = interned.name.namespace
        let count = UInt64(names[namespace.index].count)
        if interned.ordinal == count + 1 { return names[namespace.index].append(interned.name) }
        let known = name(namespace, interned.ordinal)
        guard known == interned.name else {
            throw StrataError(
                .malformed, "A name is interned twice, or out of order.",
                .init(
                    expected: known.map { "\($0)" } ?? "ordinal \(count + 1)",
                    found: "\(interned.name) as ordinal \(interned.ordinal)"))
        }
    }

    /// Adds a name in any order, and in place of another one. Where a log is compacted or damaged, some names are
    /// missing.
    package mutating func collect(_ interned: InternedName) {
        let (namespace, ordinal) = (interned.name.namespace, interned.ordinal)
        let count = UInt64(names[namespace.index].count)
        if ordinal == count + 1 {
            names[namespace.index].append(interned.name)
        } else if ordinal > 0, ordinal <= count {
            names[namespace.index][Int(ordinal) - 1] = interned.name
        } else {
            distant[UsedNames.Key(namespace, ordinal)] = interned.name
        }
    }

    /// Returns the name of an ordinal; nil if it has none.
    package func name(_ namespace: Namespace, _ ordinal: UInt64) -> InternedName.Name? {
        let known = names[namespace.index]
        if ordinal > 0, ordinal <= UInt64(known.count) { return known[Int(ordinal) - 1] }
        return distant.isEmpty ? nil : distant[UsedNames.Key(namespace, ordinal)]
    }

    /// Returns all names of a namespace, in the order of their ordinals.
    package func names(in namespace: Namespace) -> [InternedName] {
        let near = names[namespace.index].enumerated().map {
            InternedName(ordinal: UInt64($0.offset) + 1, name: $0.element)
        }
        let far = distant.filter { $0.key.namespace == namespace && $0.key.ordinal > UInt64(near.count) }
        return near + far.sorted { $0.key < $1.key }.map { InternedName(ordinal: $0.key.ordinal, name: $0.value) }
    }
}
