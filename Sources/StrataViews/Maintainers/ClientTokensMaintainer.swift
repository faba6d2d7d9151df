import StrataModel
import StrataTree

extension ViewTree {
    package static let clientTokens = TreeID(rawValue: 9)
}

/// The last client token of each device in each zone: zone, device → token.
enum ClientTokensMaintainer: EventRowMaintainer {
    typealias Body = ClientTokenEvent

    static let tree = ViewTree.clientTokens
    static let name = "client tokens"

    static func key(of event: Body) -> [UInt8] { ViewKeys.numbers(event.zone, event.device) }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        let seed = seed(
            try fold.records.names.hash(.zone, event.zone, in: fold.fork),
            try fold.records.names.hash(.device, event.device, in: fold.fork))
        return event.token.withUnsafeBytes { DigestHash.hash(seed, $0) }
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        let zone = words.zone(try reader.readNumber())
        return "client token of device \(words.name(.device, try reader.readNumber())) for \(zone)"
    }
}
