import StrataModel
import StrataTree
import StrataViews

/// A record in one state of the store. Everything is read from its bytes on access.
///
/// ```swift
/// let note = try snapshot.record(RecordID("note-1", zone: ZoneID("Notes")), in: .init(.private), as: anna)
/// let title = try note["title"]
/// ```
///
/// The records of a long answer share memory, dozens at a time: a caller that keeps one of them keeps up to 16 KiB.
public struct Record: Sendable {
    public var id: RecordID { RecordID(stored.withName { String(decoding: $0, as: UTF8.self) }, zone: origin.zone) }
    var nameBytes: [UInt8] { stored.withName { [UInt8]($0) } }
    public var database: DatabaseID { origin.database }
    /// The version that made this state of the record; its text is the change tag.
    public var version: Version { withCheckedView { $0.version } }
    private let stored: StoredState
    let origin: RecordOrigin
    /// True if the actor may not read the record, so that it shows neither fields nor links (B396).
    public private(set) var isHidden = false

    /// - Parameter stored: the state of the record, preceded by its whole name.
    init(_ stored: StoredState, _ origin: RecordOrigin) throws {
        self.stored = stored
        self.origin = origin
        try withView { try $0.requireHeader() }
    }

    init(_ name: String, _ bytes: [UInt8], _ origin: RecordOrigin) throws {
        var name = name
        let stored = name.withUTF8 { name in
            bytes.withUnsafeBytes { StoredState(name: UnsafeRawBufferPointer(name), state: $0) }
        }
        try self.init(stored, origin)
    }

    var header: RecordHeader { withCheckedView { try $0.header() } }

    /// Reads what `init` has read without an error.
    private func withCheckedView<Result>(_ body: (RecordStateView) throws -> Result) -> Result {
        do { return try withView(body) } catch {
            preconditionFailure("A record's header cannot be read, though it was read from the same bytes before.")
        }
    }

    /// The record as returned to an actor who may not read it.
    var withoutFields: Record {
        var record = self
        record.isHidden = true
        return record
    }

    /// Looks up a name. Names never change, so any later state has them too.
    private func naming<Result>(_ body: (Directory, Snapshot) throws -> Result) throws -> Result {
        try origin.context.reading(origin.snapshot, acceptsNewer: true) { try body(origin.context.names, $0) }
    }

    public var type: String {
        get throws {
            let type = try withView { try $0.type() }
            return try origin.known.type(type) ?? naming { try $0.text(.recordType, type, in: $1) }
        }
    }
    /// The time of creation, in microseconds since 1970.
    public var created: Int64 { withCheckedView { $0.created } }
    public var modified: Int64 { header.modified }
    public var createdBy: String { get throws { try naming { try $0.user(header.createdBy, in: $1) } } }
    public var modifiedBy: String { get throws { try naming { try $0.user(header.modifiedBy, in: $1) } } }
    /// Returns the name of the record of a user, such as ``createdBy``.
    package func recordName(of user: String) throws -> String { try naming { try $0.recordName(of: user, in: $1) } }

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
        try stored.withState { try body(try RecordStateView($0, in: 0..<$0.count)) }
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

    private func isDesired(_ field: UInt32) -> Bool { !isHidden && origin.isDesired(field) }

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

    /// Calls `body` with each key and its value in place, in no particular order. Nothing is copied.
    public func forEachValue(_ body: (_ key: String, _ value: borrowing StoredValue) throws -> Void) throws {
        if isHidden { return }
        try stored.withState { state in
            let origin = origin
            try RecordStateView.fields(of: state).forEachValue { field, value in
                guard origin.isDesired(field) else { return }
                guard let key = origin.known.field(field) else {
                    return try body(try naming { try $0.text(.field, UInt64(field), in: $1) }, value)
                }
                try body(key, value)
            }
        }
    }

    /// Calls `body` with each key and value, in no particular order.
    public func forEachField(_ body: (_ key: String, _ value: FieldValue) throws -> Void) throws {
        try forEachValue { try body($0, try $1.decoded()) }
    }

    /// Calls `body` with each key and value of some kinds; other values are not decoded.
    func forEachField(
        where isWanted: (FieldKind) -> Bool, _ body: (_ key: String, _ value: FieldValue) throws -> Void
    ) throws {
        try forEachValue { key, value in
            if isWanted(value.kind) { try body(key, try value.decoded()) }
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

extension StoredState {
    /// Returns the same state, preceded by the whole name of its record instead of the short form.
    func withWholeName() throws -> StoredState {
        try withState { state in
            var name = try withName { try RecordStateView(state, in: 0..<state.count).name(orShort: $0) }
            return name.withUTF8 { StoredState(name: UnsafeRawBufferPointer($0), state: state) }
        }
    }
}
