import StrataModel

/// Builds the rows of indexes (docs/format-keys.md §6).
///
/// ```swift
/// var lower = IndexKey.start(database, IndexID(type: note, .field(title)), zone: zone)
/// lower.append(kind: .text)
/// lower.append(indexedText: "Groceries".utf8)
/// ```
package enum IndexKey {
    /// The length at which texts are truncated: records with the same beginning come in the order of their names. Even
    /// with a long name and escapes in both, a row fits in a key.
    package static let maximumTextBytes = 140

    /// The kinds of values, in the order of their rows.
    package enum Kind: UInt8, Sendable {
        case none = 1, number, double, date, text, reference, bytes, place
    }

    /// Returns the common prefix of all rows of an index in a database.
    package static func start(_ database: UInt64, _ id: IndexID) -> KeyWriter {
        var key = KeyWriter()
        key.append(start: id, in: database)
        return key
    }

    /// Returns the common prefix of the rows of an index in one zone.
    package static func start(_ database: UInt64, _ id: IndexID, zone: UInt64) -> KeyWriter {
        var key = start(database, id)
        key.append(number: zone)
        return key
    }
}

extension KeyWriter {
    /// Appends the common prefix of all rows of an index in a database.
    mutating func append(start id: IndexID, in database: UInt64) {
        append(number: database)
        append(number: id.type)
        append(number: id.subject.rawValue)
        append(byte: id.form.rawValue)
    }

    package mutating func append(kind: IndexKey.Kind) { append(byte: kind.rawValue) }

    /// Appends a text or bytes, truncated as in rows.
    package mutating func append(indexedText text: some Sequence<UInt8>) {
        append(text: text.prefix(IndexKey.maximumTextBytes))
    }

    mutating func append(indexedText text: UnsafeRawBufferPointer) {
        append(text: UnsafeRawBufferPointer(rebasing: text.prefix(IndexKey.maximumTextBytes)))
    }

    package mutating func append(indexed target: RecordKey) {
        append(number: target.zone)
        Self.withPackedName(target.name) { append(indexedText: $0) }
    }

    package mutating func append(latitude: Double, longitude: Double) {
        // Coordinates that are not on the earth come last.
        let cell = GeoCell.number(latitude: latitude, longitude: longitude) ?? .max
        append(cell: cell)
        append(double: latitude)
        append(double: longitude)
    }

    /// Appends the number of a cell.
    package mutating func append(cell: UInt64) { append(int64: Int64(bitPattern: cell ^ 1 << 63)) }
}

/// A row of an index, split into its parts.
package struct IndexRow {
    // Valid only as long as the key that it was made from; every access is checked against its count.
    private let key: UnsafeRawBufferPointer
    private let zoneBytes: Range<Int>
    /// The value after its kind; the name follows.
    private let value: Range<Int>
    package let kind: IndexKey.Kind
    package let zone: UInt64

    /// - Parameter start: the number of bytes in the index's prefix (``IndexKey/start(_:_:)``).
    package init(_ key: UnsafeRawBufferPointer, after start: Int) throws {
        var reader = KeyReader(key)
        try reader.skip(start)
        zone = try reader.readNumber()
        zoneBytes = start..<reader.position
        let number = try reader.readByte()
        guard let kind = IndexKey.Kind(rawValue: number) else {
            throw StrataError(
                .malformed, "A row of an index has an unknown kind.",
                .init(position: UInt64(zoneBytes.upperBound), expected: "1 to 8", found: "\(number)"))
        }
        switch kind {
        case .none: break
        case .number, .double, .date: try reader.skip(8)
        case .text, .bytes: try reader.skipText()
        case .reference:
            _ = try reader.readNumber()
            try reader.skipText()
        case .place: try reader.skip(24)
        }
        self.key = key
        self.kind = kind
        value = zoneBytes.upperBound + 1..<reader.position
    }

    /// The value with its kind; rows of the same value have the same bytes.
    package var valueBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: key[value.lowerBound - 1..<value.upperBound])
    }

    /// The record's name, packed as keys hold it, which determines the order of the zone's records with the same value.
    package var nameBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: key[value.upperBound...]) }

    /// True if the row may hold a truncated value.
    package var isCut: Bool { Self.isCut(kind, count: value.count) }

    /// Returns ``isCut-swift.property`` for a value with its kind, as a row holds it.
    package static func isCut(_ value: [UInt8]) -> Bool {
        value.first.flatMap(IndexKey.Kind.init).map { isCut($0, count: value.count - 1) } ?? false
    }

    /// Returns true if a value with its kind is complete, as rows hold it, and not just the beginning of one.
    package static func isWhole(_ value: [UInt8]) -> Bool {
        switch value.first.flatMap(IndexKey.Kind.init) {
        case .none?: value.count == 1
        case .number?, .double?, .date?: value.count == 9
        // The terminator of a text occurs nowhere else.
        case .text?, .bytes?: value.last == 0
        case .reference?: value.count > 2 && value.last == 0
        case .place?: value.count == 25
        case nil: false
        }
    }

    private static func isCut(_ kind: IndexKey.Kind, count: Int) -> Bool {
        switch kind {
        // Each byte takes one or two, and the terminator one.
        case .text, .bytes, .reference: count > IndexKey.maximumTextBytes
        default: false
        }
    }

    /// The place in a row of the kind ``IndexKey/Kind/place``.
    package var place: (latitude: Double, longitude: Double) {
        get throws {
            var reader = KeyReader(UnsafeRawBufferPointer(rebasing: key[value]))
            try reader.skip(8)
            return (try reader.readDouble(), try reader.readDouble())
        }
    }

    /// The key of the record.
    package var recordKey: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(zoneBytes.count + nameBytes.count)
        appendRecordKey(to: &bytes)
        return bytes
    }

    /// Appends the key of the record.
    package func appendRecordKey(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: key[zoneBytes]))
        bytes.append(contentsOf: nameBytes)
    }

    /// Returns a complete value with its kind, truncated as in rows.
    package static func cut(value: [UInt8]) throws -> [UInt8] {
        guard value.first == IndexKey.Kind.text.rawValue || value.first == IndexKey.Kind.bytes.rawValue,
            value.count > IndexKey.maximumTextBytes
        else { return value }
        return try value.withUnsafeBytes { value in
            var reader = KeyReader(value)
            var key = KeyWriter()
            key.append(byte: try reader.readByte())
            key.append(indexedText: try reader.readText())
            return key.bytes
        }
    }
}
