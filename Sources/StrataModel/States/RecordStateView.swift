/// A view of an encoded state, which reads header, links and fields independently (docs/format.md §17).
///
/// ```swift
/// let view = try RecordStateView(bytes, in: 0..<bytes.count)
/// guard view.version == wanted else { return nil }
/// let title = try view.fields().value(of: titleField)
/// ```
package struct RecordStateView {
    // Valid only inside the `withUnsafeBytes` call that provided it.
    let bytes: UnsafeRawBufferPointer
    let range: Range<Int>
    private let tableStart: Int

    /// Creates a view of the state that fills `range` of the bytes, which must stay alive as long as the view is used.
    package init(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) throws {
        // Every record that is read passes through here: an intact state is recognized without a reader.
        tableStart = range.lowerBound + (try Self.sizeIfWhole(bytes, range) ?? Self.size(bytes, range))
        self.bytes = bytes
        self.range = range
    }

    @inline(__always)
    private static func sizeIfWhole(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
        let start = range.lowerBound
        guard range.count >= StateLayout.rest, range.upperBound <= bytes.count, bytes[start] == StateLayout.form,
            bytes[start + StateLayout.version + MemoryLayout<UInt64>.size - 1] < 0x80
        else { return nil }
        let place = start + StateLayout.size
        let size = Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self)))
        return size >= StateLayout.rest && size <= range.count ? size : nil
    }

    /// Returns the size of the header, or throws an error that says what is malformed.
    @inline(never)
    private static func size(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) throws -> Int {
        var reader = ByteReader(bytes, in: range)
        let form = try reader.read(UInt8.self, "the form of a record's state")
        guard form == StateLayout.form else { throw StrataError.newer("the form of a record's state", form, reader) }
        let size = Int(try reader.read(UInt16.self, "the size of a state's header"))
        guard size >= StateLayout.rest, size <= range.count else {
            throw reader.malformed(
                "the size of a state's header", expected: "\(StateLayout.rest) to \(range.count)", found: "\(size)")
        }
        let packed = try reader.read(UInt64.self, "the version of a record")
        guard packed >> 63 == 0 else { throw reader.malformed("the version of a record", expected: "63 bits") }
        return size
    }

    private func load<Number: FixedWidthInteger>(_ place: Int, as _: Number.Type) -> Number {
        Number(littleEndian: bytes.loadUnaligned(fromByteOffset: range.lowerBound + place, as: Number.self))
    }

    /// The stored form of the change tag, which readers of feeds compare first.
    package var version: Version { Version(packed: load(StateLayout.version, as: UInt64.self)) }
    package var contentDigest: UInt128 { load(StateLayout.contentDigest, as: UInt128.self) }
    package var created: Int64 { load(StateLayout.created, as: Int64.self) }

    /// Returns the version of a state, for readers that want nothing else of it.
    package static func version(of state: [UInt8]) throws -> Version {
        try state.withUnsafeBytes { try RecordStateView($0, in: 0..<$0.count).version }
    }

    /// Requires that ``header()`` can be read.
    package func requireHeader() throws {
        if !isHeaderSeenIntact { _ = try header() }
    }

    /// True if the numbers of the header are seen to be intact without reading them one by one: the time of
    /// modification takes at most eight bytes, and each of the five that follow takes one, as in most records.
    private var isHeaderSeenIntact: Bool {
        let numbers = (bytes: 5, highBits: UInt64(0x80_8080_8080))
        guard StateLayout.rest + 8 <= range.count else { return false }
        let time = load(StateLayout.rest, as: UInt64.self)
        let timeBytes = (~time & 0x8080_8080_8080_8080).trailingZeroBitCount / 8 + 1
        guard timeBytes <= 8, timeBytes == 1 || time >> UInt64(8 * timeBytes - 8) & 0xFF != 0 else { return false }
        let place = StateLayout.rest + timeBytes
        guard range.lowerBound + place + numbers.bytes <= tableStart, place + 8 <= range.count else { return false }
        let word = load(place, as: UInt64.self)
        return word & numbers.highBits == 0 && word >> 32 & 0xFF <= UInt64(RecordHeader.maximumEventsSinceFull)
    }

    package func header() throws -> RecordHeader {
        var reader = ByteReader(bytes, in: range.lowerBound + StateLayout.rest..<tableStart)
        return try readHeader(from: &reader)
    }

    private func readHeader(from reader: inout ByteReader) throws -> RecordHeader {
        let modified = unzigzag(try reader.readVarint("the time of modification"))
        let type = try reader.readVarint("a record's type")
        let createdBy = try reader.readVarint("the user who created a record")
        let modifiedBy = try reader.readVarint("the user who modified a record")
        let modifiedWith = try reader.readVarint("the device that modified a record")
        let eventsSinceFull = try reader.readVarint(
            "the events since the last full one", atMost: UInt64(RecordHeader.maximumEventsSinceFull))
        return RecordHeader(
            version: version, type: type, created: created, createdBy: createdBy, modified: created &+ modified,
            modifiedBy: modifiedBy, modifiedWith: modifiedWith, eventsSinceFull: Int(eventsSinceFull),
            contentDigest: contentDigest)
    }

    /// The parts that a state may have between its header and its fields, as ranges of the bytes.
    package struct Links {
        /// The range of the parent, for ``key(_:)``.
        package var parent: Range<Int>?
        /// True if the user who set the parent lacked write permission on it.
        package var isParentLoose = false
        package var share: Range<Int>?
        /// The range of the record's name, valid text, if its key contains only the short form.
        package var longName: Range<Int>?
    }

    package func links() throws -> Links {
        var reader = ByteReader(bytes, in: range.lowerBound + StateLayout.rest..<tableStart)
        _ = try readHeader(from: &reader)
        var links = Links()
        guard reader.remaining > 0 else { return links }
        var fields = KeyedFields(reader)
        while var field = try fields.next() {
            switch field.key {
            case StateField.parent: links.parent = try field.link()
            case StateField.share: links.share = try field.link()
            case StateField.longName: links.longName = try field.longName()
            case StateField.looseParent:
                links.parent = try field.looseParent(beside: links.parent)
                links.isParentLoose = true
            default: try field.skip()
            }
        }
        return links
    }

    /// - Throws: ``StrataError`` if the record has another type than the event states.
    package func require(type: UInt64) throws {
        let known = try header().type
        guard type == known else {
            throw StrataError(
                .brokenSequence, "The record type of an event differs from that of its record.",
                .init(expected: "type \(known)", found: "type \(type)"))
        }
    }

    /// - Throws: ``StrataError`` if the state, found by its key, belongs to a record with another name. Keys contain
    ///   only a short form of long names.
    package func require(name: UnsafeRawBufferPointer) throws {
        guard name.count > RecordState.longestKeyName else { return }
        guard let longName = try links().longName, bytes[longName].elementsEqual(name) else {
            throw StrataError(.malformed, "Two long names have the same short form.")
        }
    }

    package func require(name: String) throws {
        var name = name
        try name.withUTF8 { try require(name: UnsafeRawBufferPointer($0)) }
    }

    /// Returns the type alone, which scans read of every record.
    package func type() throws -> UInt64 {
        var reader = ByteReader(bytes, in: range.lowerBound + StateLayout.rest..<tableStart)
        _ = try reader.readVarint("the time of modification")
        return try reader.readVarint("a record's type")
    }

    /// Returns the parts that a scan reads of every record: its type, and the range of a field's value; nil if the
    /// record has none.
    ///
    /// - Parameter hint: The index of the field in the previous record. Many records have the same fields.
    package static func look(
        at state: UnsafeRawBufferPointer, for field: UInt32, hint: inout Int
    ) throws -> (type: UInt64, value: Range<Int>?) {
        let size = try sizeIfWhole(state, 0..<state.count) ?? Self.size(state, 0..<state.count)
        var reader = ByteReader(state, in: StateLayout.rest..<size)
        _ = try reader.readVarint("the time of modification")
        let type = try reader.readVarint("a record's type")
        let table = try FieldTable(state, in: size..<state.count)
        if hint < table.count, table.ordinal(at: hint) == field { return (type, try table.range(at: hint)) }
        guard let index = table.index(of: field) else { return (type, nil) }
        hint = index
        return (type, try table.range(at: index))
    }

    /// Returns the text in a range from ``links()``.
    package func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Returns the key in a range from ``links()``.
    package func key(_ range: Range<Int>) throws -> RecordKey {
        var reader = ByteReader(bytes, in: range)
        return try reader.readRecordKey()
    }

    package func fields() throws -> FieldTable { try FieldTable(bytes, in: tableStart..<range.upperBound) }

    /// Returns the fields of a state, for readers that want nothing else of it.
    package static func fields(of state: UnsafeRawBufferPointer) throws -> FieldTable {
        let size = try sizeIfWhole(state, 0..<state.count) ?? Self.size(state, 0..<state.count)
        return try FieldTable(state, in: size..<state.count)
    }

    func allFields() throws -> [RecordField] {
        try fields().changes().map { change in
            guard let value = change.value else {
                throw ByteReader(bytes, at: tableStart).malformed("a record's state", expected: "without removed keys")
            }
            return RecordField(change.field, value)
        }
    }

    /// Sets the contribution to the digest of the content in an encoded state.
    package static func setDigest(content: UInt128, in bytes: UnsafeMutableRawBufferPointer) throws {
        guard bytes.count >= StateLayout.rest else {
            throw ByteReader(UnsafeRawBufferPointer(bytes)).malformed("a record's state", expected: "longer")
        }
        bytes.storeBytes(of: content.littleEndian, toByteOffset: StateLayout.contentDigest, as: UInt128.self)
    }
}

extension RecordState {
    package init(decoding bytes: ArraySlice<UInt8>) throws {
        self = try bytes.withUnsafeBytes { bytes in
            let view = try RecordStateView(bytes, in: 0..<bytes.count)
            let links = try view.links()
            var state = RecordState(
                header: try view.header(), parent: try links.parent.map { try view.key($0) },
                share: try links.share.map { try view.key($0) },
                longName: links.longName.map { String(decoding: bytes[$0], as: UTF8.self) },
                fields: try view.allFields())
            state.isParentLoose = links.isParentLoose
            return state
        }
    }
}

extension KeyedFields.Field {
    /// Returns the range of a name that is too long for a key.
    fileprivate mutating func longName() throws -> Range<Int> {
        let range = value.position..<value.position + value.remaining
        let name = try value.readRemainingText("a long name", atMost: Envelope.maximumNameBytes)
        guard name.utf8.count > RecordState.longestKeyName else {
            throw value.malformed("a long name", expected: "more than \(RecordState.longestKeyName) bytes")
        }
        return range
    }

    /// Returns the range of a loose parent's key. A record with a loose parent has no other parent.
    func looseParent(beside parent: Range<Int>?) throws -> Range<Int> {
        guard parent == nil, value.remaining > 0 else {
            throw value.malformed("a loose parent", expected: "a record's key, and no other parent")
        }
        return try link()
    }

    /// Returns the range of a record key in the bytes; empty if there is none. The name is not validated as UTF-8.
    func link() throws -> Range<Int> {
        let range = value.position..<value.position + value.remaining
        if range.isEmpty { return range }
        var reader = value
        _ = try reader.readVarint("a link's zone")
        guard reader.remaining <= Envelope.maximumNameBytes else {
            throw reader.malformed("a link's name", expected: "at most \(Envelope.maximumNameBytes) bytes")
        }
        return range
    }
}
