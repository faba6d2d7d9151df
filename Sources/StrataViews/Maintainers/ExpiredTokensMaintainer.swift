import StrataModel
import StrataTree

extension ViewTree {
    package static let expiredTokens = TreeID(rawValue: 13)
}

/// The offsets before which change tokens have expired: database, 0 for all → offset.
enum ExpiredTokensMaintainer: OwnedRowMaintainer {
    typealias Body = TokensExpiredEvent

    static let tree = ViewTree.expiredTokens
    static let name = "expired tokens"
    static let namespace = Namespace.database

    static func owner(of event: Body) -> UInt64 { event.database }

    static func describe(_ owner: UInt64, _ words: EntryWords) -> String { "expired tokens of database \(owner)" }
}
