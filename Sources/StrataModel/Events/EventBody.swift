/// The content of an event of one kind, as a plain value with its encoding (docs/format.md §18).
///
/// ```swift
/// envelope.events.append(try ZoneDeletedEvent(zone: 3, database: 1, incarnation: life, reason: .purged).event())
/// let deleted = try ZoneDeletedEvent(decoding: event.body)
/// ```
package protocol EventBody: Described, Hashable {
    static var kind: EventKind { get }
    func encode(into writer: inout ByteWriter) throws
    /// Reads to the end of the reader.
    init(from reader: inout ByteReader) throws
}

/// An event that a base can state again (docs/compaction.md §2), with its original position in the log.
package protocol StatedEvent: EventBody {
    var original: Version? { get set }
}

extension EventBody {
    package static var title: String { kind.description }

    package func event() throws -> Event {
        var writer = ByteWriter(reserving: 32)
        try encode(into: &writer)
        return Event(Self.kind, body: writer.bytes[...])
    }

    /// - Throws: ``StrataError`` if the body does not encode an event of this kind.
    package init(decoding body: ArraySlice<UInt8>) throws {
        self = try body.withUnsafeBytes { try Self(decoding: $0) }
    }

    package init(decoding body: UnsafeRawBufferPointer) throws {
        var reader = ByteReader(body)
        self = try Self(from: &reader)
        try reader.expectEnd("an event")
    }
}

/// The keyed field that every event of a base may have: its original position in the log.
enum CommonField {
    static let original: UInt64 = 2
}

extension ByteWriter {
    /// Appends the keyed fields of an event that has none but its original version.
    mutating func appendFields(original: Version?) {
        appendMeasured { $0.appendField(CommonField.original, original?.packed ?? 0) }
    }
}

extension ByteReader {
    mutating func readOriginal() throws -> Version? {
        var original: Version?
        var fields = try KeyedFields(from: &self, "the fields of an event")
        try fields.read(only: CommonField.original) { original = try $0.version() }
        return original
    }
}

extension EventBody {
    static func check(_ offset: UInt64) throws {
        guard offset <= Version.maximumOffset else {
            throw StrataError(
                .outOfRange, "The offset is invalid.",
                .init(expected: "at most \(Version.maximumOffset)", found: "\(offset)"))
        }
    }
}
