import StrataModel
import StrataTree

extension ViewTree {
    package static let databases = TreeID(rawValue: 12)
}

/// The databases that have been written to: database → event that created it.
enum DatabasesMaintainer: OwnedRowMaintainer {
    typealias Body = DatabaseCreatedEvent

    static let tree = ViewTree.databases
    static let name = "databases"
    static let namespace = Namespace.database

    static func owner(of event: Body) -> UInt64 { event.database }

    static func describe(_ owner: UInt64, _ words: EntryWords) -> String { "database \(owner)" }
}
