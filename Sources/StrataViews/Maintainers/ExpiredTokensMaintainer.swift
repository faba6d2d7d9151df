import StrataModel
import StrataTree

extension ViewTree {
    package static let expiredTokens = TreeID(rawValue: 13)
}

/// The offsets before which change tokens have expired: database, 0 for all → offset.
enum ExpiredTokensMaintainer: EventRowMaintainer {
    typealias Body = TokensExpiredEvent

    static let tree = ViewTree.expiredTokens
    static let name = "expired tokens"

    static func key(of event: Body) -> [UInt8] { ViewKeys.numbers(event.database) }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        _ = try fold.records.names.hash(.database, event.database, in: fold.fork)
        return nil
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        return "expired tokens of database \(try reader.readNumber())"
    }
}
