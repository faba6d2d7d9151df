/// The event of the first request from a user's device.
package struct DeviceSeenEvent: StatedEvent {
    package static let kind = EventKind.deviceSeen
    package static let shownFields = ShownFields<Self> {
        Shown(.device) { $0.device }
    }

    package var device: UInt64
    package var original: Version?

    package init(device: UInt64, original: Version? = nil) {
        self.device = device
        self.original = original
    }

    package func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(device)
        writer.appendFields(original: original)
    }

    package init(from reader: inout ByteReader) throws {
        device = try reader.readVarint("a device")
        original = try reader.readOriginal()
    }
}
