import StrataModel
import StrataTree

extension ViewTree {
    package static let records = TreeID(rawValue: 1)
}

/// The current state of each record: zone, name → state. ``RecordFold`` folds the events of records, and ``BaseScan``
/// states large records in several payloads. The digests of records are in the rows of their zones.
enum RecordsMaintainer: ViewMaintainer {
    static let tree = ViewTree.records
    static let name = "records"
    static let isStated = true

    static func state(_ entry: ViewEntry, in commit: inout CommitBuilder) throws {
        try state(entry, from: 0, atMost: .max, in: &commit)
    }

    /// Appends an event that states the fields of a record from a given index on, with a limited number of bytes.
    /// Returns the index of the field with which the record's next event begins; 0 if there is none.
    @discardableResult
    static func state(
        _ entry: ViewEntry, from field: Int, atMost limit: Int, in commit: inout CommitBuilder
    ) throws -> Int {
        var reader = KeyReader(entry.key)
        let zone = try reader.readNumber()
        let state = try RecordStateView(entry.row, in: 0..<entry.row.count)
        let record = RecordKey(zone: zone, name: try state.name(keyName: try reader.readLastText()))
        let end = try commit.append(stating: state, record, from: field, atMost: limit)
        return try end < state.fields().count ? end : 0
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        try words.record(at: key)
    }

    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? {
        try RecordStateView(entry.row, in: 0..<entry.row.count).version.offset
    }
}

extension Snapshot {
    /// Returns the offset of a record's version, by its key; nil if there is no such record.
    func origin(ofRecord key: [UInt8]) throws -> UInt64? {
        try get(ViewTree.records, key: key) { try RecordStateView($0, in: 0..<$0.count).version.offset }
    }
}

extension ViewKeys {
    static func record(_ record: RecordKey) -> [UInt8] {
        var key = KeyWriter(reserving: record.name.utf8.count + 9)
        key.append(number: record.zone)
        key.append(lastRecordName: record.name)
        return key.bytes
    }
}

extension RecordKey {
    /// The key of the record in ``ViewTree/records``.
    package var viewKey: [UInt8] { ViewKeys.record(self) }

    /// Returns the key of a record in ``ViewTree/records``.
    package static func viewKey(zone: UInt64, name: [UInt8]) -> [UInt8] {
        var key = KeyWriter()
        key.append(number: zone)
        name.withUnsafeBytes { key.append(lastRecordName: $0) }
        return key.bytes
    }
}
