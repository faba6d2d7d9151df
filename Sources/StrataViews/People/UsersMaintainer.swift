import StrataModel
import StrataTree

extension ViewTree {
    package static let users = TreeID(rawValue: 7)
}

/// The accounts that the service has changed: user → status, quota and person.
enum UsersMaintainer: OwnedRowMaintainer {
    typealias Body = UserChangedEvent

    static let tree = ViewTree.users
    static let name = "users"
    static let namespace = Namespace.user

    static func owner(of event: Body) -> UInt64 { event.user }

    static func apply(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace, to fold: Fold) throws {
        let event = try Body(decoding: body)
        for address in try fold.fork.account(of: event.user).person.addresses {
            try AddressesMaintainer.remove(address, from: fold.fork)
        }
        try put(event, body, at: place, in: fold)
        for address in event.person.addresses { try AddressesMaintainer.add(address, of: event.user, to: fold.fork) }
    }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        let seed = seed(try fold.records.names.hash(.user, event.user, in: fold.fork))
        let account = DigestHash.hash(seed, words: [UInt64(event.status.rawValue), event.quota])
        let person = try event.person.encoded()
        return person.isEmpty ? account : person.withUnsafeBytes { DigestHash.hash(account, $0) }
    }

    static func describe(_ owner: UInt64, _ words: EntryWords) -> String { "user \(words.name(.user, owner))" }
}
