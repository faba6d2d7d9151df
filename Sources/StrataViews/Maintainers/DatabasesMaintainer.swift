import StrataModel
import StrataTree

extension ViewTree {
    package static let databases = TreeID(rawValue: 12)
}

/// The databases that have been written to: database → event that created it.
enum DatabasesMaintainer: EventRowMaintainer {
    typealias Body = DatabaseCreatedEvent

    static let tree = ViewTree.databases
    static let name = "databases"

    static func key(of event: Body) -> [UInt8] { ViewKeys.numbers(event.database) }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        _ = try fold.records.names.hash(.database, event.database, in: fold.fork)
        return nil
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        return "database \(try reader.readNumber())"
    }
}
