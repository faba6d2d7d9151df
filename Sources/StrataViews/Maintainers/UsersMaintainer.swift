import StrataModel
import StrataTree

extension ViewTree {
    package static let users = TreeID(rawValue: 7)
}

/// The accounts that the service has changed: user → status and quota.
enum UsersMaintainer: OwnedRowMaintainer {
    typealias Body = UserChangedEvent

    static let tree = ViewTree.users
    static let name = "users"
    static let namespace = Namespace.user

    static func owner(of event: Body) -> UInt64 { event.user }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        let seed = seed(try fold.records.names.hash(.user, event.user, in: fold.fork))
        return DigestHash.hash(seed, words: [UInt64(event.status.rawValue), event.quota])
    }

    static func describe(_ owner: UInt64, _ words: EntryWords) -> String { "user \(words.name(.user, owner))" }
}
