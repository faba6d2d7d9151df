import StrataModel
import StrataTree

extension Snapshot: NameResolver {}
extension Fork: NameResolver {}

/// What the trees of a store say, row by row.
extension TreeReading {
    public func ordinal(of name: InternedName.Name) throws -> UInt64? {
        try ViewKeys.ordinal(of: name).withUnsafeBytes { key in
            try get(ViewTree.ordinals, key) { row in
                var reader = ByteReader(row)
                return try reader.readVarint("an ordinal")
            }
        }
    }

    public func name(_ namespace: Namespace, _ ordinal: UInt64) throws -> InternedName.Name? {
        try ViewKeys.name(namespace, ordinal).withUnsafeBytes { key in
            try get(ViewTree.names, key) { try InternedName(decoding: ArraySlice($0)).name }
        }
    }

    /// Calls `body` with each name, by namespaces and ordinals.
    public func forEachName(_ body: (InternedName) throws -> Void) throws {
        try scan(ViewTree.names, from: nil, to: nil) { _, row in
            try body(InternedName(decoding: ArraySlice(row)))
            return true
        }
    }

    /// How many names of a kind have ordinals. They are dense, so it is found by halving.
    public func nameCount(_ namespace: Namespace) throws -> UInt64 {
        func exists(_ ordinal: UInt64) throws -> Bool {
            try ViewKeys.name(namespace, ordinal).withUnsafeBytes { try get(ViewTree.names, $0) { _ in } } != nil
        }
        var end: UInt64 = 1
        while try exists(end) { end *= 2 }
        var (low, high) = (end / 2, end)
        while high - low > 1 {
            let middle = (low + high) / 2
            if try exists(middle) { low = middle } else { high = middle }
        }
        return low
    }

    public func zoneRow(_ database: UInt64, _ zone: UInt64) throws -> ZoneRow? {
        try ViewKeys.zone(database, zone).withUnsafeBytes { key in
            try get(ViewTree.zones, key) { try ZoneRow(decoding: $0) }
        }
    }

    /// As ``zoneRow(_:_:)``, but only whether the zone is there.
    public func zoneStatus(_ database: UInt64, _ zone: UInt64) throws -> ZoneRow.Status? {
        try ViewKeys.zone(database, zone).withUnsafeBytes { key in
            try get(ViewTree.zones, key) { try ZoneRow.status(decoding: $0) }
        }
    }

    /// The zones of a database that are there or have been, in the order of their ordinals.
    public func zoneRows(of database: UInt64) throws -> [(zone: UInt64, row: ZoneRow)] {
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

    /// Calls `body` with each zone of a database at its last change, in the order of changes, from the first behind a
    /// zone at an offset, until it returns false.
    public func forEachZoneChange(
        of database: UInt64, after offset: UInt64, zone: UInt64,
        _ body: (_ offset: UInt64, _ zone: UInt64) throws -> Bool
    ) throws {
        try ViewKeys.withBounds(ofNumber: database) { _, upper in
            // No key is longer than another by one byte that is 0.
            try (ViewKeys.zoneChange(database, offset, zone) + [0]).withUnsafeBytes { lower in
                try scan(ViewTree.zoneChanges, from: lower, to: upper) { key, _ in
                    var reader = KeyReader(key)
                    _ = try reader.readNumber()
                    return try body(try reader.readNumber(), try reader.readNumber())
                }
            }
        }
    }

    /// Change tokens of a database before this offset are no longer good; 0 if none were let expire.
    public func tokenExpiry(of database: UInt64) throws -> UInt64 {
        // Ordinal 0 stands for all databases.
        try [0, database].map { database in
            try ViewKeys.numbers(database).withUnsafeBytes { key in
                try get(ViewTree.expiredTokens, key) { row in
                    var reader = ByteReader(row, at: RowLayout.body)
                    return try TokensExpiredEvent(from: &reader).offset
                }
            } ?? 0
        }.max() ?? 0
    }

    /// The encoded state of a record; valid only inside `body`.
    public func withRecord<Result>(
        _ record: RecordKey, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        try ViewKeys.record(record).withUnsafeBytes { try withRecord(record, at: $0, body) }
    }

    /// - Parameter key: that of the record.
    func withRecord<Result>(
        _ record: RecordKey, at key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        try get(ViewTree.records, key) { state in
            try RecordStateView(state, in: 0..<state.count).require(name: record.name)
            return try body(state)
        }
    }

    /// Calls `body` with each record of a zone, in the order of its keys, from the first that is not before that of
    /// `name`, until it returns false. It is the order of names, but that of long names among those that begin alike.
    public func forEachRecord(
        of zone: UInt64, from name: String = "",
        _ body: (_ name: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let lower = ViewKeys.record(RecordKey(zone: zone, name: name))
        try forEachRecord(of: zone, fromKey: lower) { try body(try Self.name(of: $1, in: $0), $1) }
    }

    /// Calls `body` with each record of a zone, in the order of its keys, until it returns false, and with what its key
    /// has of its name: see ``RecordStateView/name(keyName:)``.
    ///
    /// - Parameter keyName: where to begin: behind the record whose key has this.
    public func forEachRecord(
        of zone: UInt64, behind keyName: [UInt8],
        _ body: (_ keyName: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let lower = ViewKeys.numbers(zone) + (keyName.isEmpty ? [] : keyName + [0])
        try forEachRecord(of: zone, fromKey: lower, body)
    }

    private func forEachRecord(
        of zone: UInt64, fromKey lower: [UInt8],
        _ body: (_ keyName: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try ViewKeys.withBounds(ofNumber: zone) { _, upper in
            try lower.withUnsafeBytes { lower in
                try scan(ViewTree.records, from: lower, to: upper) { key, state in
                    var reader = KeyReader(key)
                    _ = try reader.readNumber()
                    return try body(try reader.readLastText(), state)
                }
            }
        }
    }

    /// A record's name, of which the key may have the short form only.
    private static func name(
        of state: UnsafeRawBufferPointer, in key: UnsafeRawBufferPointer
    ) throws -> UnsafeRawBufferPointer {
        guard KeyWriter.isShortForm(key) else { return key }
        return UnsafeRawBufferPointer(
            rebasing: state[try RecordStateView(state, in: 0..<state.count).longNamePlace()])
    }

    /// The fields that a record type has.
    public func schema(of type: UInt64) throws -> [SchemaField] { try declaration(of: type)?.fields ?? [] }

    /// All that has been declared of a record type; nil if nothing has.
    public func declaration(of type: UInt64) throws -> SchemaChangedEvent? {
        try ViewKeys.numbers(type).withUnsafeBytes { key in
            try get(ViewTree.schema, key) { row in
                var reader = ByteReader(row, at: RowLayout.body)
                return try SchemaChangedEvent(from: &reader)
            }
        }
    }

    /// The event that declared something of a record type last; nil if nothing has been.
    public func declarationVersion(of type: UInt64) throws -> Version? {
        try ViewKeys.numbers(type).withUnsafeBytes { try version(ofRow: $0, in: ViewTree.schema) }
    }

    /// The event that changed a user's account last; nil if nothing is said of the user.
    public func accountVersion(of user: UInt64) throws -> Version? {
        try ViewKeys.numbers(user).withUnsafeBytes { try version(ofRow: $0, in: ViewTree.users) }
    }

    private func version(ofRow key: UnsafeRawBufferPointer, in tree: TreeID) throws -> Version? {
        try get(tree, key) { row in
            var reader = ByteReader(row)
            return try reader.readPackedVersion("the version of a row")
        }
    }

    /// The token that a device sent last for a zone, and the event that kept it.
    public func clientToken(
        _ zone: UInt64, _ device: UInt64
    ) throws -> (token: [UInt8], items: UInt64, version: Version)? {
        try ViewKeys.numbers(zone, device).withUnsafeBytes { key in
            try get(ViewTree.clientTokens, key) { row in
                var reader = ByteReader(row)
                let version = try reader.readPackedVersion("a token's version")
                var body = ByteReader(row, at: RowLayout.body)
                let event = try ClientTokenEvent(from: &body)
                return (event.token, event.items, version)
            }
        }
    }

    /// Calls `body` with the name of each record of a zone that refers to one of the same zone in a way, in the order
    /// of their keys, until it returns false.
    public func forEachSource(
        of target: RecordKey, _ kind: ReferenceKind, _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try forEachSource(of: target, kind, through: kind) { try body($1) }
    }

    /// As ``forEachSource(of:_:_:)``, for each of several ways, one after the other.
    public func forEachSource(
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
                    let name = try reader.readLastText()
                    guard KeyWriter.isShortForm(name) else { return try body(kind, name) }
                    // What refers is there, or the row would not be.
                    var wholeSource = source
                    return try get(ViewTree.records, wholeSource.readLastText()) { state in
                        try body(kind, try Self.name(of: state, in: name))
                    } ?? true
                }
            }
        }
    }
}

/// Where the parts of a row are that is an event's body.
enum RowLayout {
    static let body = 40
}

extension RecordStateView {
    /// A record's name, given what its key has of it.
    public func name(keyName: UnsafeRawBufferPointer) throws -> String {
        guard KeyWriter.isShortForm(keyName) else { return String(decoding: keyName, as: UTF8.self) }
        return try text(longNamePlace())
    }

    fileprivate func longNamePlace() throws -> Range<Int> {
        guard let place = try links().longName else {
            throw StrataError(.malformed, "A record with a short form for a key does not say its name.")
        }
        return place
    }
}
