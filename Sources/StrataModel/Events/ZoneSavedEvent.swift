/// The capabilities of a zone; the bits are CloudKit's.
public struct ZoneCapabilities: OptionSet, Sendable, Hashable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static let fetchChanges = Self(rawValue: 1)
    public static let atomic = Self(rawValue: 2)
    public static let sharing = Self(rawValue: 4)
    public static let zoneWideSharing = Self(rawValue: 8)
}

/// The unit that has its own encryption key. The numbers are on disk.
public enum EncryptionScope: UInt8, Sendable, CaseIterable {
    case record, zone
}

/// The event that creates or changes a zone.
package struct ZoneSavedEvent: StatedEvent {
    package static let kind = EventKind.zoneSaved
    package static let shownFields = ShownFields<Self> {
        Shown(.zone, after: "") { $0.zone }
        Shown("database", "ordinal of the zone's database") { $0.database }
        Shown("incarnation", "version that began its life", if: "unless it is this event") { $0.incarnation }
        Shown("capabilities", "sum of 1 fetch changes, 2 atomic, 4 sharing, 8 zone-wide sharing") {
            $0.capabilities.rawValue
        }
    }

    package var zone: UInt64
    package var database: UInt64
    /// The version of the event that began this incarnation of the zone; nil for this event.
    package var incarnation: Version?
    package var capabilities: ZoneCapabilities
    package var encryptionScope: EncryptionScope
    package var share: RecordKey?
    package var original: Version?
    /// The last commit that changed the zone or one of its records, if it is not the zone's own version; only in a
    /// base.
    package var lastChanged: UInt64?

    package init(
        zone: UInt64, database: UInt64, incarnation: Version? = nil, capabilities: ZoneCapabilities = [],
        encryptionScope: EncryptionScope = .record, share: RecordKey? = nil, original: Version? = nil,
        lastChanged: UInt64? = nil
    ) {
        self.zone = zone
        self.database = database
        self.incarnation = incarnation
        self.capabilities = capabilities
        self.encryptionScope = encryptionScope
        self.share = share
        self.original = original
        self.lastChanged = lastChanged
    }

    private static let scope: UInt64 = 4
    private static let share: UInt64 = 6
    private static let lastChanged: UInt64 = 8

    package func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(zone)
        writer.appendVarint(database)
        writer.appendVersion(incarnation)
        writer.appendVarint(capabilities.rawValue)
        try writer.appendMeasured { writer in
            writer.appendField(CommonField.original, original?.packed ?? 0)
            writer.appendField(Self.scope, UInt64(encryptionScope.rawValue))
            if let share { try writer.appendField(Self.share) { try $0.append(share) } }
            writer.appendField(Self.lastChanged, lastChanged ?? 0)
        }
    }

    package init(from reader: inout ByteReader) throws {
        self.init(
            zone: try reader.readEventZone(), database: try reader.readVarint("a zone's database"),
            incarnation: try reader.readVersion("a zone's incarnation"),
            capabilities: ZoneCapabilities(rawValue: try reader.readVarint("a zone's capabilities")))
        var fields = try KeyedFields(from: &reader, "the fields of a zone")
        while var field = try fields.next() {
            switch field.key {
            case CommonField.original: original = try field.version()
            case Self.scope:
                _ = try field.number("an encryption scope", atMost: 1)
                encryptionScope = .zone
            case Self.share: share = try field.value.readRecordKey()
            case Self.lastChanged:
                lastChanged = try field.number("a zone's last change", atMost: Version.maximumOffset)
            default: try field.skip()
            }
        }
    }
}
