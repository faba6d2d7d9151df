import StrataModel
import StrataTree

extension TreeReading {
    /// Returns the progress of a device's notifications; nil if it was never notified.
    package func delivery(to device: UInt64) throws -> NotificationDeliveredEvent? {
        try event(in: ViewTree.deliveries, key: ViewKeys.numbers(device))
    }

    /// Returns true if any subscription exists.
    package func hasSubscriptions() throws -> Bool {
        var hasAny = false
        let (lower, upper): ([UInt8], [UInt8]) = ([], [0xFF])
        try lower.withUnsafeBytes { lower in
            try upper.withUnsafeBytes { upper in
                try scan(ViewTree.subscriptions, from: lower, to: upper) { _, _ in
                    hasAny = true
                    return false
                }
            }
        }
        return hasAny
    }

    /// Returns the version at which a device was first seen; nil if it has written nothing.
    package func firstSight(of device: UInt64) throws -> Version? {
        try version(in: ViewTree.devices, key: ViewKeys.numbers(device), "where a device was seen")
    }

    /// Calls `body` with each device of a user, until it returns false.
    package func forEachDevice(of user: UInt64, _ body: (_ device: UInt64) throws -> Bool) throws {
        var lower = KeyWriter()
        lower.append(byte: Namespace.device.rawValue)
        lower.append(number: user)
        // No name begins with FF.
        let upper = lower.bytes + [0xFF]
        try lower.bytes.withUnsafeBytes { lower in
            try upper.withUnsafeBytes { upper in
                try scan(ViewTree.ordinals, from: lower, to: upper) { _, row in
                    var reader = ByteReader(row)
                    return try body(try reader.readVarint("an ordinal"))
                }
            }
        }
    }

    /// Calls `body` with each subscription of a user that has fired and was not saved again, until it returns false.
    package func forEachFiredSubscription(of user: UInt64, _ body: (FiredSubscription) throws -> Bool) throws {
        try ViewKeys.withBounds(ofNumber: user) { lower, upper in
            try scan(ViewTree.firedSubscriptions, from: lower, to: upper) { try body(FiredSubscription(decoding: $1)) }
        }
    }
}
