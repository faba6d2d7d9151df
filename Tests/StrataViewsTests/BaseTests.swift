import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

/// Compaction replaces a log's beginning by events that state what it came to, each under its original version.
@Suite("States written as a base")
struct BaseTests {
    @Test("One event for each thing that is there, with its original version, folds to the same digests and versions")
    func digests() throws {
        try withSeeds(6) { seed in
            let commits = try SampleCommit.all(100, seed: seed)
            let whole = try PageStore.inMemory()
            try whole.fold(commits)
            let offset = try #require(commits.last?.offset)
            let base = try PageStore.inMemory()
            let payload = Envelope(events: try PlainStore(commits).base()).encoded()
            try base.fold([SampleCommit(offset: offset, time: 7, payload: payload)])
            let (expected, found) = (whole.snapshot(), base.snapshot())
            #expect(try found.digests() == expected.digests())
            for id in ViewTree.plain { #expect(try heads(id, found) == heads(id, expected), "tree \(id.rawValue)") }
            #expect(try heads(ViewTree.firedSubscriptions, found) == heads(ViewTree.firedSubscriptions, expected))
            // The log goes on behind its base as it would have without.
            let next = try SampleCommit.all(130, seed: seed)[100...]
            for pages in [whole, base] { try pages.fold(next) }
            #expect(try base.snapshot().digests() == whole.snapshot().digests())
        }
    }

    /// Keys with versions and digests: the bodies say "original" in a base.
    private func heads(_ id: TreeID, _ snapshot: Snapshot) throws -> [[UInt8]] {
        var heads: [[UInt8]] = []
        try snapshot.scan(id) { key, row in
            heads.append([UInt8](key) + row.prefix(RowLayout.body))
            return true
        }
        return heads
    }

    @Test("Only what states an original version may end a zone that is not there")
    func tombstones() throws {
        let names: [InternedName.Name] = [
            .user("anna"), .database(.private, owner: 1), .zone(database: 1, owner: 1, "one"),
        ]
        let events = names.map { InternedName(ordinal: 1, name: $0).event }
        let version = Version(offset: 3, eventIndex: 0)
        let cases: [(ZoneDeletedEvent, StrataError.Code?)] = [
            (ZoneDeletedEvent(zone: 1, database: 1, incarnation: version), .brokenSequence),
            (ZoneDeletedEvent(zone: 1, database: 1, incarnation: nil, original: version), .brokenSequence),
            (ZoneDeletedEvent(zone: 1, database: 1, incarnation: version, original: version), nil),
        ]
        for (event, code) in cases {
            let pages = try PageStore.inMemory()
            let payload = Envelope(events: events + [try event.event()]).encoded()
            let error = thrownError { try pages.fold([SampleCommit(offset: 9, time: 1, payload: payload)]) }
            #expect(error?.code == code)
            let row = try pages.snapshot().zoneRow(1, 1)
            #expect(row?.version == (code == nil ? version : nil) && row?.status == (code == nil ? .deleted : nil))
        }
    }
}

extension PlainStore {
    /// One event for each thing that is there.
    fileprivate func base() throws -> [Event] {
        var events: [Event] = []
        for (_, names) in names.sorted(by: { $0.key < $1.key }) {
            for (ordinal, name) in names.sorted(by: { $0.key < $1.key }) {
                events.append(InternedName(ordinal: ordinal, name: name).event)
            }
        }
        func state<Key, Value: EventBody>(
            _ rows: [Key: Row<Value>], _ original: WritableKeyPath<Value, Version?>
        ) throws {
            for row in rows.values {
                var value = row.value
                value[keyPath: original] = row.version
                events.append(try value.event())
            }
        }
        try state(databases, \.original)
        try state(devices, \.original)
        try state(users, \.original)
        try state(schema, \.original)
        for (ordinal, zone) in zones { events.append(try zone.event(ordinal)) }
        try state(subscriptions, \.original)
        try state(clientTokens, \.original)
        try state(expiredTokens, \.original)
        try state(deliveries, \.original)
        // What fired is over: it is said to have been there, and to have ended.
        for row in fired.values {
            events.append(try row.value.event())
            events.append(
                try SubscriptionDeletedEvent(
                    database: row.value.database, user: row.value.user, id: row.value.subscription.id,
                    firedBy: row.version
                ).event())
        }
        for (key, record) in records { events.append(try record.event(key)) }
        return events
    }
}

extension PlainStore.Zone {
    fileprivate func event(_ ordinal: UInt64) throws -> Event {
        if let reason = ZoneDeletedEvent.Reason(rawValue: status - 1) {
            return try ZoneDeletedEvent(
                zone: ordinal, database: database, incarnation: incarnation, reason: reason, original: version
            ).event()
        }
        return try ZoneSavedEvent(
            zone: ordinal, database: database, incarnation: incarnation,
            capabilities: ZoneCapabilities(rawValue: capabilities), encryptionScope: scope == 1 ? .zone : .record,
            original: version
        ).event()
    }
}

extension RecordState {
    fileprivate func event(_ key: RecordKey) throws -> Event {
        var event = RecordSavedEvent(.update, key, type: header.type)
        event.isFull = true
        event.original = header.version
        (event.created, event.createdBy) = (header.created, header.createdBy)
        (event.modified, event.modifiedBy) = (header.modified, header.modifiedBy)
        event.modifiedWith = header.modifiedWith
        event.parent = parent.map { .set($0) } ?? .kept
        event.share = share.map { .set($0) } ?? .kept
        event.fields = fields.map { FieldChange($0.field, $0.value) }
        return try event.event()
    }
}
