/// What a client wants to find again with the changes of a zone.
public struct ClientTokenEvent: StatedEvent {
    public static let kind = EventKind.clientTokenKept
    public static let maximumBytes = 65_536

    public var zone: UInt64
    public var device: UInt64
    public var token: [UInt8]
    /// Tells the request apart from others with the same token, by what it saves and deletes; 0 if that is not known.
    public var items: UInt64
    public var original: Version?

    private static let items: UInt64 = 5

    public init(zone: UInt64, device: UInt64, token: [UInt8], items: UInt64 = 0, original: Version? = nil) {
        self.zone = zone
        self.device = device
        self.token = token
        self.items = items
        self.original = original
    }

    public func encode(into writer: inout ByteWriter) throws {
        guard token.count <= Self.maximumBytes else {
            throw StrataError.tooLarge("a client token's bytes", limit: Self.maximumBytes, found: token.count)
        }
        writer.appendVarint(zone)
        writer.appendVarint(device)
        writer.appendVarint(UInt64(token.count))
        writer.append(bytes: token)
        writer.appendMeasured { writer in
            writer.appendField(CommonField.original, original?.packed ?? 0)
            writer.appendField(Self.items, items)
        }
    }

    public init(from reader: inout ByteReader) throws {
        zone = try reader.readVarint("a token's zone")
        device = try reader.readVarint("a token's device")
        token = Array(reader.bytes[try reader.readStringRange("a client token", atMost: Self.maximumBytes)])
        items = 0
        var fields = try KeyedFields(from: &reader, "the fields of a token")
        while var field = try fields.next() {
            switch field.key {
            case CommonField.original: original = try field.version()
            case Self.items: items = try field.number("what a request was asked for")
            default: try field.skip()
            }
        }
    }
}

/// That everything up to an offset was replaced by what it came to.
public struct BaseMarkerEvent: EventBody {
    public static let kind = EventKind.baseMarker

    public var horizon: Position
    public var stateDigest: UInt128
    public var contentDigest: UInt128
    /// How many payloads of the base are in front of the marker's.
    public var payloadCount: UInt64
    /// Of all of them (docs/compaction.md §3).
    public var payloadHash: UInt128

    public init(
        horizon: Position, stateDigest: UInt128, contentDigest: UInt128, payloadCount: UInt64 = 0,
        payloadHash: UInt128 = 0
    ) {
        self.horizon = horizon
        self.stateDigest = stateDigest
        self.contentDigest = contentDigest
        self.payloadCount = payloadCount
        self.payloadHash = payloadHash
    }

    private static let payloadCount: UInt64 = 2
    private static let payloadHash: UInt64 = 4

    public func encode(into writer: inout ByteWriter) throws {
        try Self.check(horizon.offset)
        writer.appendVarint(horizon.offset)
        writer.append(horizon.chain)
        writer.append(stateDigest)
        writer.append(contentDigest)
        writer.appendMeasured { writer in
            writer.appendField(Self.payloadCount, payloadCount)
            if payloadHash != 0 { writer.appendField(Self.payloadHash) { $0.append(payloadHash) } }
        }
    }

    public init(from reader: inout ByteReader) throws {
        let offset = try reader.readVarint("a base's horizon", atMost: Version.maximumOffset)
        horizon = Position(offset: offset, chain: try reader.read(UInt32.self, "a base's chain value"))
        stateDigest = try reader.read(UInt128.self, "a base's digest")
        contentDigest = try reader.read(UInt128.self, "a base's digest")
        (payloadCount, payloadHash) = (0, 0)
        var fields = try KeyedFields(from: &reader, "the fields of a base")
        while var field = try fields.next() {
            switch field.key {
            case Self.payloadCount: payloadCount = try field.number("the payloads of a base")
            case Self.payloadHash:
                payloadHash = try field.value.read(UInt128.self, "the hash of a base")
                guard payloadHash != 0 else {
                    throw field.value.malformed("the hash of a base", expected: "left out when it is 0")
                }
                try field.value.expectEnd("the hash of a base")
            default: try field.skip()
            }
        }
    }
}

/// That clients' tokens up to an offset are not served any more.
public struct TokensExpiredEvent: StatedEvent {
    public static let kind = EventKind.tokensExpired

    public var offset: UInt64
    /// Ordinal of the database; 0 is all.
    public var database: UInt64
    public var original: Version?

    public init(offset: UInt64, database: UInt64 = 0, original: Version? = nil) {
        self.offset = offset
        self.database = database
        self.original = original
    }

    private static let database: UInt64 = 4

    public func encode(into writer: inout ByteWriter) throws {
        try Self.check(offset)
        writer.appendVarint(offset)
        writer.appendMeasured { writer in
            writer.appendField(CommonField.original, original?.packed ?? 0)
            writer.appendField(Self.database, database)
        }
    }

    public init(from reader: inout ByteReader) throws {
        offset = try reader.readVarint("an offset", atMost: Version.maximumOffset)
        database = 0
        var fields = try KeyedFields(from: &reader, "the fields of an expiry")
        while var field = try fields.next() {
            switch field.key {
            case CommonField.original: original = try field.version()
            case Self.database: database = try field.number("a database")
            default: try field.skip()
            }
        }
    }
}

extension EventBody {
    fileprivate static func check(_ offset: UInt64) throws {
        guard offset <= Version.maximumOffset else {
            throw StrataError(
                .outOfRange, "There is no such offset.",
                .init(expected: "at most \(Version.maximumOffset)", found: "\(offset)"))
        }
    }
}
