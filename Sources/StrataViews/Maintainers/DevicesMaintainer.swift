import StrataModel
import StrataTree

extension ViewTree {
    package static let devices = TreeID(rawValue: 8)
}

/// The devices that have written to the store: device → event of its first commit.
enum DevicesMaintainer: OwnedRowMaintainer {
    typealias Body = DeviceSeenEvent

    static let tree = ViewTree.devices
    static let name = "devices"
    static let namespace = Namespace.device

    static func owner(of event: Body) -> UInt64 { event.device }

    static func describe(_ owner: UInt64, _ words: EntryWords) -> String { "device \(words.name(.device, owner))" }
}
