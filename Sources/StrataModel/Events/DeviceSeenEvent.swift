/// The event of the first request from a user's device.
public struct DeviceSeenEvent: StatedEvent {
    public static let kind = EventKind.deviceSeen

    public var device: UInt64
    public var original: Version?

    public init(device: UInt64, original: Version? = nil) {
        self.device = device
        self.original = original
    }

    public func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(device)
        writer.appendFields(original: original)
    }

    public init(from reader: inout ByteReader) throws {
        device = try reader.readVarint("a device")
        original = try reader.readOriginal()
    }
}
