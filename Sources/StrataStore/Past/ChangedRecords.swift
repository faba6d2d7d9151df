import StrataLog
import StrataModel
import StrataViews

/// The records that a range of commits touched, each with its versions before and after the range.
struct ChangedRecords {
    struct Change {
        let record: RecordKey
        /// Nil if the record did not exist.
        let before: Version?
        var after: Version?
    }

    /// In the order of the records' keys.
    let all: [Change]

    /// Returns nil if the commits alone are not enough: they touch more records than `limit`, delete a zone, or contain
    /// an erasure or an erased save.
    init?(of log: any HistoryLog, from first: UInt64, to last: UInt64, atMost limit: Int) throws {
        var changes: [[UInt8]: Change] = [:]
        var cursor = try log.read(from: first + 1)
        while let commit = try cursor.next(), commit.offset <= last {
            let isComplete = try commit.payload.withUnsafeBytes { payload in
                var walker = try EventWalker(payload)
                while let event = try walker.next() {
                    let version = Version(offset: commit.offset, eventIndex: UInt32(walker.eventIndex - 1))
                    switch event.kind {
                    case .recordSaved:
                        guard try Self.add(payload, event.body, at: version, to: &changes) else { return false }
                    case .recordDeleted:
                        let deleted = try RecordDeletedEvent(
                            decoding: UnsafeRawBufferPointer(rebasing: payload[event.body]))
                        Self.add(Change(record: deleted.record, before: deleted.previous, after: nil), to: &changes)
                    case .recordErased, .zoneDeleted: return false
                    default: continue
                    }
                }
                return changes.count <= limit
            }
            guard isComplete else { return nil }
            if commit.offset == last { break }
        }
        all = changes.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
            .filter { $0.before != nil || $0.after != nil }
    }

    /// Returns false for a save whose values were erased.
    private static func add(
        _ payload: UnsafeRawBufferPointer, _ body: Range<Int>, at version: Version,
        to changes: inout [[UInt8]: Change]
    ) throws -> Bool {
        let saved = try RecordSavedView(payload, in: body)
        guard !saved.isErased else { return false }
        let name = String(decoding: payload[saved.name], as: UTF8.self)
        add(
            Change(
                record: RecordKey(zone: saved.zone, name: name),
                before: saved.change == .create ? nil : saved.previous, after: version),
            to: &changes)
        return true
    }

    private static func add(_ change: Change, to changes: inout [[UInt8]: Change]) {
        let key = RecordKey.viewKey(zone: change.record.zone, name: Array(change.record.name.utf8))
        if changes[key] == nil { changes[key] = change } else { changes[key]?.after = change.after }
    }
}
