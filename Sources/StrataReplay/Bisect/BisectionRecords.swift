import StrataLog
import StrataModel
import StrataStore

/// Reads what a record was before and after a commit.
struct BisectionRecords {
    private let store: Store
    private let victims: [Version: (record: RecordKey, version: Version)]

    /// - Parameter victims: the records that ended with their zone, by the version of its deletion.
    init(_ store: Store, _ victims: [Version: (record: RecordKey, version: Version)]) {
        (self.store, self.victims) = (store, victims)
    }

    /// - Parameter event: an event of the record, or the deletion of its zone.
    func difference(at offset: UInt64, _ event: UInt32) throws -> RecordDifference? {
        if let victim = victims[Version(offset: offset, eventIndex: event)] {
            guard let before = try store.historicRecord(victim.record, at: victim.version) else { return nil }
            return RecordDifference(before.id, in: before.database, before: before, after: nil)
        }
        guard let commit = try store.log.commit(at: offset), let found = try Self.versions(of: event, in: commit) else {
            return nil
        }
        let before = try found.before.map { try store.historicRecord(found.record, at: $0) }
        let after = try found.after.map { try store.historicRecord(found.record, at: $0) }
        // Records erased since then have versions, but no states.
        if case .some(nil) = before { return nil }
        if case .some(nil) = after { return nil }
        let place = try store.historicPlace(of: found.record)
        return RecordDifference(place.id, in: place.database, before: before ?? nil, after: after ?? nil)
    }

    /// Returns the record of an event, and its versions before and after the commit; nil if the event has no record.
    private static func versions(
        of event: UInt32, in commit: Commit
    ) throws -> (record: RecordKey, before: Version?, after: Version?)? {
        let envelope = try Envelope(decoding: commit.payload)
        let events = try envelope.events.enumerated().compactMap { index, event in
            try TimelineEvent(event, at: index, in: (commit.offset, commit.time), by: envelope.header)
        }
        guard let record = events.first(where: { $0.version.eventIndex == event })?.record else { return nil }
        let own = events.filter { $0.record == record }
        guard let first = own.first, let last = own.last else { return nil }
        return (record, first.isCreation ? nil : first.previous, last.isSave ? last.version : nil)
    }
}
