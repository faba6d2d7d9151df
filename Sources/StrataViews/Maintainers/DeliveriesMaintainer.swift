import StrataModel
import StrataTree

extension ViewTree {
    package static let deliveries = TreeID(rawValue: 15)
}

/// The progress of notifications: device → offset and badge.
enum DeliveriesMaintainer: EventRowMaintainer {
    typealias Body = NotificationDeliveredEvent

    static let tree = ViewTree.deliveries
    static let name = "deliveries"

    static func key(of event: Body) -> [UInt8] { ViewKeys.numbers(event.device) }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        _ = try fold.records.names.hash(.device, event.device, in: fold.fork)
        return nil
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        return "notifications delivered to device \(words.name(.device, try reader.readNumber()))"
    }
}
