import StrataTree

/// Iterates over the records of one zone in the order of their keys. The order is the same in every store, so several
/// states can be read side by side.
///
/// ```swift
/// var rows = RecordRows(of: zone, in: snapshot)
/// while let row = try rows.next() { print(row.keyName.count, row.state.count) }
/// ```
package struct RecordRows {
    private let zone: UInt64
    private let cursor: Cursor
    private var hasBegun = false

    package init(of zone: UInt64, in snapshot: Snapshot) {
        self.zone = zone
        cursor = snapshot.cursor(ViewTree.records)
    }

    /// Returns the next record, with the name as its key holds it (``RecordStateView/name(keyName:)``); nil after the
    /// last.
    package mutating func next() throws -> (keyName: [UInt8], state: [UInt8])? {
        let isThere = try hasBegun ? cursor.next() : ViewKeys.numbers(zone).withUnsafeBytes { try cursor.seek($0) }
        hasBegun = true
        guard isThere else { return nil }
        let row = try cursor.withEntry { key, state -> (keyName: [UInt8], state: [UInt8])? in
            var reader = KeyReader(key)
            guard try reader.readNumber() == zone else { return nil }
            return ([UInt8](try reader.readLastText()), [UInt8](state))
        }
        return row.flatMap(\.self)
    }
}
