/// The service's record of a user's notifications: the delivery progress of devices, and the subscriptions that fire
/// only once and have fired.
package struct NotifyRequest: Sendable, Hashable {
    /// The offset through which a device has been notified.
    package struct Delivery: Sendable, Hashable {
        package var device: String
        package var through: UInt64
        /// The number on the app's badge.
        package var badge: UInt64

        package init(device: String, through: UInt64, badge: UInt64 = 0) {
            self.device = device
            self.through = through
            self.badge = badge
        }
    }

    /// A subscription in the request's database that has fired, and thereby ended.
    package struct Fired: Sendable, Hashable {
        package var id: String
        /// The event that made it fire.
        package var by: Version

        package init(id: String, by: Version) {
            self.id = id
            self.by = by
        }
    }

    package var user: String
    package var deliveries: [Delivery]
    package var fired: [Fired]

    package init(user: String, deliveries: [Delivery] = [], fired: [Fired] = []) {
        self.user = user
        self.deliveries = deliveries
        self.fired = fired
    }

    func encode(into writer: inout ByteWriter) throws {
        try writer.append(name: user)
        try writer.appendList(deliveries) { delivery, writer in
            try writer.append(name: delivery.device)
            writer.appendVarint(delivery.through)
            writer.appendVarint(delivery.badge)
        }
        try writer.appendList(fired) { fired, writer in
            try writer.append(name: fired.id)
            writer.appendVarint(fired.by.packed)
        }
        writer.appendVarint(0)
    }

    init(from reader: inout ByteReader) throws {
        user = try reader.readName("a user")
        deliveries = try reader.readList("the number of deliveries") { reader in
            let device = try reader.readName("a device")
            let through = try reader.readVarint("an offset", atMost: Version.maximumOffset)
            return Delivery(device: device, through: through, badge: try reader.readVarint("a badge"))
        }
        fired = try reader.readList("the number of subscriptions that fired") { reader in
            let id = try reader.readName("a subscription's id")
            return Fired(id: id, by: Version(packed: try reader.readVarint("a version", atMost: .max >> 1)))
        }
        var fields = try KeyedFields(from: &reader, "the fields of a request")
        try fields.skipAll()
    }
}

/// An event that notes the offset through which a device has been notified. A reader that does not know it may notify
/// a device twice.
package struct NotificationDeliveredEvent: StatedEvent {
    package static let kind = EventKind.notificationDelivered
    package static let shownFields = ShownFields<Self> {
        Shown(
            .device, "ordinal of the device that was notified. 0: the service itself, for how far it has read the log",
            after: ""
        ) { $0.device }
        Shown(after: "") { $0.device == 0 ? "the service itself" : nil }
        Shown("through", "the offset up to which it was notified of everything", after: ", everything up to ") {
            $0.through
        }
        Shown("badge", "the number on its badge", after: ", badge ") { $0.badge }
    }

    package var device: UInt64
    package var through: UInt64
    /// The number on the app's badge.
    package var badge: UInt64
    package var original: Version?

    package init(device: UInt64, through: UInt64, badge: UInt64 = 0, original: Version? = nil) {
        self.device = device
        self.through = through
        self.badge = badge
        self.original = original
    }

    package func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(device)
        writer.appendVarint(through)
        writer.appendVarint(badge)
        writer.appendFields(original: original)
    }

    package init(from reader: inout ByteReader) throws {
        device = try reader.readVarint("a device")
        through = try reader.readVarint("an offset", atMost: Version.maximumOffset)
        badge = try reader.readVarint("a badge")
        original = try reader.readOriginal()
    }
}
