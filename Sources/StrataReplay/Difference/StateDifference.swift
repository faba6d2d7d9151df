import StrataModel
import StrataRules
import StrataStore

/// The differences between two states of a store, record by record.
///
/// ```swift
/// let difference = StateDifference(of: store, from: 1_207, to: store.offset)
/// try difference.forEachRecord { change in
///     print(change.kind, change.id.name, try change.fields.map(\.key))
///     return true
/// }
/// ```
/// ``Past/forEachChange(from:to:_:)`` finds them.
public struct StateDifference {
    private let store: Store
    /// The offset of the state that counts as the one before; it may be the later one.
    public let from: UInt64
    public let to: UInt64
    private let scope: DifferenceScope

    public init(of store: Store, from: UInt64, to: UInt64, in scope: DifferenceScope = DifferenceScope()) {
        (self.store, self.from, self.to, self.scope) = (store, from, to, scope)
    }

    /// Calls `body` with each record that differs between the states, zone by zone, until it returns false.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for an offset after the end, or in compacted history.
    public func forEachRecord(_ body: (RecordDifference) throws -> Bool) throws {
        try store.past.forEachChange(from: min(from, to), to: max(from, to)) { difference in
            guard try scope.contains(difference) else { return true }
            return try body(from <= to ? difference : difference.reversed)
        }
    }
}

/// The records that a comparison of two states covers; all by default.
public struct DifferenceScope: Sendable {
    public var database: DatabaseID?
    /// In any database, unless one is given.
    public var zone: ZoneID?
    public var type: String?

    public init(database: DatabaseID? = nil, zone: ZoneID? = nil, type: String? = nil) {
        (self.database, self.zone, self.type) = (database, zone, type)
    }

    func contains(_ difference: RecordDifference) throws -> Bool {
        if let database, difference.database != database { return false }
        if let zone, difference.id.zone != zone { return false }
        guard let type else { return true }
        return isSameText(try difference.type, type)
    }
}

/// The differences between the current states of two stores, record by record, by names and values.
///
/// ```swift
/// try StoreDifference(from: original, to: copy).forEachRecord { change in
///     print(change.kind, change.id.name)
///     return true
/// }
/// ```
public struct StoreDifference {
    private let from: Store
    private let to: Store
    private let scope: DifferenceScope

    public init(from: Store, to: Store, in scope: DifferenceScope = DifferenceScope()) {
        (self.from, self.to, self.scope) = (from, to, scope)
    }

    /// Calls `body` with each record that differs between the stores, zone by zone, until it returns false.
    public func forEachRecord(_ body: (RecordDifference) throws -> Bool) throws {
        try to.snapshot().forEachDifference(fromOther: from.snapshot()) { difference in
            try scope.contains(difference) ? try body(difference) : true
        }
    }
}
