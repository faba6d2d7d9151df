/// The names that ordinals stand for, folded from *name interned* events.
///
/// ```swift
/// var names = NameTable()
/// try names.add(InternedName(decoding: event.body))
/// names.zone(3)?.name
/// ```
public struct NameTable: Sendable {
    // One array per namespace, by its number on disk; ordinal n is at n − 1.
    private var names: [UInt8: [InternedName.Name]] = [:]

    public init() {}

    /// - Throws: ``StrataError`` for another name under a known ordinal, or for an ordinal that leaves a gap.
    public mutating func add(_ interned: InternedName) throws {
        let namespace = interned.name.namespace
        // The array is never held in a second place here: appending would copy all of it.
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

    /// What an ordinal stands for, whatever it is; nil for one that has no name.
    public func name(_ namespace: UInt8, _ ordinal: UInt64) -> InternedName.Name? {
        guard let known = names[namespace], ordinal > 0, ordinal <= UInt64(known.count) else { return nil }
        return known[Int(ordinal) - 1]
    }

    /// The user's name; nil for an ordinal that has none.
    public func user(_ ordinal: UInt64) -> String? {
        if case .user(let name) = name(1, ordinal) { name } else { nil }
    }

    public func device(_ ordinal: UInt64) -> String? {
        if case .device(_, let name) = name(2, ordinal) { name } else { nil }
    }

    public func database(_ ordinal: UInt64) -> (scope: InternedName.Scope, owner: UInt64)? {
        if case .database(let scope, let owner) = name(3, ordinal) { (scope, owner) } else { nil }
    }

    public func zone(_ ordinal: UInt64) -> (database: UInt64, owner: UInt64, name: String)? {
        if case .zone(let database, let owner, let name) = name(4, ordinal) { (database, owner, name) } else { nil }
    }

    public func recordType(_ ordinal: UInt64) -> String? {
        if case .recordType(let name) = name(5, ordinal) { name } else { nil }
    }

    public func field(_ ordinal: UInt64) -> String? {
        if case .field(let name) = name(6, ordinal) { name } else { nil }
    }
}
