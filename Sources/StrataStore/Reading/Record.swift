import StrataModel
import StrataTree
import StrataViews

/// A record in one state of the store. Its values are decoded on access.
///
/// ```swift
/// let note = try snapshot.record(RecordID("note-1", zone: ZoneID("Notes")), in: .init(.private), as: anna)
/// let title = try note["title"]
/// ```
public struct Record: Sendable {
    public var id: RecordID { RecordID(name, zone: origin.zone) }
    public var database: DatabaseID { origin.database }
    /// The version that made this state of the record; its text is the change tag.
    public var version: Version { header.version }
    let header: RecordHeader
    private let name: String
    private let bytes: [UInt8]
    let origin: RecordOrigin
    /// True if the actor may not read the record, so that it shows neither fields nor links (B396).
    public private(set) var isHidden = false

    init(_ name: String, _ bytes: [UInt8], _ origin: RecordOrigin) throws {
        self.name = name
        self.bytes = bytes
        self.origin = origin
        header = try bytes.withUnsafeBytes { try RecordStateView($0, in: 0..<$0.count).header() }
    }

    /// The record as an actor gets it who may not read it.
    var withoutFields: Record {
        var record = self
        record.isHidden = true
        return record
    }

    /// Looks up a name. Names never change, so any later state has them too.
    private func naming<Result>(_ body: (NameDirectory, Snapshot) throws -> Result) throws -> Result {
        try origin.context.reading(origin.snapshot, acceptsNewer: true) { try body(origin.context.names, $0) }
    }

    public var type: String { get throws { try naming { try $0.text(.recordType, header.type, in: $1) } } }
    /// The time of creation, in microseconds since 1970.
    public var created: Int64 { header.created }
    public var modified: Int64 { header.modified }
    public var createdBy: String { get throws { try naming { try $0.user(header.createdBy, in: $1) } } }
    public var modifiedBy: String { get throws { try naming { try $0.user(header.modifiedBy, in: $1) } } }
    /// The name of the device that last saved the record; empty if it is not known.
    public var modifiedWith: String {
        get throws { header.modifiedWith == 0 ? "" : try naming { try $0.text(.device, header.modifiedWith, in: $1) } }
    }

    /// The name of the parent, which is in the same zone.
    public var parent: String? {
        get throws { isHidden ? nil : try withView { view in try view.links().parent.map { try view.key($0).name } } }
    }

    /// True if the parent is loose (docs/rules.md §5.12).
    public var isParentLoose: Bool { get throws { try withView { try $0.links().isParentLoose } } }

    public var share: String? {
        get throws { isHidden ? nil : try withView { view in try view.links().share.map { try view.key($0).name } } }
    }

    private func withView<Result>(_ body: (RecordStateView) throws -> Result) throws -> Result {
        try bytes.withUnsafeBytes { try body(try RecordStateView($0, in: 0..<$0.count)) }
    }

    /// The value of a key; nil if the record has none, or if it was not desired.
    public subscript(key: String) -> FieldValue? {
        get throws {
            guard let field = try naming({ try $0.ordinal(of: .field(key), in: $1) }), isDesired(UInt32(field)) else {
                return nil
            }
            return try withView { try $0.fields().value(of: UInt32(field)) }
        }
    }

    private func isDesired(_ field: UInt32) -> Bool {
        !isHidden && field != origin.shareStateField && origin.desiredKeys?.contains(field) ?? true
    }

    /// The state of the share whose record this is, as the reader gets it (B337); nil for any other record. It does not
    /// depend on the desired keys.
    package var shareState: ShareState? {
        get throws { try isHidden ? nil : unfilteredShareState?.filtered(for: origin.database.owner) }
    }

    var unfilteredShareState: ShareState? {
        get throws {
            guard let field = origin.shareStateField,
                case .data(let bytes)? = try withView({ try $0.fields().value(of: field) })
            else { return nil }
            return try ShareState(decoding: bytes[...])
        }
    }

    /// True if a value may be an asset, encrypted, or of a kind that this version does not know. Most records have no
    /// such value, which is known without decoding any.
    public var mayHaveSpecialValues: Bool {
        get throws { try withView { try $0.fields().kindBits() & FieldKind.specialBits != 0 } }
    }

    /// Calls `body` with each key and value, in no particular order.
    public func forEachField(_ body: (_ key: String, _ value: FieldValue) throws -> Void) throws {
        try forEachField(where: { _ in true }, body)
    }

    /// Calls `body` with each key and value of some kinds; other values are not decoded.
    @inline(__always)
    func forEachField(
        where isWanted: (FieldKind?) -> Bool, _ body: (_ key: String, _ value: FieldValue) throws -> Void
    ) throws {
        try bytes.withUnsafeBytes { bytes in
            let table = try RecordStateView(bytes, in: 0..<bytes.count).fields()
            let known = origin.knownFields
            for index in 0..<table.count where isDesired(table.ordinal(at: index)) {
                guard isWanted(try table.kind(at: index)) else { continue }
                let field = Int(table.ordinal(at: index))
                let known = field < known.count ? known[field] : nil
                let key = try known ?? naming { try $0.text(.field, UInt64(field), in: $1) }
                try body(key, try FieldValue(decoding: bytes, in: try table.range(at: index)))
            }
        }
    }

    /// All keys with their values. References name records of the same zone.
    public var fields: [String: FieldValue] {
        get throws {
            var fields: [String: FieldValue] = [:]
            try forEachField { fields[$0] = $1 }
            return fields
        }
    }
}

/// The common properties of the records of one answer in one zone.
final class RecordOrigin: Sendable {
    let database: DatabaseID
    let zone: ZoneID
    let snapshot: Snapshot
    let context: SnapshotContext
    /// Nil for all keys.
    let desiredKeys: Set<UInt32>?
    /// The texts of the fields that had been looked up before, by their ordinals.
    let knownFields: [String?]
    /// The key of the states of shares, which readers never see; nil if the store has no shares.
    let shareStateField: UInt32?

    init(
        _ database: DatabaseID, _ zone: ZoneID, _ snapshot: Snapshot, _ context: SnapshotContext,
        desiredKeys: Set<UInt32>?
    ) throws {
        self.database = database
        self.zone = zone
        self.snapshot = snapshot
        self.context = context
        self.desiredKeys = desiredKeys
        knownFields = context.names.knownFields
        shareStateField =
            try snapshot.entryCount(ViewTree.shares) == 0
            ? nil : context.names.ordinal(of: .field(ShareState.key), in: snapshot).map { UInt32($0) }
    }

    /// Returns the same origin for another zone.
    func inZone(_ other: ZoneID) throws -> RecordOrigin {
        zone == other ? self : try RecordOrigin(database, other, snapshot, context, desiredKeys: desiredKeys)
    }

    /// The database that has the records, whose owner's key seals encrypted values.
    var home: DatabaseID {
        get throws {
            guard database.scope == .shared,
                let owner = try snapshot.user(at: UserAddress(.recordName, zone.owner))
            else { return database }
            return DatabaseID(.private, owner: try context.names.user(owner, in: snapshot))
        }
    }
}
