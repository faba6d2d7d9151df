import StrataLog
import StrataModel
import TestSupport

@testable import StrataViews

/// The plainest history that is one: a zone of notes, each commit saving a few.
struct NoteHistory {
    private(set) var versions: [String: Version] = [:]
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// From here on another course of things.
    mutating func diverge(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// Appends commits to a log, the first with the names and the zone.
    mutating func append(_ count: Int, to log: any EventLog, saves: Int = 5) throws {
        for _ in 0..<count {
            let offset = log.end.offset + 1
            let events = offset == 1 ? try beginning() : try self.saves(saves, offset: offset)
            let envelope = Envelope(header: EnvelopeHeader(user: 1, operationKind: .modifyRecords), events: events)
            let id = Identifier(high: generator.next(), low: offset)
            _ = try log.append(
                [NewCommit(id: id, time: Int64(offset) * 1_000, payload: envelope.encoded()[...])], expecting: log.end)
        }
    }

    /// Appends a commit that declares what the titles are.
    mutating func declareTitle(_ indexes: SchemaField.Indexes, to log: any EventLog) throws {
        let event = SchemaChangedEvent(type: 1, fields: [SchemaField(1, .string, indexes: indexes)])
        let envelope = Envelope(header: EnvelopeHeader(), events: [try event.event()])
        let id = Identifier(high: generator.next(), low: log.end.offset)
        _ = try log.append(
            [NewCommit(id: id, time: log.endTime ?? 0, payload: envelope.encoded()[...])], expecting: log.end)
    }

    fileprivate func beginning() throws -> [Event] {
        let names: [(UInt64, InternedName.Name)] = [
            (1, .user("anna")), (1, .database(.private, owner: 1)), (1, .zone(database: 1, owner: 1, "Notes")),
            (1, .recordType("Note")), (1, .field("title")),
        ]
        return names.map { InternedName(ordinal: $0.0, name: $0.1).event }
            + [try ZoneSavedEvent(zone: 1, database: 1, incarnation: nil, capabilities: []).event()]
    }

    private mutating func saves(_ count: Int, offset: UInt64) throws -> [Event] {
        var events: [Event] = []
        var used: Set<String> = []
        while events.count < count {
            let name = "note-\(generator.next(below: 400))"
            guard used.insert(name).inserted else { continue }
            var event = RecordSavedEvent(
                versions[name] == nil ? .create : .update, RecordKey(zone: 1, name: name), type: 1,
                previous: versions[name])
            // Full each time, so that no count of deltas has to be kept.
            event.isFull = true
            if event.change == .update { (event.created, event.createdBy) = (1, 1) }
            event.fields = [FieldChange(1, .string("title \(generator.next(below: 1_000_000))"))]
            versions[name] = Version(offset: offset, eventIndex: UInt32(events.count))
            events.append(try event.event())
        }
        return events
    }
}

extension NoteHistory {
    /// Commits with so many notes, each its own, behind one with the names and the zone.
    mutating func manyNotes(_ count: Int, perCommit: Int) throws -> [SampleCommit] {
        var commits = [SampleCommit(offset: 1, time: 0, payload: Envelope(events: try beginning()).encoded())]
        for start in stride(from: 0, to: count, by: perCommit) {
            var commit = CommitBuilder()
            for number in start..<min(count, start + perCommit) {
                // In no order.
                let name = "note-\(UInt64(number) &* 0x9E37_79B9_7F4A_7C15)"
                try commit.append(
                    RecordSavedEvent(
                        .create, RecordKey(zone: 1, name: name), type: 1, fields: [FieldChange(1, .string(name))]))
            }
            let offset = UInt64(commits.count) + 1
            let payload = commit.payload(EnvelopeHeader(user: 1))
            commits.append(SampleCommit(offset: offset, time: Int64(offset) * 1_000, payload: payload))
        }
        return commits
    }
}
