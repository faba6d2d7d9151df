import StrataModel
import StrataTree

/// A maintainer of a tree that has one row for each user, device or database: its ordinal is the key.
///
/// Unless the maintainer computes a content, the rows are in no digest.
protocol OwnedRowMaintainer: EventRowMaintainer {
    static var namespace: Namespace { get }

    /// Returns the ordinal of the event's user, device or database.
    static func owner(of event: Body) -> UInt64

    /// Describes the row of an ordinal in words.
    static func describe(_ owner: UInt64, _ words: EntryWords) -> String
}

extension OwnedRowMaintainer {
    static func key(of event: Body) -> [UInt8] { ViewKeys.numbers(owner(of: event)) }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        // Throws if the ordinal has no name.
        _ = try fold.records.names.hash(namespace, owner(of: event), in: fold.fork)
        return nil
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        return describe(try reader.readNumber(), words)
    }
}
