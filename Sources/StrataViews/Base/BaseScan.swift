import StrataModel
import StrataTree

/// Goes through a state once and gives the payloads of its base: what stands for all commits up to that state once
/// these are let go (docs/compaction.md).
///
/// It holds one payload at a time, of about 64 KiB, or with one large record. The same state gives the same bytes.
///
/// ```swift
/// var scan = try BaseScan(snapshot, chain: log.chain(at: snapshot.foldedOffset(ViewTree.records)))
/// while let payload = try scan.next() { try file.append(payload) }
/// ```
public struct BaseScan {
    struct Limits {
        /// A payload ends with the event that makes its events so many bytes.
        var payloadBytes = 64 << 10
        /// What a record's event has of values at most. The largest value fits, and all of it a commit.
        var valueBytes = 32 << 20
    }

    /// The trees whose rows are stated, in this order; the others follow from them.
    static let trees = [
        ViewTree.names, ViewTree.databases, ViewTree.users, ViewTree.devices, ViewTree.schema, ViewTree.zones,
        ViewTree.subscriptions, ViewTree.firedSubscriptions, ViewTree.clientTokens, ViewTree.expiredTokens,
        ViewTree.deliveries, ViewTree.records,
    ]

    /// The last commit that the base stands for.
    public let horizon: Position
    private let snapshot: Snapshot
    private let limits: Limits
    private var commit = CommitBuilder()
    /// The trees that are not over yet.
    private var rest = Self.trees[...]
    /// Where the first of them goes on.
    private var key: [UInt8] = []
    /// Which of its fields a record goes on with that takes several events.
    private var nextField = 0
    private var count: UInt64 = 0
    private var hash: UInt128 = 0
    private var isOver = false

    /// - Parameters:
    ///   - snapshot: the state right behind the last commit that the base stands for.
    ///   - chain: the log's chain value at that commit.
    /// - Throws: ``StrataError`` for the state in front of the first commit.
    public init(_ snapshot: Snapshot, chain: UInt32) throws { try self.init(snapshot, chain: chain, limits: Limits()) }

    init(_ snapshot: Snapshot, chain: UInt32, limits: Limits) throws {
        let offset = snapshot.foldedOffset(ViewTree.records)
        guard offset > 0, ViewTree.folded.allSatisfy({ snapshot.foldedOffset($0) == offset }) else {
            throw StrataError(
                .invalidArgument, "A base is made of the state behind a commit.", .init(found: "offset \(offset)"))
        }
        self.snapshot = snapshot
        self.limits = limits
        horizon = Position(offset: offset, chain: chain)
    }

    /// The next payload; nil behind the last, which has the marker.
    ///
    /// - Throws: ``StrataError`` if a page or a row is damaged, or has what only a later release knows.
    public mutating func next() throws -> [UInt8]? {
        if isOver { return nil }
        commit.removeAll()
        while let tree = rest.first, commit.byteCount < limits.payloadBytes {
            // Records begin a payload.
            if tree == ViewTree.records, commit.count > 0, key.isEmpty { break }
            guard try scan(tree) else { break }
            rest.removeFirst()
            key.removeAll()
        }
        if commit.count == 0 { try appendMarker() }
        let payload = commit.payload(EnvelopeHeader())
        hash = payload.withUnsafeBytes { DigestHash.hash(hash, $0) }
        count += 1
        return payload
    }

    private mutating func appendMarker() throws {
        let digests = try snapshot.digests()
        try commit.append(
            BaseMarkerEvent(
                horizon: horizon, stateDigest: digests.state, contentDigest: digests.content, payloadCount: count,
                payloadHash: hash))
        isOver = true
    }

    /// False if the payload is full.
    private mutating func scan(_ tree: TreeID) throws -> Bool {
        var isDone = true
        let start = key
        try start.withUnsafeBytes { lower in
            try snapshot.scan(tree, from: lower.isEmpty ? nil : lower) { key, row in
                if tree == ViewTree.records {
                    isDone = try append(record: key, row)
                } else {
                    try append(row, at: key, of: tree)
                    isDone = commit.byteCount < limits.payloadBytes
                }
                // Behind the entry; or at it, if its record goes on.
                if !isDone { self.key = [UInt8](key) + (nextField == 0 ? [0] : []) }
                return isDone
            }
        }
        return isDone
    }

    /// False if the payload is full.
    private mutating func append(record key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) throws -> Bool {
        nextField = try Self.append(key, row, from: nextField, atMost: limits.valueBytes, to: &commit)
        return nextField == 0 && commit.byteCount < limits.payloadBytes
    }

    /// Appends an event of a record.
    ///
    /// - Returns: the field with which the record's next event begins; 0 if there is none.
    @discardableResult
    static func append(
        _ key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer, from field: Int = 0, atMost limit: Int = .max,
        to commit: inout CommitBuilder
    ) throws -> Int {
        var reader = KeyReader(key)
        let zone = try reader.readNumber()
        let state = try RecordStateView(row, in: 0..<row.count)
        let record = RecordKey(zone: zone, name: try state.name(keyName: try reader.readLastText()))
        let end = try commit.append(stating: state, record, from: field, atMost: limit)
        return try end < state.fields().count ? end : 0
    }

    private mutating func append(
        _ row: UnsafeRawBufferPointer, at key: UnsafeRawBufferPointer, of tree: TreeID
    ) throws {
        switch tree {
        case ViewTree.names: try commit.append(Event(.nameInterned, body: ArraySlice(row)))
        case ViewTree.databases: try append(row, as: DatabaseCreatedEvent.self)
        case ViewTree.users: try append(row, as: UserChangedEvent.self)
        case ViewTree.devices: try append(row, as: DeviceSeenEvent.self)
        case ViewTree.schema: try append(row, as: SchemaChangedEvent.self)
        case ViewTree.zones: try append(zone: key, row)
        case ViewTree.subscriptions: try append(row, as: SubscriptionSavedEvent.self)
        case ViewTree.firedSubscriptions: try append(fired: row)
        case ViewTree.clientTokens: try append(row, as: ClientTokenEvent.self)
        case ViewTree.expiredTokens: try append(row, as: TokensExpiredEvent.self)
        case ViewTree.deliveries: try append(row, as: NotificationDeliveredEvent.self)
        default: preconditionFailure("a tree whose rows no base states")
        }
    }

    private mutating func append<Body: StatedEvent>(_ row: UnsafeRawBufferPointer, as _: Body.Type) throws {
        var reader = ByteReader(row)
        let version = try reader.readPackedVersion("a row's version")
        var event = try Self.event(in: row, at: RowLayout.body, as: Body.self)
        event.original = version
        try commit.append(event)
    }

    /// An event that is the rest of a row.
    private static func event<Body: EventBody>(
        in row: UnsafeRawBufferPointer, at start: Int, as _: Body.Type
    ) throws -> Body {
        var reader = ByteReader(row, at: start)
        let event = try Body(from: &reader)
        try reader.expectEnd("an event")
        // What a later release added as optional would be lost without a word.
        guard try event.event().body.elementsEqual(row[start...]) else {
            throw StrataError(
                .newerFormat, "The state has something that only a later release can put into a base.",
                .init(found: "\(Body.kind)"))
        }
        return event
    }
}

// MARK: Rows that are no event's body

extension BaseScan {
    /// What fired is over: it is said to have been there, and to have ended.
    private mutating func append(fired row: UnsafeRawBufferPointer) throws {
        var reader = ByteReader(row)
        let by = try reader.readPackedVersion("the event that made a subscription fire")
        let saved = try Self.event(in: row, at: reader.position, as: SubscriptionSavedEvent.self)
        try commit.append(saved)
        try commit.append(
            SubscriptionDeletedEvent(
                database: saved.database, user: saved.user, id: saved.subscription.id, firedBy: by))
    }

    private mutating func append(zone key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) throws {
        var reader = KeyReader(key)
        let database = try reader.readNumber()
        let zone = try reader.readNumber()
        let row = try ZoneRow(decoding: row)
        if let reason = row.status.deletionReason {
            try commit.append(
                ZoneDeletedEvent(
                    zone: zone, database: database, incarnation: row.incarnation, reason: reason, original: row.version
                ))
        } else {
            try commit.append(
                ZoneSavedEvent(
                    zone: zone, database: database, incarnation: row.incarnation, capabilities: row.capabilities,
                    encryptionScope: row.encryptionScope, original: row.version,
                    lastChanged: row.lastChanged == row.version.offset ? nil : row.lastChanged))
        }
    }
}
