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
        let events = try Envelope(decoding: commit.payload).events
        guard event < UInt32(clamping: events.count), let record = try place(of: events[Int(event)])?.record else {
            return nil
        }
        var found: (before: Version?, after: Version?)?
        for (index, other) in events.enumerated() {
            guard let place = try place(of: other), place.record == record else { continue }
            let after = place.isSaved ? Version(offset: commit.offset, eventIndex: UInt32(index)) : nil
            found = (found.map(\.before) ?? place.previous?.resolved(in: commit.offset), after)
        }
        return (record, found?.before, found?.after)
    }

    private static func place(of event: Event) throws -> (record: RecordKey, previous: Version?, isSaved: Bool)? {
        switch event.kind {
        case .recordSaved:
            let saved = try RecordSavedEvent(decoding: event.body)
            return (saved.record, saved.change == .create ? nil : saved.previous, true)
        case .recordDeleted:
            let deleted = try RecordDeletedEvent(decoding: event.body)
            return (deleted.record, deleted.previous, false)
        case .recordErased:
            let erased = try RecordErasedEvent(decoding: event.body)
            return (erased.record, erased.previous, false)
        default: return nil
        }
    }
}
