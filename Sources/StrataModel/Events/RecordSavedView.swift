/// A view of an encoded *record saved* event: its beginning, and its values on demand.
///
/// ```swift
/// let view = try RecordSavedView(payload, in: bodyRange)
/// let title = try view.fields.value(of: titleField)
/// ```
package struct RecordSavedView {
    // Valid only inside the `withUnsafeBytes` call that provided it.
    let bytes: UnsafeRawBufferPointer
    package let zone: UInt64
    package let type: UInt64
    /// The range of the record's name in the bytes.
    package let name: Range<Int>
    package let change: RecordSavedEvent.Change
    package let policy: SavePolicy
    package let isFull: Bool
    /// True if its values have been erased since (docs/format.md §28).
    package let isErased: Bool
    package let previous: Version?
    package let base: Version?
    private let keyed: Range<Int>
    private let table: Range<Int>

    /// Creates a view of the event whose body fills `range` of the bytes, which must stay alive as long as the view is
    /// used.
    package init(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) throws {
        var reader = ByteReader(bytes, in: range)
        self.bytes = bytes
        (zone, type, name) = try reader.readRecordStart()
        let flags = try reader.read(UInt8.self, "the flags of a save")
        guard let change = RecordSavedEvent.Change(rawValue: flags & 3),
            let policy = SavePolicy(rawValue: flags >> 2 & 3), flags >> 5 & 3 < 3
        else { throw StrataError.newer("the flags of a save", flags, reader) }
        self.change = change
        self.policy = policy
        isFull = flags & 16 != 0
        isErased = flags & Self.erasedFlag != 0
        guard isFull || change != .create else { throw reader.malformed("a creation", expected: "full") }
        previous = try reader.readVersion("the previous version")
        let baseCode = flags >> 5 & 3
        switch baseCode {
        case 0: base = nil
        case 1: base = previous
        default: base = try reader.readVersion("the base version")
        }
        guard baseCode == 0 || base != nil, baseCode != 2 || base != previous else {
            throw reader.malformed("the base version", expected: "consistent with the flags")
        }
        let length = try reader.readVarint("the fields of a save")
        keyed = try reader.readRange(count: length, "the fields of a save")
        table = reader.position..<range.upperBound
        guard !isErased || table.count == 1 && bytes[table.lowerBound] == 0 else {
            throw reader.malformed("an erased save", expected: "without fields")
        }
    }

    static let erasedFlag: UInt8 = 128

    /// The sent fields. Creating the table reads only a few bytes.
    package var fields: FieldTable { get throws { try FieldTable(bytes, in: table) } }

    /// True if the event gives the record a parent, a share or a reference.
    package var hasLinks: Bool {
        get throws {
            let rest = try rest()
            if rest.parent?.isEmpty == false || rest.share?.isEmpty == false { return true }
            let fields = try fields
            return try (0..<fields.count).contains { try fields.kind(at: $0)?.element == .reference }
        }
    }

    /// Says which links of the record the event sets or removes.
    package var changedLinks: (parent: Bool, share: Bool) {
        get throws {
            if keyed.isEmpty { return (false, false) }
            let rest = try rest()
            return (rest.parent != nil, rest.share != nil)
        }
    }

    /// The content of the event besides the fields. Links are ranges of the bytes, empty for a removed link.
    struct Rest {
        var original: Version?
        var modified: Int64?
        var modifiedBy: UInt64?
        var modifiedWith: UInt64?
        var created: Int64?
        var createdBy: UInt64?
        var parent: Range<Int>?
        var isParentLoose = false
        var share: Range<Int>?
        /// Present only together with an original version.
        var eventsSinceFull: Int?
    }

    func rest() throws -> Rest {
        var rest = Rest()
        if !keyed.isEmpty {
            var fields = KeyedFields(ByteReader(bytes, in: keyed))
            while var field = try fields.next() { try Self.read(&field, into: &rest) }
            guard rest.original != nil || rest.eventsSinceFull == nil else {
                throw ByteReader(bytes, at: keyed.lowerBound)
                    .malformed("a save outside a base", expected: "without the events since the last full one")
            }
        }
        guard !isErased || rest.parent == nil && rest.share == nil else {
            throw ByteReader(bytes, at: keyed.lowerBound).malformed("an erased save", expected: "without links")
        }
        guard isFull else { return rest }
        let isComplete = change == .create || rest.created != nil && rest.createdBy != nil
        guard isComplete, rest.parent?.isEmpty != true, rest.share?.isEmpty != true else {
            throw ByteReader(bytes, at: keyed.lowerBound)
                .malformed("a full save", expected: "complete, without removed links")
        }
        return rest
    }

    private static func read(_ field: inout KeyedFields.Field, into rest: inout Rest) throws {
        switch field.key {
        case SavedField.original: rest.original = try field.version()
        case SavedField.modified: rest.modified = try field.time("the time of modification")
        case SavedField.modifiedBy: rest.modifiedBy = try field.ordinal("the user who modified a record")
        case SavedField.modifiedWith: rest.modifiedWith = try field.ordinal("the device that modified a record")
        case SavedField.created: rest.created = try field.time("the time of creation")
        case SavedField.createdBy: rest.createdBy = try field.ordinal("the user who created a record")
        case SavedField.parent: rest.parent = try field.link()
        case SavedField.share: rest.share = try field.link()
        case SavedField.eventsSinceFull:
            let limit = UInt64(RecordHeader.maximumEventsSinceFull)
            rest.eventsSinceFull = Int(try field.number("the events since the last full one", atMost: limit))
        case SavedField.looseParent:
            rest.parent = try field.looseParent(beside: rest.parent)
            rest.isParentLoose = true
        default: try field.skip()
        }
    }

    /// Returns the whole event as a plain value.
    package func decoded() throws -> RecordSavedEvent {
        var reader = ByteReader(bytes, in: name)
        let name = try reader.readRemainingText("a record name", atMost: Envelope.maximumNameBytes)
        let rest = try rest()
        var event = RecordSavedEvent(
            change, RecordKey(zone: zone, name: name), type: type, policy: policy, previous: previous, base: base,
            parent: try link(rest.parent), fields: try fields.changes())
        event.isFull = isFull
        event.isErased = isErased
        event.isParentLoose = rest.isParentLoose
        event.original = rest.original
        event.eventsSinceFull = rest.eventsSinceFull ?? 0
        event.modified = rest.modified
        event.modifiedBy = rest.modifiedBy
        event.modifiedWith = rest.modifiedWith
        event.created = rest.created
        event.createdBy = rest.createdBy
        event.share = try link(rest.share)
        guard !isFull || event.fields.allSatisfy({ $0.value != nil }) else {
            throw ByteReader(bytes, at: table.lowerBound).malformed("a full save", expected: "without removed keys")
        }
        return event
    }

    private func link(_ range: Range<Int>?) throws -> LinkChange {
        guard let range else { return .kept }
        if range.isEmpty { return .removed }
        var reader = ByteReader(bytes, in: range)
        return .set(try reader.readRecordKey())
    }
}

extension KeyedFields.Field {
    mutating func version() throws -> Version {
        let version = try value.readVersion("an original version")
        try value.expectEnd("an original version")
        guard let version else { throw value.malformed("an original version", expected: "left out when it is 0") }
        return version
    }

    func linkChange() throws -> LinkChange {
        if value.remaining == 0 { return .removed }
        var reader = value
        return .set(try reader.readRecordKey())
    }

    /// Reads a number that may be 0.
    mutating func ordinal(_ what: StaticString) throws -> UInt64 {
        let number = try value.readVarint(what)
        try value.expectEnd(what)
        return number
    }
}
