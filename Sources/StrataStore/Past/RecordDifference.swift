import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// A record that differs between two states.
///
/// ```swift
/// try store.past.forEachChange(from: 1_207, to: store.offset) { difference in
///     print(difference.kind, difference.id.name, try difference.fields.map(\.key))
///     return true
/// }
/// ```
public struct RecordDifference: Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        case added, removed, changed
    }

    /// A key whose value differs, or that only one of the states has. A reference that is loose in only one of them
    /// differs too (docs/rules.md §5.12).
    public struct Field: Sendable, Hashable {
        public let key: String
        /// Nil if the record has no such value.
        public let before: FieldValue?
        public let after: FieldValue?
    }

    /// A link that names different records of the zone, that only one of the states has, or that is loose in only one
    /// of them.
    public struct Link: Sendable, Hashable {
        public enum Kind: String, Sendable, CaseIterable {
            case parent, share
        }

        public let kind: Kind
        public let before: String?
        public let after: String?
        /// True if the parent before or after is loose (docs/rules.md §5.12).
        public let isLooseBefore: Bool
        public let isLooseAfter: Bool
    }

    public let id: RecordID
    public let database: DatabaseID
    /// Nil if the record did not exist.
    public let before: Record?
    /// Nil if the record does not exist.
    public let after: Record?
    /// The newer store's zones by those of the older one; nil if both states are of one store.
    private let newZones: [UInt64: UInt64]?
    /// The fields with other values than the stored ones; nil for those.
    private var mappedFields: [Field]?

    public init(_ id: RecordID, in database: DatabaseID, before: Record?, after: Record?) {
        self.init(id, in: database, before: before, after: after, newZones: nil)
    }

    init(
        _ id: RecordID, in database: DatabaseID, before: Record?, after: Record?, newZones: [UInt64: UInt64]?
    ) {
        self.id = id
        self.database = database
        self.before = before
        self.after = after
        self.newZones = newZones
    }

    /// The difference as seen from the other state.
    public var reversed: RecordDifference {
        let oldZones = newZones.map { Dictionary($0.map { ($1, $0) }, uniquingKeysWith: { first, _ in first }) }
        return RecordDifference(id, in: database, before: after, after: before, newZones: oldZones)
    }

    public var kind: Kind { before == nil ? .added : after == nil ? .removed : .changed }

    /// The record's type, which never changes while the record exists.
    public var type: String { get throws { try (after ?? before)?.type ?? "" } }

    /// The fields that differ, in the order of keys, with the state of a share as data of the key `cloudkit.share`.
    /// Empty if a save changed no value, or if only the links or the type differ.
    public var fields: [Field] {
        get throws {
            if let mappedFields { return mappedFields }
            var old = try Self.values(of: before)
            if let newZones {
                // A zone that the other store does not have matches none of its zones.
                old = try old.mapValues { value in
                    try value.mappingReferences { reference in
                        var mapped = reference
                        mapped.target.zone = newZones[reference.target.zone] ?? 0
                        return mapped
                    }
                }
            }
            let new = try Self.values(of: after)
            let keys = Set(old.keys).union(new.keys).sorted { $0.lexicographicallyPrecedes($1) }
            return keys.compactMap { key in
                let field = Field(key: String(decoding: key, as: UTF8.self), before: old[key], after: new[key])
                return FieldValue.isSame(field.before, field.after) ? nil : field
            }
        }
    }

    /// Returns the same difference with other values, such as decrypted ones.
    package func mappingFields(
        _ values: (Field) throws -> (before: FieldValue?, after: FieldValue?)
    ) throws -> RecordDifference {
        var mapped = self
        mapped.mappedFields = try fields.map { field in
            let (before, after) = try values(field)
            return Field(key: field.key, before: before, after: after)
        }
        return mapped
    }

    /// The links that differ: another parent or share, or a parent that is loose in only one state.
    public var links: [Link] {
        get throws {
            let all = [
                Link(
                    kind: .parent, before: try before?.parent, after: try after?.parent,
                    isLooseBefore: try before?.isParentLoose ?? false, isLooseAfter: try after?.isParentLoose ?? false),
                Link(
                    kind: .share, before: try before?.share, after: try after?.share, isLooseBefore: false,
                    isLooseAfter: false),
            ]
            return all.filter {
                !isSameText($0.before ?? "", $0.after ?? "") || $0.isLooseBefore != $0.isLooseAfter
            }
        }
    }

    /// True if the record exists in both states with the same content.
    var isSame: Bool {
        get throws {
            guard let before, let after else { return false }
            return try isSameText(before.type, after.type) && links.isEmpty && fields.isEmpty
        }
    }

    /// Returns values by the bytes of their keys, by which the store distinguishes keys.
    private static func values(of record: Record?) throws -> [[UInt8]: FieldValue] {
        var values: [[UInt8]: FieldValue] = [:]
        try record?.forEachField { values[Array($0.utf8)] = $1 }
        // The participants and permissions of a share are no field that clients see.
        if let state = try record?.shareState { values[Array(ShareState.key.utf8)] = .data(try state.encoded()) }
        return values
    }
}

extension StoreSnapshot {
    /// Returns the origin of a zone's records in a state of the store.
    func origin(ofZone ordinal: UInt64, in trees: Snapshot) throws -> RecordOrigin {
        let (database, zone) = try zoneName(ordinal, in: trees)
        return try RecordOrigin(database, zone, trees, context, desiredKeys: nil)
    }

    /// Returns the ID of a zone, and its database with the name of the owner.
    func zoneName(_ ordinal: UInt64, in trees: Snapshot) throws -> (database: DatabaseID, zone: ZoneID) {
        let (database, name) = try names.resolver(in: trees).requiredZone(ordinal)
        return (database, ZoneID(name))
    }
}
