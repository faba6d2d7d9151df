import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

@Suite("Logs that do not fit")
struct BadLogTests {
    /// A store with zone 1 alive, zone 2 deleted, zone 3 never made, and record "a" in zone 1 at offset 2.
    private struct Fixture {
        let pages: TreeStore
        let zone = Version(offset: 1, eventIndex: 7)
        let record = Version(offset: 2, eventIndex: 0)
        let before: ViewDump

        init() throws {
            pages = try Views.emptyTrees()
            var events: [Event] = []
            let names: [InternedName.Name] = [
                .user("anna"), .device(user: 1, "phone"), .database(.private, owner: 1),
                .zone(database: 1, owner: 1, "one"), .zone(database: 1, owner: 1, "two"),
                .zone(database: 1, owner: 1, "three"), .recordType("Note"),
            ]
            for name in names {
                let ordinal = events.count { $0.body.first == name.namespace.rawValue } + 1
                events.append(InternedName(ordinal: UInt64(ordinal), name: name).event)
            }
            events.append(try ZoneSavedEvent(zone: 1, database: 1).event())
            events.append(try ZoneSavedEvent(zone: 2, database: 1).event())
            events.append(
                try ZoneDeletedEvent(zone: 2, database: 1, incarnation: Version(offset: 1, eventIndex: 8)).event())
            events.append(InternedName(ordinal: 1, name: .field("title")).event)
            var saved = RecordSavedEvent(.create, RecordKey(zone: 1, name: "a"), type: 1)
            saved.fields = [FieldChange(1, .string("text"))]
            try pages.fold([
                SampleCommit(offset: 1, time: 1, payload: Envelope(events: events).encoded()),
                SampleCommit(
                    offset: 2, time: 2, payload: Envelope(header: .init(user: 1), events: [saved.event()]).encoded()),
            ])
            before = try ViewDump(pages.snapshot())
        }

        func key(_ name: String, zone: UInt64 = 1) -> RecordKey { RecordKey(zone: zone, name: name) }

        /// The error of folding these events as commit 3, with a good commit in front and behind.
        func error(_ events: [Event]) throws -> StrataError? {
            let good = Envelope(events: [Event(.fetched, body: [])]).encoded()
            let payload = Envelope(header: .init(user: 1), events: events).encoded()
            let error = thrownError {
                let fold = Fold(try pages.fork())
                try fold.apply(SampleCommit(offset: 3, time: 3, payload: payload))
                try fold.apply(SampleCommit(offset: 4, time: 4, payload: good))
                // Flushes in the middle of a later commit.
                let zone = ZoneSavedEvent(zone: 1, database: 1, incarnation: zone)
                try fold.apply(SampleCommit(offset: 5, time: 5, payload: Envelope(events: [zone.event()]).encoded()))
                try fold.flush()
            }
            try #require(try ViewDump(pages.snapshot()) == before)
            return error
        }
    }

    private func check(
        _ code: StrataError.Code, _ events: (Fixture) throws -> [Event], _ location: SourceLocation = #_sourceLocation
    ) throws {
        let fixture = try Fixture()
        let error = try fixture.error(try events(fixture))
        #expect(error?.code == code, "\(error.map { "\($0)" } ?? "no error")", sourceLocation: location)
        #expect(error?.context.offset == 3, "\(error.map { "\($0)" } ?? "no error")", sourceLocation: location)
    }

    private func created(_ key: RecordKey, type: UInt64 = 1, field: UInt32 = 1) -> RecordSavedEvent {
        var event = RecordSavedEvent(.create, key, type: type)
        event.fields = [FieldChange(field, .int64(1))]
        return event
    }

    @Test("The fixture takes what fits")
    func good() throws {
        let fixture = try Fixture()
        let update = RecordSavedEvent(.update, fixture.key("a"), type: 1, previous: fixture.record)
        #expect(try fixture.error([try created(fixture.key("b")).event(), try update.event()]) == nil)
    }

    @Test("Records in zones that are not there")
    func zones() throws {
        try check(.brokenSequence, { [try created($0.key("b", zone: 2)).event()] })
        try check(.brokenSequence, { [try created($0.key("b", zone: 3)).event()] })
        try check(.malformed, { [try created($0.key("b", zone: 4)).event()] })
        try check(.malformed, { [try created($0.key("b", zone: .max)).event()] })
        try check(
            .brokenSequence,
            { [try created($0.key("b", zone: 3)).event(), try ZoneSavedEvent(zone: 3, database: 1).event()] })
        try check(
            .brokenSequence,
            { fixture in
                let key = fixture.key("b", zone: 2)
                let previous = Version(offset: 3, eventIndex: 0)
                return [try created(key).event(), try RecordDeletedEvent(key, type: 1, previous: previous).event()]
            })
    }

    @Test("Names that come behind their first use")
    func lateNames() throws {
        try check(
            .malformed,
            { fixture in
                let name = InternedName(ordinal: 2, name: .recordType("Late"))
                return [try created(fixture.key("b"), type: 2).event(), name.event]
            })
        try check(
            .malformed,
            { fixture in
                let name = InternedName(ordinal: 4, name: .zone(database: 1, owner: 1, "late"))
                let zone = try ZoneSavedEvent(zone: 4, database: 1).event()
                return [try created(fixture.key("b", zone: 4)).event(), name.event, zone]
            })
        // In time, and once more.
        let fixture = try Fixture()
        let name = InternedName(ordinal: 2, name: .recordType("Timely")).event
        #expect(try fixture.error([name, try created(fixture.key("b"), type: 2).event(), name]) == nil)
    }

    @Test("Versions that do not follow")
    func versions() throws {
        let wrong = Version(offset: 1, eventIndex: 0)
        for change in [RecordSavedEvent.Change.update, .touch] {
            for previous in [nil, wrong] {
                try check(
                    .brokenSequence,
                    { [try RecordSavedEvent(change, $0.key("a"), type: 1, previous: previous).event()] })
            }
        }
        try check(.malformed, { [try created($0.key("a")).event()] })
        try check(.malformed, { [try created($0.key("b")).event(), try created($0.key("b")).event()] })
        try check(.malformed, { [try RecordSavedEvent(.update, $0.key("b"), type: 1, previous: wrong).event()] })
        try check(
            .brokenSequence,
            { fixture in
                var event = RecordSavedEvent(.update, fixture.key("b"), type: 1, previous: wrong)
                (event.isFull, event.created, event.createdBy) = (true, 1, 1)
                return [try event.event()]
            })
        for previous in [nil, wrong] {
            try check(.brokenSequence, { [try RecordDeletedEvent($0.key("a"), type: 1, previous: previous).event()] })
        }
        try check(.brokenSequence, { [try RecordDeletedEvent($0.key("b"), type: 1, previous: nil).event()] })
        try check(.brokenSequence, { [try RecordErasedEvent($0.key("a"), type: 1, previous: wrong).event()] })
        try check(
            .brokenSequence,
            { fixture in
                let event = try RecordDeletedEvent(fixture.key("a"), type: 1, previous: fixture.record).event()
                return [event, event]
            })
    }

    @Test("Sixteen events without a full one")
    func missingFull() throws {
        try check(
            .malformed,
            { fixture in
                try (0..<16).map { index in
                    let previous = index == 0 ? fixture.record : Version(offset: 3, eventIndex: UInt32(index - 1))
                    return try RecordSavedEvent(.update, fixture.key("a"), type: 1, previous: previous).event()
                }
            })
    }

    @Test("Ordinals without names")
    func ordinals() throws {
        try check(.malformed, { [try created($0.key("b"), type: 2).event()] })
        try check(.malformed, { [try created($0.key("b"), field: 2).event()] })
        let links: [(inout RecordSavedEvent) -> Void] = [
            { $0.modifiedBy = 9 }, { $0.createdBy = 9 },
            { $0.parent = .set(RecordKey(zone: 9, name: "b")) }, { $0.share = .set(RecordKey(zone: 9, name: "b")) },
            { $0.fields = [FieldChange(1, .reference(.init(RecordKey(zone: 9, name: "b"))))] },
        ]
        for link in links {
            try check(
                .malformed,
                { fixture in
                    var event = created(fixture.key("b"))
                    link(&event)
                    return [try event.event()]
                })
        }
        let others: [any EventBody] = [
            ZoneSavedEvent(zone: 9, database: 1), ZoneDeletedEvent(zone: 9, database: 1, incarnation: nil),
            DatabaseCreatedEvent(database: 9), UserChangedEvent(user: 9), DeviceSeenEvent(device: 9),
            SchemaChangedEvent(type: 9, fields: []), SchemaChangedEvent(type: 1, fields: [.init(9, .string)]),
            ClientTokenEvent(zone: 9, device: 1, token: []), ClientTokenEvent(zone: 1, device: 9, token: []),
            TokensExpiredEvent(offset: 1, database: 9),
            SubscriptionSavedEvent(database: 9, user: 1, Subscription("a", .query)),
            SubscriptionSavedEvent(database: 1, user: 9, Subscription("a", .query)),
            SubscriptionSavedEvent(database: 1, user: 1, Subscription("a", .query, zone: 9)),
            SubscriptionSavedEvent(database: 1, user: 1, Subscription("a", .query, recordType: 9)),
        ]
        for other in others { try check(.malformed, { _ in [try other.event()] }) }
    }

    @Test("Zones in another life or database")
    func lives() throws {
        let other = Version(offset: 1, eventIndex: 0)
        let saved: [(UInt64, UInt64, Version?)] = [(1, 1, nil), (1, 1, other), (2, 1, other), (3, 1, other)]
        for (zone, database, incarnation) in saved {
            try check(
                .brokenSequence,
                { _ in [try ZoneSavedEvent(zone: zone, database: database, incarnation: incarnation).event()] })
        }
        let deleted: [(UInt64, Version?)] = [(1, nil), (1, other), (2, Version(offset: 1, eventIndex: 8)), (3, nil)]
        for (zone, incarnation) in deleted {
            try check(
                .brokenSequence,
                { _ in [try ZoneDeletedEvent(zone: zone, database: 1, incarnation: incarnation).event()] })
        }
        let database = InternedName(ordinal: 2, name: .database(.public, owner: 0)).event
        try check(.malformed, { _ in [database, try ZoneSavedEvent(zone: 3, database: 2).event()] })
        try check(.malformed, { [database, try ZoneDeletedEvent(zone: 1, database: 2, incarnation: $0.zone).event()] })
    }

    @Test("Events that are unknown, malformed, or of something that is not there")
    func events() throws {
        for kind: UInt64 in [0, 3, 57, 67, 72, 81, 127] {
            try check(.newerFormat, { _ in [Event(EventKind(rawValue: kind), body: [])] })
        }
        try check(
            .brokenSequence, { _ in [try SubscriptionDeletedEvent(database: 1, user: 1, id: "none").event()] })
        let bodies: [any EventBody] = [
            DatabaseCreatedEvent(database: 1), UserChangedEvent(user: 1), DeviceSeenEvent(device: 1),
            ZoneSavedEvent(zone: 3, database: 1), SchemaChangedEvent(type: 1, fields: []),
            ClientTokenEvent(zone: 1, device: 1, token: [1]), TokensExpiredEvent(offset: 1),
            RecordDeletedEvent(RecordKey(zone: 1, name: "a"), type: 1, previous: Version(offset: 2, eventIndex: 0)),
            RecordErasedEvent(RecordKey(zone: 1, name: "a"), type: 1, previous: Version(offset: 2, eventIndex: 0)),
        ]
        for body in bodies {
            let event = try body.event()
            try check(.malformed, { _ in [Event(event.kind, body: event.body + [0])] })
            try check(.malformed, { _ in [Event(event.kind, body: event.body.dropLast())] })
        }
        // A name that is no text.
        try check(.malformed, { _ in [Event(.recordSaved, body: [1, 1, 1, 0xFF, 0x10, 0, 0, 0])] })
    }

    @Test("An address of two users")
    func addresses() throws {
        var person = Person()
        person.emails = ["anna@example.com"]
        let first = UserChangedEvent(user: 1, person: person)
        person.emails = ["Anna@Example.com"]
        let second = UserChangedEvent(user: 2, person: person)
        let other = InternedName(ordinal: 2, name: .user("berta")).event
        try check(.brokenSequence, { _ in [other, try first.event(), try second.event()] })
    }

    @Test("Saves and deletions of another record type than the record's")
    func types() throws {
        let type = InternedName(ordinal: 2, name: .recordType("Other")).event
        for change in [RecordSavedEvent.Change.update, .touch] {
            try check(
                .brokenSequence,
                { [type, try RecordSavedEvent(change, $0.key("a"), type: 2, previous: $0.record).event()] })
        }
        try check(
            .brokenSequence, { [type, try RecordDeletedEvent($0.key("a"), type: 2, previous: $0.record).event()] })
    }

    @Test("Names that are interned twice, or with a gap")
    func names() throws {
        let names: [InternedName] = [
            .init(ordinal: 1, name: .user("berta")), .init(ordinal: 2, name: .user("anna")),
            .init(ordinal: 3, name: .user("carl")), .init(ordinal: .max, name: .field("x")),
            .init(ordinal: 2, name: .database(.private, owner: 1)),
        ]
        for name in names { try check(.malformed, { _ in [name.event] }) }
    }

    @Test("Commits that do not come behind the last")
    func offsets() throws {
        let fixture = try Fixture()
        let payload = Envelope(events: [Event(.fetched, body: [])]).encoded()
        for offset in [0, 1, 2, Version.maximumOffset + 1, .max] {
            let error = thrownError {
                try Fold(try fixture.pages.fork()).apply(SampleCommit(offset: offset, time: 3, payload: payload))
            }
            #expect(error?.code == .brokenSequence && error?.context.offset == offset)
        }
    }

    @Test("A payload with any byte changed folds or gives an error that names the offset, and never traps")
    func flips() throws {
        let commits = try SampleCommit.all(16, seed: 5)
        let pages = try Views.emptyTrees()
        var generator = SeededGenerator(seed: 1)
        for (index, commit) in commits.enumerated() {
            let before = index % 5 == 0 ? try ViewDump(pages.snapshot()) : nil
            for place in commit.payload.indices.prefix(1_500) {
                var damaged = commit
                damaged.payload[place] ^= [1, 0x80, 0xFF, UInt8(1 + generator.next(below: 255))][place % 4]
                let error = thrownError {
                    let fold = Fold(try pages.fork())
                    try fold.apply(damaged)
                    try fold.flush()
                }
                try #require(error == nil || error?.context.offset == commit.offset, "\(String(describing: error))")
            }
            if let before { try #require(try ViewDump(pages.snapshot()) == before) }
            try pages.fold([commit])
        }
    }

    @Test("A zone's count that was damaged is an error, not a trap")
    func counts() throws {
        for count in [0, UInt64.max] {
            let fixture = try Fixture()
            let fork = try fixture.pages.fork()
            var row = try #require(try fork.zoneRow(1, 1))
            row.recordCount = count
            var writer = ByteWriter()
            row.encode(into: &writer)
            try ViewKeys.zone(1, 1).withUnsafeBytes { key in
                try writer.bytes.withUnsafeBytes { try fork.put(ViewTree.zones, key, $0) }
            }
            let fold = Fold(fork)
            let event =
                count == 0
                ? try RecordDeletedEvent(fixture.key("a"), type: 1, previous: fixture.record).event()
                : try created(fixture.key("b")).event()
            try fold.apply(SampleCommit(offset: 3, time: 3, payload: Envelope(events: [event]).encoded()))
            #expect(thrownError { try fold.flush() }?.code == .malformed)
        }
    }
}
