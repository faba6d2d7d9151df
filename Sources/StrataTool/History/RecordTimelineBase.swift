import StrataLog
import StrataModel

/// Finds single records in the base of a log. The base is read once, for the first record.
final class RecordTimelineBase {
    /// The start of a payload of records.
    private struct Mark {
        let first: (zone: UInt64, name: [UInt8])
        /// A reader whose next payload is that one.
        let reader: BaseReader

        func begins(before zone: UInt64, _ name: [UInt8]) -> Bool {
            first.zone == zone ? first.name.lexicographicallyPrecedes(name) : first.zone < zone
        }

        func begins(after zone: UInt64, _ name: [UInt8]) -> Bool {
            first.zone == zone ? name.lexicographicallyPrecedes(first.name) : first.zone > zone
        }
    }

    private let reader: LogReader
    private var marks: [Mark]?

    init(_ reader: LogReader) { self.reader = reader }

    /// Returns the encoded state of a record at the horizon; nil if it did not exist, or there is no base.
    func state(of record: RecordKey) throws -> [UInt8]? {
        let marks = try self.marks ?? readMarks()
        self.marks = marks
        let name = Array(record.name.utf8)
        return try state(of: record, name, in: places(of: record.zone, name, in: marks), of: marks)
    }

    /// Returns the payloads that may have the record: a base is ordered by zone, then by name.
    private func places(of zone: UInt64, _ name: [UInt8], in marks: [Mark]) -> Range<Int> {
        // Long names are ordered by only a part of them.
        func isLong(_ name: [UInt8]) -> Bool { name.count > RecordState.longestKeyName }
        if isLong(name) || marks.contains(where: { $0.first.zone == zone && isLong($0.first.name) }) {
            return marks.indices
        }
        // The record's first events may end the payload before one that begins with it.
        let start = marks.firstIndex { !$0.begins(before: zone, name) } ?? marks.count
        let end = marks.firstIndex { $0.begins(after: zone, name) } ?? marks.count
        return max(0, start - 1)..<end
    }

    private func readMarks() throws -> [Mark] {
        guard var base = try reader.readBase() else { return [] }
        var marks: [Mark] = []
        while true {
            let before = base
            guard let payload = try base.next() else { return marks }
            guard let event = try Envelope(decoding: payload).events.first, event.kind == .recordSaved else { continue }
            let place = try EventDetail.Place(event)
            marks.append(Mark(first: (place.zone, Array(place.name.utf8)), reader: before))
        }
    }

    /// Merges the events of a record. A large record has several, also in several payloads.
    private func state(
        of record: RecordKey, _ name: [UInt8], in range: Range<Int>, of marks: [Mark]
    ) throws -> [UInt8]? {
        var merger = RecordMerger()
        var state: [UInt8]?
        for mark in marks[range] {
            var reader = mark.reader
            guard let payload = try reader.next() else { continue }
            try payload.withUnsafeBytes { bytes in
                var walker = try EventWalker(bytes)
                while let event = try walker.next() {
                    guard event.kind == .recordSaved else { continue }
                    let view = try RecordSavedView(bytes, in: event.body)
                    guard view.zone == record.zone, bytes[view.name].elementsEqual(name) else { continue }
                    // Events in a base carry their own original places.
                    let version = Version(offset: reader.horizon.offset, eventIndex: UInt32(walker.eventIndex - 1))
                    let place = EventPlace(version: version, time: 0, user: 0)
                    var writer = ByteWriter(reserving: 512)
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
