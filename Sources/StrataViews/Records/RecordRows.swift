import StrataTree

/// The records of one zone one after another, in the order of their keys, for whoever goes through several states at
/// once: the order is the same in every store.
///
/// ```swift
/// var rows = RecordRows(of: zone, in: snapshot)
/// while let row = try rows.next() { print(row.keyName.count, row.state.count) }
/// ```
public struct RecordRows {
    private let zone: UInt64
    private let cursor: Cursor
    private var hasBegun = false

    public init(of zone: UInt64, in snapshot: Snapshot) {
        self.zone = zone
        cursor = snapshot.cursor(ViewTree.records)
    }

    /// With what the key has of the name, see ``RecordStateView/name(keyName:)``; nil behind the last.
    public mutating func next() throws -> (keyName: [UInt8], state: [UInt8])? {
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
