import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// Past states of records, rebuilt from the log: back along the previous versions to a full event, then forward.
final class RecordHistory: Sendable {
    private let log: any EventLog

    init(_ log: any EventLog) { self.log = log }

    private struct Step {
        var payload: ArraySlice<UInt8>
        var body: Range<Int>
        var place: EventPlace
    }

    /// The encoded state that a version made; nil if the log has no such version of that record.
    ///
    /// A tag may have come from anywhere, so that it leads nowhere is no error.
    func state(of record: RecordKey, at version: Version, _ trees: Snapshot) throws -> [UInt8]? {
        let isCurrent = try trees.withRecord(record) { bytes in
            try RecordStateView(bytes, in: 0..<bytes.count).version == version ? [UInt8](bytes) : nil
        }
        if let current = isCurrent.flatMap({ $0 }) { return current }
        guard version.offset <= trees.foldedOffset(ViewTree.records), let steps = try steps(of: record, to: version)
        else { return nil }
        var merger = RecordMerger()
        var state: [UInt8]?
        for step in steps.reversed() {
            var writer = ByteWriter(reserving: 512)
            try step.payload.withUnsafeBytes { payload in
                let event = try RecordSavedView(payload, in: step.body)
                if let state {
                    try state.withUnsafeBytes { try merger.apply(event, at: step.place, to: $0, into: &writer) }
                } else {
                    try merger.apply(event, at: step.place, to: nil, startsHere: true, into: &writer)
                }
            }
            state = writer.bytes
        }
        return state
    }

    /// The events from a version back to the last full one, newest first.
    private func steps(of record: RecordKey, to version: Version) throws -> [Step]? {
        var steps: [Step] = []
        var next = version
        while steps.count <= RecordHeader.maximumEventsSinceFull {
            guard let step = try step(of: record, at: next) else { return nil }
            steps.append(step)
            let (isFull, previous) = try step.payload.withUnsafeBytes { payload in
                let event = try RecordSavedView(payload, in: step.body)
                return (event.isFull, event.previous)
            }
            if isFull { return steps }
            guard let previous, previous < next else { return nil }
            next = previous
        }
        return nil
    }

    private func step(of record: RecordKey, at version: Version) throws -> Step? {
        guard version.offset > log.floor.offset, let commit = try log.commit(at: version.offset) else { return nil }
        return try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            let header = try walker.header()
            guard version.eventIndex < walker.eventCount else { return nil }
            while walker.eventIndex < version.eventIndex { _ = try walker.next() }
            guard let event = try walker.next(), event.kind == .recordSaved else { return nil }
            let view = try RecordSavedView(payload, in: event.body)
            guard view.zone == record.zone, payload[view.name].elementsEqual(record.name.utf8) else { return nil }
            let place = EventPlace(version: version, time: commit.time, user: header.user, device: header.device)
            return Step(payload: commit.payload, body: event.body, place: place)
        }
    }
}
