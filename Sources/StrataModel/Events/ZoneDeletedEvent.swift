/// The event that deletes a zone with all its records.
package struct ZoneDeletedEvent: StatedEvent {
    package static let kind = EventKind.zoneDeleted
    package static let shownFields = ShownFields<Self> {
        Shown(.zone, after: "") { $0.zone }
        Shown("database", "ordinal of the zone's database") { $0.database }
        Shown("incarnation", "version that began its life", if: "if known") { $0.incarnation }
        Shown("reason", "`deleted`, `purged` or `encrypted data reset`", after: "  ") { $0.reason.name }
    }

    package typealias Reason = ZoneDeletionReason

    package var zone: UInt64
    package var database: UInt64
    /// The incarnation of the zone that the event ends.
    package var incarnation: Version?
    package var reason: Reason
    package var original: Version?

    package init(
        zone: UInt64, database: UInt64, incarnation: Version?, reason: Reason = .deleted, original: Version? = nil
    ) {
        self.zone = zone
        self.database = database
        self.incarnation = incarnation
        self.reason = reason
        self.original = original
    }

    package func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(zone)
        writer.appendVarint(database)
        writer.appendVersion(incarnation)
        writer.append(reason.rawValue)
        writer.appendFields(original: original)
    }

    package init(from reader: inout ByteReader) throws {
        zone = try reader.readEventZone()
        database = try reader.readVarint("a zone's database")
        incarnation = try reader.readVersion("a zone's incarnation")
        reason = try reader.readNumbered("the reason for deleting a zone")
        original = try reader.readOriginal()
    }
}
