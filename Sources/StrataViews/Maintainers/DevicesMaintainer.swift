import StrataModel
import StrataTree

extension ViewTree {
    package static let devices = TreeID(rawValue: 8)
}

/// The devices that have written to the store: device → event of its first commit.
enum DevicesMaintainer: EventRowMaintainer {
    typealias Body = DeviceSeenEvent

    static let tree = ViewTree.devices
    static let name = "devices"

    static func key(of event: Body) -> [UInt8] { ViewKeys.numbers(event.device) }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        _ = try fold.records.names.hash(.device, event.device, in: fold.fork)
        return nil
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        return "device \(words.name(.device, try reader.readNumber()))"
    }
}
