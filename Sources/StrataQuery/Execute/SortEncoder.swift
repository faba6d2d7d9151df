import StrataModel
import StrataViews

/// A place in an order: the uncut value of each sort key, encoded as in an index row, and a tie that distinguishes
/// records with equal keys. A cursor's tie has the record's name, and that of a running query its packed form.
struct SortPlace: Hashable, Sendable {
    var values: [[UInt8]]
    var tie: [UInt8]

    /// - Throws: ``StrataError`` for bytes that no record has in the order, as in a forged cursor.
    func check(_ order: QueryOrder) throws {
        for value in values where !(try Self.isWhole(value)) { throw Self.madeUp }
        try tie.withUnsafeBytes { tie in
            var reader = KeyReader(tie)
            if order.ties == .byName { _ = try reader.readText() }
            _ = try reader.readNumber()
            if order.ties == .byPlace { _ = try reader.readLastText() }
            guard reader.position == tie.count else { throw Self.madeUp }
        }
    }

    private static let madeUp = StrataError(.malformed, "The query cursor has a place that no record can have.")

    private static func isWhole(_ value: [UInt8]) throws -> Bool {
        guard let first = value.first else { return false }
        switch IndexKey.Kind(rawValue: first) {
        case .number?, .double?, .date?: return value.count == 9
        case .text?, .bytes?:
            return try value.withUnsafeBytes { value in
                var reader = KeyReader(value)
                try reader.skip(1)
                _ = try reader.readText()
                return reader.position == value.count
            }
        case .none?, .reference?, .place?: return value.count == 1
        case nil: return value == [SortEncoder.listKind]
        }
    }

    /// Returns the place of a cursor as a query compares it. Both forms of names have the same order.
    func packed(_ ties: QueryOrder.Ties) throws -> SortPlace {
        var key = KeyWriter()
        try tie.withUnsafeBytes { try SortEncoder.record(ofTie: $0, ties) }.withUnsafeBytes { record in
            var reader = KeyReader(record)
            key.append(number: try reader.readNumber())
            PackedName.withPacked(try reader.readLastText()) { key.append(lastText: $0) }
        }
        return SortPlace(values: values, tie: try key.bytes.withUnsafeBytes { try SortEncoder.tie($0, ties) })
    }

    /// Bytes that sort as the places do; the bits of descending keys are inverted.
    func bytes(_ order: QueryOrder) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.reduce(tie.count) { $0 + $1.count })
        for (value, key) in zip(values, order.keys) {
            if key.isAscending { bytes += value } else { bytes += value.lazy.map { ~$0 } }
        }
        return bytes + tie
    }
}

/// Determines the places of records in an order.
struct SortEncoder {
    /// Sorts after all kinds of index rows: a list has no order.
    static let listKind = IndexKey.Kind.place.rawValue + 1

    let order: QueryOrder
    private let keys: [(key: SortKey, subject: QuerySubject?)]
    private let scene: QueryContext

    init(_ order: QueryOrder, _ scene: QueryContext) throws {
        self.order = order
        self.scene = scene
        keys = try order.keys.map { ($0, try scene.subject(of: $0.name)) }
    }

    /// - Parameter record: the key of a record, with the name itself.
    func place(_ record: UnsafeRawBufferPointer, _ view: RecordStateView) throws -> SortPlace {
        let values = try keys.map { key in
            var writer = KeyWriter()
            try append(key.key, key.subject, view, to: &writer)
            return writer.bytes
        }
        return SortPlace(values: values, tie: try Self.tie(record, order.ties))
    }

    func bytes(_ record: UnsafeRawBufferPointer, _ view: RecordStateView) throws -> [UInt8] {
        var writer = KeyWriter()
        try append(record, view, to: &writer)
        return writer.bytes
    }

    /// Appends the bytes of the record's place, equal to ``SortPlace/bytes(_:)`` of a packed one.
    func append(_ record: UnsafeRawBufferPointer, _ view: RecordStateView, to writer: inout KeyWriter) throws {
        try appendKeys(view, to: &writer)
        try appendTie(record, to: &writer)
    }

    /// Appends the beginning of a place, which distinguishes most records.
    func appendKeys(_ view: RecordStateView, to writer: inout KeyWriter) throws {
        for (key, subject) in keys {
            let start = writer.bytes.count
            try append(key, subject, view, to: &writer)
            if !key.isAscending { writer.turnBits(from: start) }
        }
    }

    func appendTie(_ record: UnsafeRawBufferPointer, to writer: inout KeyWriter) throws {
        if order.ties == .byPlace { return writer.append(lastText: record) }
        var reader = KeyReader(record)
        let zone = try reader.readNumber()
        writer.append(text: try reader.readLastText())
        writer.append(number: zone)
    }

    /// - Parameter record: the key of a record.
    static func tie(_ record: UnsafeRawBufferPointer, _ ties: QueryOrder.Ties) throws -> [UInt8] {
        if ties == .byPlace { return [UInt8](record) }
        var reader = KeyReader(record)
        let zone = try reader.readNumber()
        var key = KeyWriter()
        key.append(text: try reader.readLastText())
        key.append(number: zone)
        return key.bytes
    }

    /// The key of the record to which a tie belongs.
    static func record(ofTie tie: UnsafeRawBufferPointer, _ ties: QueryOrder.Ties) throws -> [UInt8] {
        if ties == .byPlace { return [UInt8](tie) }
        var reader = KeyReader(tie)
        let name = try reader.readText()
        let zone = try reader.readNumber()
        var key = KeyWriter()
        key.append(number: zone)
        key.append(lastText: name)
        return key.bytes
    }

    private func append(
        _ key: SortKey, _ subject: QuerySubject?, _ view: RecordStateView, to writer: inout KeyWriter
    ) throws {
        switch (key, subject) {
        case (_, nil): writer.append(kind: .none)
        case (.distance(_, let latitude, let longitude), .field(let field)?):
            guard case .location(let place)? = try view.fields().value(of: field.field) else {
                writer.append(kind: .none)
                break
            }
            writer.append(kind: .double)
            writer.append(
                double: GreatCircle.distanceMetres(
                    fromLatitude: place.latitude, longitude: place.longitude, toLatitude: latitude,
                    longitude: longitude))
        case (.key, .field(let field)?):
            guard let value = try view.fields().value(of: field.field) else {
                writer.append(kind: .none)
                break
            }
            Self.append(value, to: &writer)
        case (.key, .system(.creationDate)?):
            writer.append(kind: .number)
            writer.append(int64: view.created)
        case (.key, .system(.modificationDate)?):
            writer.append(kind: .number)
            writer.append(int64: try view.header().modified)
        case (.key, .system(.parent)?):
            writer.append(kind: try view.links().parent == nil ? .none : .reference)
        case (.key, .system(.creatorUserRecordID)?):
            writer.append(kind: try view.header().createdBy == 0 ? .none : .reference)
        case (.key, .system(.lastModifiedUserRecordID)?):
            writer.append(kind: try view.header().modifiedBy == 0 ? .none : .reference)
        case (.key, .system(.share)?): writer.append(kind: try view.links().share == nil ? .none : .reference)
        // All records compare equal by these keys, and the ties decide.
        case (.key, .system(.recordID)?), (.distance, .system?): writer.append(kind: .none)
        }
    }

    /// Appends a value; values without an order are all encoded alike.
    private static func append(_ value: FieldValue, to writer: inout KeyWriter) {
        switch value {
        case .string(let text):
            writer.append(kind: .text)
            writer.append(text: text.utf8)
        case .int64(let number):
            writer.append(kind: .number)
            writer.append(int64: number)
        case .double(let number), .date(let number):
            writer.append(kind: value.kind == .date ? .date : .double)
            writer.append(double: number)
        case .data(let bytes):
            writer.append(kind: .bytes)
            writer.append(text: bytes)
        case .reference: writer.append(kind: .reference)
        case .location: writer.append(kind: .place)
        case .asset, .sealed: writer.append(kind: .none)
        case .list: writer.append(byte: listKind)
        }
    }
}
