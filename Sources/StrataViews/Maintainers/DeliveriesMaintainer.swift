import StrataModel
import StrataTree

extension ViewTree {
    package static let deliveries = TreeID(rawValue: 15)
}

/// The progress of notifications: device → offset and badge.
enum DeliveriesMaintainer: OwnedRowMaintainer {
    typealias Body = NotificationDeliveredEvent

    static let tree = ViewTree.deliveries
    static let name = "deliveries"
    static let namespace = Namespace.device

    static func owner(of event: Body) -> UInt64 { event.device }

    static func describe(_ owner: UInt64, _ words: EntryWords) -> String {
        "notifications delivered to device \(words.name(.device, owner))"
    }
}
