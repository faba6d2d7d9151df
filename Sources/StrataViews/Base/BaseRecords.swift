import StrataLog
import StrataModel
import StrataSystem

/// Finds single records in the base of a log, the only place that holds a record's state at the horizon once the record
/// has changed.
///
/// The base is read once, when the first record is requested; the first key of each payload is kept.
///
/// ```swift
/// let records = BaseRecords(log)
/// let state = try records.state(of: RecordKey(zone: 1, name: "a"))
/// ```
package final class BaseRecords: Sendable {
    /// The position of a payload of records.
    private struct Mark {
        let firstKey: [UInt8]
        /// Returns that payload next.
        let reader: BaseReader
    }

    // @unchecked: the readers share a window into the file, which is used only under the lock of `marks`.
    private struct Marks: @unchecked Sendable {
        var base: Identifier?
        var horizon: UInt64 = 0
        var all: [Mark] = []
    }

    private let log: any HistoryLog & Sendable
    private let marks = Lock(Marks())

    package init(_ log: any HistoryLog & Sendable) { self.log = log }

    /// Returns the encoded state that a record had at the log's floor; nil if it did not exist, or the log has no base.
    /// A record that was erased since then has no fields.
    package func state(of record: RecordKey) throws -> [UInt8]? {
        try marks.withLock { marks in
            // An erasure replaces the base with another.
            guard let base = try log.readBase() else { return nil }
            if marks.base != base.id {
                marks = Marks(base: base.id, horizon: base.horizon.offset, all: try Self.read(base))
            }
            let key = RecordKey.viewKey(zone: record.zone, name: Array(record.name.utf8))
            // The events of a large record may span several payloads; all but the first of them begin with its key.
            let end = marks.all.firstIndex { key.lexicographicallyPrecedes($0.firstKey) } ?? marks.all.count
            guard end > 0 else { return nil }
            var start = end - 1
            while start > 0, marks.all[start].firstKey == key { start -= 1 }
            return try Self.state(of: key, in: marks.all[start..<end], horizon: marks.horizon)
        }
    }

    /// Releases the file of a base that another one has replaced.
    package func forget() { marks.withLock { $0 = Marks() } }

    private static func read(_ base: BaseReader) throws -> [Mark] {
        var reader = base
        var marks: [Mark] = []
        while true {
            let before = reader
            guard let payload = try reader.next() else { return marks }
            let firstKey = try payload.withUnsafeBytes { bytes -> [UInt8]? in
                var walker = try EventWalker(bytes)
                guard let event = try walker.next(), event.kind == .recordSaved else { return nil }
                return try Self.key(UnsafeRawBufferPointer(rebasing: bytes[event.body]))
            }
            if let firstKey { marks.append(Mark(firstKey: firstKey, reader: before)) }
        }
    }

    private static func key(_ body: UnsafeRawBufferPointer) throws -> [UInt8] {
        let event = try RecordSavedView(body, in: 0..<body.count)
        return RecordKey.viewKey(zone: event.zone, name: [UInt8](body[event.name]))
    }

    private static func state(of key: [UInt8], in marks: ArraySlice<Mark>, horizon: UInt64) throws -> [UInt8]? {
        var merger = RecordMerger()
        var state: [UInt8]?
        for mark in marks {
            var reader = mark.reader
            guard let payload = try reader.next() else { continue }
            try payload.withUnsafeBytes { bytes in
                var walker = try EventWalker(bytes)
                while let event = try walker.next() {
                    let body = UnsafeRawBufferPointer(rebasing: bytes[event.body])
                    guard event.kind == .recordSaved, try Self.key(body) == key else { continue }
                    let index = UInt32(walker.eventIndex - 1)
                    let place = EventPlace(version: Version(offset: horizon, eventIndex: index), time: 0, user: 0)
                    var writer = ByteWriter(reserving: 512)
                    let view = try RecordSavedView(body, in: 0..<body.count)
                    if let before = state {
                        try before.withUnsafeBytes { try merger.apply(view, at: place, to: $0, into: &writer) }
                    } else {
                        try merger.apply(view, at: place, to: nil, into: &writer)
                    }
                    state = writer.bytes
                }
            }
        }
        return state
    }
}
