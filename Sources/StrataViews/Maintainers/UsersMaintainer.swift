import StrataModel
import StrataTree

extension ViewTree {
    package static let users = TreeID(rawValue: 7)
}

/// The accounts that the service has changed: user → status and quota.
enum UsersMaintainer: EventRowMaintainer {
    typealias Body = UserChangedEvent

    static let tree = ViewTree.users
    static let name = "users"

    static func key(of event: Body) -> [UInt8] { ViewKeys.numbers(event.user) }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        let seed = seed(try fold.records.names.hash(.user, event.user, in: fold.fork))
        return DigestHash.hash(seed, words: [UInt64(event.status.rawValue), event.quota])
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        return "user \(words.name(.user, try reader.readNumber()))"
    }
}
