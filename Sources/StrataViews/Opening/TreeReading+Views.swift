import StrataModel
import StrataTree

extension Snapshot: NameResolver {}
extension Fork: NameResolver {}

/// Reads the trees of a store row by row.
extension TreeReading {
    package func ordinal(of name: InternedName.Name) throws -> UInt64? {
        try get(ViewTree.ordinals, key: ViewKeys.ordinal(of: name)) { row in
            var reader = ByteReader(row)
            return try reader.readVarint("an ordinal")
        }
    }

    package func name(_ namespace: Namespace, _ ordinal: UInt64) throws -> InternedName.Name? {
        try get(ViewTree.names, key: ViewKeys.name(namespace, ordinal)) {
            try InternedName(decoding: ArraySlice($0)).name
        }
    }

    /// Calls `body` with each name, in the order of namespaces and ordinals.
    package func forEachName(_ body: (InternedName) throws -> Void) throws {
        try scan(ViewTree.names, from: nil, to: nil) { _, row in
            try body(InternedName(decoding: ArraySlice(row)))
            return true
        }
    }

    /// Returns the number of names of a kind that have ordinals. Ordinals are dense, so a binary search finds it.
    package func nameCount(_ namespace: Namespace) throws -> UInt64 {
        try countDense { try hasRow(ViewTree.names, key: ViewKeys.name(namespace, $0)) }
    }

    /// Returns the number of things that are numbered from 1 without gaps, with a binary search.
    func countDense(_ exists: (UInt64) throws -> Bool) throws -> UInt64 {
        var end: UInt64 = 1
        while try exists(end) { end *= 2 }
        var (low, high) = (end / 2, end)
        while high - low > 1 {
            let middle = (low + high) / 2
            if try exists(middle) { low = middle } else { high = middle }
        }
        return low
    }

    package func zoneRow(_ database: UInt64, _ zone: UInt64) throws -> ZoneRow? {
        try get(ViewTree.zones, key: ViewKeys.zone(database, zone)) { try ZoneRow(decoding: $0) }
    }

    /// Reads only the status of a zone, as ``zoneRow(_:_:)`` reads the whole row.
    package func zoneStatus(_ database: UInt64, _ zone: UInt64) throws -> ZoneRow.Status? {
        try get(ViewTree.zones, key: ViewKeys.zone(database, zone)) { try ZoneRow.status(decoding: $0) }
    }

    /// Returns the existing and former zones of a database, in the order of their ordinals.
    package func zoneRows(of database: UInt64) throws -> [(zone: UInt64, row: ZoneRow)] {
        var rows: [(UInt64, ZoneRow)] = []
        try ViewKeys.withBounds(ofNumber: database) { lower, upper in
            try scan(ViewTree.zones, from: lower, to: upper) { key, row in
                var reader = KeyReader(key)
                _ = try reader.readNumber()
                rows.append((try reader.readNumber(), try ZoneRow(decoding: row)))
                return true
            }
        }
        return rows
    }

    /// Calls `body` with each zone of a database at its last change, in the order of changes, beginning after the given
    /// offset and zone, until it returns false.
    package func forEachZoneChange(
        of database: UInt64, after offset: UInt64, zone: UInt64,
        _ body: (_ offset: UInt64, _ zone: UInt64) throws -> Bool
    ) throws {
        try ViewKeys.withBounds(ofNumber: database) { _, upper in
            // Appending a 0 byte gives the first possible key after this one.
            try (ViewKeys.zoneChange(database, offset, zone) + [0]).withUnsafeBytes { lower in
                try scan(ViewTree.zoneChanges, from: lower, to: upper) { key, _ in
                    var reader = KeyReader(key)
                    _ = try reader.readNumber()
                    return try body(try reader.readNumber(), try reader.readNumber())
                }
            }
        }
    }

    /// Returns the offset before which change tokens of a database have expired; 0 if none have.
    package func tokenExpiry(of database: UInt64) throws -> UInt64 {
        // Ordinal 0 means all databases.
        try [0, database].map { database in
            let event: TokensExpiredEvent? = try event(in: ViewTree.expiredTokens, key: ViewKeys.numbers(database))
            return event?.offset ?? 0
        }.max() ?? 0
    }

    /// Calls `body` with the encoded state of a record, which is valid only inside it; returns nil if there is no
    /// record.
    package func withRecord<Result>(
        _ record: RecordKey, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        try ViewKeys.record(record).withUnsafeBytes { try withRecord(record, at: $0, body) }
    }

    /// - Parameter key: the key of the record.
    func withRecord<Result>(
        _ record: RecordKey, at key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        try get(ViewTree.records, key) { state in
            try RecordStateView(state, in: 0..<state.count).require(name: record.name)
            return try body(state)
        }
    }

    /// Calls `body` with each record of a zone whose key is not before that of `name`, in the order of keys, until it
    /// returns false. This is the order of names, except among long names with the same beginning.
    package func forEachRecord(
        of zone: UInt64, from name: String = "",
        _ body: (_ name: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let lower = ViewKeys.record(RecordKey(zone: zone, name: name))
        try ViewKeys.withBounds(ofNumber: zone) { _, upper in
            try lower.withUnsafeBytes { lower in
                try scan(ViewTree.records, from: lower, to: upper) { key, state in
                    var reader = KeyReader(key)
                    _ = try reader.readNumber()
                    return try PackedName.withName(of: try reader.readLastText()) {
                        try body(try Self.name(of: state, named: $0), state)
                    }
                }
            }
        }
    }

    /// Returns a record's name, of which the key may hold only the short form.
    private static func name(
        of state: UnsafeRawBufferPointer, named name: UnsafeRawBufferPointer
    ) throws -> UnsafeRawBufferPointer {
        guard KeyWriter.isShortForm(name) else { return name }
        return UnsafeRawBufferPointer(
            rebasing: state[try RecordStateView(state, in: 0..<state.count).longNamePlace()])
    }

    /// Returns the fields of a record type.
    package func schema(of type: UInt64) throws -> [SchemaField] { try declaration(of: type)?.fields ?? [] }

    /// Returns all declarations of a record type; nil if it has none.
    package func declaration(of type: UInt64) throws -> SchemaChangedEvent? {
        try event(in: ViewTree.schema, key: ViewKeys.numbers(type))
    }

    /// Returns the grants of a record type, which apply to its records in the public database.
    package func grants(of type: UInt64) throws -> [SchemaGrant] {
        let declared = try declaration(of: type)?.grants ?? []
        return declared.isEmpty ? SchemaGrant.standard : declared
    }

    /// Returns the version of the last event that declared something of a record type; nil if there is none.
    package func declarationVersion(of type: UInt64) throws -> Version? {
        try version(in: ViewTree.schema, key: ViewKeys.numbers(type), "the version of a row")
    }

    /// Returns the version of the last event that changed a user's account; nil if there is none.
    package func accountVersion(of user: UInt64) throws -> Version? {
        try version(in: ViewTree.users, key: ViewKeys.numbers(user), "the version of a row")
    }

    /// Returns the token that a device sent last for a zone, with the event that stored it.
    package func clientToken(
        _ zone: UInt64, _ device: UInt64
    ) throws -> (token: [UInt8], items: UInt64, version: Version)? {
        try get(ViewTree.clientTokens, key: ViewKeys.numbers(zone, device)) { row in
            let version = try RowLayout.version(of: row, "a token's version")
            let event: ClientTokenEvent = try RowLayout.event(in: row)
            return (event.token, event.items, version)
        }
    }

    /// Calls `body` with the name of each record of the target's zone that refers to the target in a given way, in the
    /// order of keys, until it returns false.
    package func forEachSource(
        of target: RecordKey, _ kind: ReferenceKind, _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try forEachSource(of: target, kind, through: kind) { try body($1) }
    }

    /// Calls `body` as ``forEachSource(of:_:_:)`` does, for each of several kinds in turn.
    package func forEachSource(
        of target: RecordKey, _ first: ReferenceKind, through last: ReferenceKind,
        _ body: (ReferenceKind, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let lower = ViewKeys.reference(target, first)
        let upper = ViewKeys.reference(target, last, after: true)
        try lower.bytes.withUnsafeBytes { lower in
            try upper.bytes.withUnsafeBytes { upper in
                try scan(ViewTree.references, from: lower, to: upper) { key, _ in
                    var reader = KeyReader(key)
                    _ = try reader.readNumber()
                    try reader.skipText()
                    guard let kind = ReferenceKind(rawValue: try reader.readByte()) else { return true }
                    let source = reader
                    guard try reader.readNumber() == target.zone else { return true }
                    return try PackedName.withName(of: try reader.readLastText()) { name in
                        guard KeyWriter.isShortForm(name) else { return try body(kind, name) }
                        // The referring record exists, because otherwise its row would not.
                        var wholeSource = source
                        return try get(ViewTree.records, wholeSource.readLastText()) { state in
                            try body(kind, try Self.name(of: state, named: name))
                        } ?? true
                    }
                }
            }
        }
    }
}

extension Snapshot {
    /// Calls `body` with each record of a zone, in the order of keys, until it returns false. It receives the name or
    /// its short form, which the key holds: see ``RecordStateView/name(orShort:)``.
    ///
    /// - Parameter name: the name or short form of the record after which to begin; empty to begin with the first.
    package func forEachRecord(
        of zone: UInt64, after name: [UInt8],
        _ body: (_ name: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let start = ViewKeys.numbers(zone)
        let packed = name.withUnsafeBytes { PackedName.withPacked($0) { [UInt8]($0) } }
        try ViewKeys.withBounds(ofNumber: zone) { _, upper in
            try (start + (name.isEmpty ? [] : packed + [0])).withUnsafeBytes { lower in
                try scanValues(ViewTree.records, from: lower, to: upper) { state, entry in
                    try entry.withKey { key in
                        try PackedName.withName(of: .init(rebasing: key[start.count...])) { try body($0, state) }
                    }
                }
            }
        }
    }
}

extension RecordStateView {
    /// Returns a record's name, given the form that its key holds.
    package func name(keyName: UnsafeRawBufferPointer) throws -> String {
        try PackedName.withName(of: keyName) { try self.name(orShort: $0) }
    }

    /// Returns a record's name, given the name or its short form.
    package func name(orShort name: UnsafeRawBufferPointer) throws -> String {
        guard KeyWriter.isShortForm(name) else { return String(decoding: name, as: UTF8.self) }
        return try text(longNamePlace())
    }

    /// Returns the name of the record whose state the bytes are, given the form that its key holds.
    package static func name(in state: [UInt8], keyName: UnsafeRawBufferPointer) throws -> String {
        try state.withUnsafeBytes { try RecordStateView($0, in: 0..<$0.count).name(keyName: keyName) }
    }

    fileprivate func longNamePlace() throws -> Range<Int> {
        guard let place = try links().longName else {
            throw StrataError(.malformed, "A record whose key is a short form lacks its full name.")
        }
        return place
    }
}
