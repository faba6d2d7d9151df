/// The metadata of a record, besides its name and its fields.
package struct RecordHeader: Sendable, Hashable {
    /// The maximum number of events since the last full one.
    package static let maximumEventsSinceFull = 15

    /// The event that produced this state; its text is the change tag.
    package var version: Version
    package var type: UInt64
    /// The time of creation in microseconds since 1970; so is ``modified``.
    package var created: Int64
    package var createdBy: UInt64
    package var modified: Int64
    package var modifiedBy: UInt64
    /// The ordinal of the device; 0 for none.
    package var modifiedWith: UInt64
    package var eventsSinceFull: Int
    package var contentDigest: UInt128

    package init(
        version: Version, type: UInt64, created: Int64, createdBy: UInt64, modified: Int64, modifiedBy: UInt64,
        modifiedWith: UInt64 = 0, eventsSinceFull: Int = 0, contentDigest: UInt128 = 0
    ) {
        self.version = version
        self.type = type
        self.created = created
        self.createdBy = createdBy
        self.modified = modified
        self.modifiedBy = modifiedBy
        self.modifiedWith = modifiedWith
        self.eventsSinceFull = eventsSinceFull
        self.contentDigest = contentDigest
    }
}

/// The state of a record as a plain value (docs/format.md §17). ``RecordStateView`` reads parts of an encoded one.
///
/// ```swift
/// let state = try RecordState(decoding: bytes[...])
/// state.header.version.tag
/// state.fields.first { $0.field == title }?.value
/// ```
package struct RecordState: Sendable, Hashable {
    /// The maximum bytes of a name that the keys of the views contain whole. For a longer name they contain a short
    /// form, and the state contains the name.
    package static let longestKeyName = 300

    package var header: RecordHeader
    package var parent: RecordKey?
    /// True if the user who set the parent lacked write permission on it (docs/rules.md §5.12).
    package var isParentLoose = false
    package var share: RecordKey?
    /// The record's name if it is longer than ``longestKeyName`` bytes.
    package var longName: String?
    /// The fields, in the order of their ordinals.
    package var fields: [RecordField]

    package init(
        header: RecordHeader, parent: RecordKey? = nil, share: RecordKey? = nil, longName: String? = nil,
        fields: [RecordField] = []
    ) {
        self.header = header
        self.parent = parent
        self.share = share
        self.longName = longName
        self.fields = fields
    }

    package func encode(into writer: inout ByteWriter) throws {
        guard (0...RecordHeader.maximumEventsSinceFull).contains(header.eventsSinceFull) else {
            throw StrataError.tooLarge(
                "the events since the last full one", limit: RecordHeader.maximumEventsSinceFull,
                found: header.eventsSinceFull)
        }
        let start = writer.append(header)
        if let parent, !isParentLoose { try writer.appendField(StateField.parent) { try $0.append(parent) } }
        if let share { try writer.appendField(StateField.share) { try $0.append(share) } }
        if let longName {
            try StrataError.checkName(longName, "a record name's bytes")
            writer.appendField(StateField.longName, text: longName)
        }
        if let parent, isParentLoose { try writer.appendField(StateField.looseParent) { try $0.append(parent) } }
        writer.finishHeader(from: start)
        var builder = FieldTableBuilder()
        for field in fields { try builder.append(field.field, field.value) }
        builder.finish(into: &writer)
    }
}

/// A key of a record, with its value.
package struct RecordField: Sendable, Hashable {
    package var field: UInt32
    package var value: FieldValue

    package init(_ field: UInt32, _ value: FieldValue) {
        self.field = field
        self.value = value
    }
}

/// The keys of a state's keyed fields.
enum StateField {
    static let parent: UInt64 = 2
    static let share: UInt64 = 4
    static let longName: UInt64 = 6
    static let looseParent: UInt64 = 8
}

/// The offsets in the fixed part of a state, and its form.
enum StateLayout {
    static let form: UInt8 = 2
    static let size = 1
    static let version = 3
    static let contentDigest = 11
    static let created = 27
    static let rest = 35
}

extension ByteWriter {
    /// Appends the header's numbers and returns their start, for `finishHeader`.
    mutating func append(_ header: RecordHeader) -> Int {
        let start = bytes.count
        append(StateLayout.form)
        append(UInt16(0))
        append(header.version.packed)
        append(header.contentDigest)
        append(header.created)
        appendVarint(zigzag(header.modified &- header.created))
        appendVarint(header.type)
        appendVarint(header.createdBy)
        appendVarint(header.modifiedBy)
        appendVarint(header.modifiedWith)
        appendVarint(UInt64(header.eventsSinceFull))
        return start
    }

    mutating func finishHeader(from start: Int) {
        // Three names of at most 4,096 bytes and a dozen numbers are far below 65,536.
        overwrite(UInt16(bytes.count - start), at: start + StateLayout.size)
    }
}
