import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplay

/// Walks through random histories, in both directions, against the plain list of their commits.
@Suite struct StepperTests {
    private typealias Fixture = BisectionFixture

    private func history(_ seed: UInt64, _ count: Int = 120) throws -> Fixture {
        var fixture = try Fixture(seed: seed)
        for _ in 0..<count { try fixture.step() }
        return fixture
    }

    private func commits(_ store: Store) throws -> [Commit] {
        var cursor = try store.log.read(from: store.log.floor.offset + 1)
        var commits: [Commit] = []
        while let commit = try cursor.next() { commits.append(commit) }
        return commits
    }

    // MARK: Steps

    @Test(arguments: [1, 2, 3] as [UInt64]) func stepsAreTheCommitsInOrder(_ seed: UInt64) throws {
        let fixture = try history(seed)
        let offsets = try commits(fixture.store).map(\.offset)
        var stepper = try Stepper(of: fixture.store)
        #expect(stepper.offset == 0)
        #expect(try stepper.commit() == nil)
        for offset in offsets {
            let stop = try stepper.step(.forward)
            #expect(stop.offset == offset && stop.reason == .arrived)
            #expect(try stepper.commit()?.offset == offset)
        }
        #expect(try stepper.step(.forward).reason == .ended)
        #expect(stepper.offset == offsets.last)
        for offset in offsets.reversed().dropFirst() { #expect(try stepper.step(.back).offset == offset) }
        #expect(try stepper.step(.back).reason == .arrived)
        #expect(stepper.offset == 0)
        #expect(try stepper.step(.back).reason == .ended)
        let many = try stepper.step(.forward, count: 10_000)
        #expect(many.offset == offsets.last && many.reason == .ended)
    }

    @Test func gapsAreSteppedOver() throws {
        let log = HostileLog(.init(gaps: 700), seed: 7, touches: { _ in [] })
        for number in 0..<60 {
            let commit = NewCommit(id: Identifier(high: 1, low: UInt64(number)), time: 0, payload: [])
            _ = try log.append([commit], expecting: log.end)
        }
        var cursor = try log.read(from: 1)
        var offsets: [UInt64] = []
        while let commit = try cursor.next() { offsets.append(commit.offset) }
        let end = log.end.offset
        #expect(end > 100, "some are left out")
        for (floor, last) in [(0, end), (offsets[9], offsets[40])] {
            let neighbours = CommitNeighbours(log: log, floor: floor, end: last)
            for place in floor...last {
                let known = offsets.filter { $0 > floor && $0 <= last }
                #expect(try neighbours.previous(before: place)?.offset == known.last { $0 < place }, "before \(place)")
                #expect(try neighbours.next(after: place)?.offset == known.first { $0 > place }, "behind \(place)")
            }
        }
    }

    @Test func jumpsAndPlacesAround() throws {
        let fixture = try history(4)
        let offsets = try commits(fixture.store).map(\.offset)
        var stepper = try Stepper(of: fixture.store)
        #expect(try stepper.jump(to: 17).offset == 17)
        #expect(try stepper.previousOffset() == 16)
        #expect(try stepper.offsets(around: 17, before: 3, after: 2) == [15, 16, 17, 18, 19])
        #expect(try stepper.offsets(around: 0, before: 3, after: 2) == [1, 2])
        #expect(try stepper.offsets(around: stepper.end, before: 2, after: 2) == Array(offsets.suffix(2)))
        #expect(throws: StrataError.self) { _ = try stepper.jump(to: stepper.end + 1) }
        #expect(stepper.offset == 17)
    }

    // MARK: Breakpoints

    /// Everywhere that it stops, forwards from the beginning, and back from the end.
    private func stops(_ stepper: inout Stepper) throws -> (forward: [UInt64], back: [UInt64]) {
        var forward: [UInt64] = []
        _ = try stepper.jump(to: stepper.floor)
        while true {
            let stop = try stepper.go(.forward)
            if stop.reason == .ended { break }
            #expect(stop.reason == .stopped([1]))
            forward.append(stop.offset)
        }
        #expect(stepper.offset == stepper.end)
        var back = forward.last == stepper.end ? [stepper.end] : []
        while true {
            let stop = try stepper.go(.back)
            if stop.reason == .ended { break }
            back.append(stop.offset)
        }
        #expect(stepper.offset == stepper.floor)
        return (forward, back)
    }

    private func expect(
        _ breakpoint: Breakpoint, in store: Store, _ what: Comment, _ fits: (Commit, Envelope) throws -> Bool
    ) throws {
        let wanted = try commits(store).filter { try fits($0, Envelope(decoding: $0.payload)) }.map(\.offset)
        #expect(!wanted.isEmpty, "\(what): the history has some")
        var stepper = try Stepper(of: store)
        let number = try stepper.add(breakpoint)
        #expect(number == 1)
        let found = try stops(&stepper)
        #expect(found.forward == wanted, what)
        #expect(found.back == wanted.reversed(), what)
    }

    private func saves(_ envelope: Envelope) throws -> [RecordSavedEvent] {
        try envelope.events.filter { $0.kind == .recordSaved }.map { try RecordSavedEvent(decoding: $0.body) }
    }

    private func places(_ envelope: Envelope) throws -> [(record: RecordKey, type: UInt64)] {
        try saves(envelope).map { ($0.record, $0.type) }
            + envelope.events.filter { $0.kind == .recordDeleted }.map {
                let deleted = try RecordDeletedEvent(decoding: $0.body)
                return (deleted.record, deleted.type)
            }
    }

    @Test(arguments: [5, 6] as [UInt64]) func eachKindStopsWhereAFilterSays(_ seed: UInt64) throws {
        let fixture = try history(seed, 300)
        let store = fixture.store
        let names = try NameTable(of: store)
        let zone = try #require(names.zones(named: "Work", owner: nil)?.first)
        let task = try #require(names.ordinals(of: "Task", .recordType)?.first)
        let user = try #require(names.ordinals(of: "anna", .user)?.first)
        var breakpoint = Breakpoint()
        breakpoint.record = Fixture.names[2]
        try expect(breakpoint, in: store, "record") { try places($1).contains { $0.record.name == Fixture.names[2] } }
        breakpoint.zone = "Work"
        try expect(breakpoint, in: store, "record in a zone") {
            try places($1).contains { $0.record == RecordKey(zone: zone, name: Fixture.names[2]) }
        }
        breakpoint = Breakpoint()
        breakpoint.type = "Task"
        try expect(breakpoint, in: store, "type") { try places($1).contains { $0.type == task } }
        breakpoint.zone = "Work"
        try expect(breakpoint, in: store, "type in a zone") {
            try places($1).contains { $0.type == task && $0.record.zone == zone }
        }
        breakpoint = Breakpoint()
        breakpoint.user = "anna"
        try expect(breakpoint, in: store, "user") { $1.header.user == user }
        breakpoint = Breakpoint()
        breakpoint.device = "phone"
        try expect(breakpoint, in: store, "device") { $1.header.device != 0 }
        breakpoint = Breakpoint()
        breakpoint.zone = "Work"
        try expect(breakpoint, in: store, "zone") { _, envelope in
            try places(envelope).contains { $0.record.zone == zone }
                || envelope.events.contains { event in
                    switch event.kind {
                    case .zoneSaved: try ZoneSavedEvent(decoding: event.body).zone == zone
                    case .zoneDeleted: try ZoneDeletedEvent(decoding: event.body).zone == zone
                    default: false
                    }
                }
        }
    }

    /// The value before and after, of whole states that are opened one by one.
    @Test(arguments: [7, 8] as [UInt64]) func aFieldStopsWhereItsValueChanges(_ seed: UInt64) throws {
        let fixture = try history(seed)
        let store = fixture.store
        func ranks(_ state: Store) throws -> [RecordID: FieldValue?] {
            var ranks: [RecordID: FieldValue?] = [:]
            for zone in Fixture.zones {
                for name in Fixture.names {
                    let id = RecordID(name, zone: zone)
                    guard let record = try? state.snapshot().record(id, in: Fixture.database, as: Fixture.anna) else {
                        continue
                    }
                    ranks[id] = .some(try record.fields["rank"])
                }
            }
            return ranks
        }
        let past = try store.asOf(0)
        defer { try? past.close() }
        var before: [RecordID: FieldValue?] = [:]
        var wanted: [UInt64] = []
        for offset in 1...store.offset {
            try past.advance(to: offset)
            let after = try ranks(past)
            // What is gone is no value that a field gets.
            if after.contains(where: { id, rank in rank != (before[id] ?? nil) }) { wanted.append(offset) }
            before = after
        }
        var breakpoint = Breakpoint()
        breakpoint.field = "rank"
        var stepper = try Stepper(of: store)
        try stepper.add(breakpoint)
        let found = try stops(&stepper)
        #expect(found.forward == wanted && found.back == wanted.reversed())
    }

    @Test(arguments: [9, 10] as [UInt64]) func aPredicateStopsWhereARecordBeginsToFulfilIt(_ seed: UInt64) throws {
        let fixture = try history(seed)
        let store = fixture.store
        func holding(_ state: Store) throws -> Set<RecordID> {
            let query = Query("Note", where: try PredicateParser.parse("rank > 5"))
            return try Set(
                state.query(.new(query), in: Fixture.database, limit: 1_000, as: Fixture.anna).matches.map(\.id))
        }
        let past = try store.asOf(0)
        defer { try? past.close() }
        var before: Set<RecordID> = []
        var wanted: [UInt64] = []
        for offset in 1...store.offset {
            try past.advance(to: offset)
            let after = (try? holding(past)) ?? []
            if !after.isSubset(of: before) { wanted.append(offset) }
            before = after
        }
        var breakpoint = Breakpoint()
        breakpoint.question = try fixture.question("rank > 5")
        var stepper = try Stepper(of: store)
        try stepper.add(breakpoint)
        let found = try stops(&stepper)
        #expect(found.forward == wanted && found.back == wanted.reversed())
        stepper.remove(1)
        var reached: [UInt64] = []
        while case let stop = try stepper.go(.forward, until: breakpoint), stop.reason == .found {
            reached.append(stop.offset)
        }
        #expect(reached == wanted)
    }

    @Test func aRefusalStopsByWhatWasAsked() throws {
        let refusing = try RefusingStore()
        let base = try refusing.save("milk", ["rank": .int64(1)])
        try refusing.save("milk", ["rank": .int64(2)], base: base)
        #expect(throws: (any Error).self) { try refusing.save("milk", ["rank": .int64(3)], base: base) }
        try refusing.save("bread", ["rank": .int64(1)])
        let store = refusing.store
        var refusal = Breakpoint()
        refusal.isRefusal = true
        try expect(refusal, in: store, "refusal") { $1.events.contains { $0.kind == .requestRefused } }
        refusal.record = "milk"
        refusal.field = "rank"
        try expect(refusal, in: store, "of milk") { $1.events.contains { $0.kind == .requestRefused } }
        refusal.record = "bread"
        var stepper = try Stepper(of: store)
        try stepper.add(refusal)
        #expect(try stepper.go(.forward).reason == .ended)
    }

    @Test func aNameThatTheStoreNeverHadIsRefused() throws {
        var stepper = try Stepper(of: try history(11, 20).store)
        for set: (inout Breakpoint) -> Void in [
            { $0.user = "nobody" }, { $0.device = "none" }, { $0.zone = "none" }, { $0.type = "None" },
            { $0.field = "none" }, { $0.owner = "nobody" },
        ] {
            var breakpoint = Breakpoint()
            set(&breakpoint)
            #expect(throws: Refusal.self) { try stepper.add(breakpoint) }
        }
        #expect(stepper.marks.isEmpty)
    }

    // MARK: Watches

    @Test(arguments: [12, 13, 14] as [UInt64]) func aWatchTellsOldAndNewValues(_ seed: UInt64) throws {
        let fixture = try history(seed, 160)
        let store = fixture.store
        let id = RecordID(Fixture.names[1], zone: Fixture.zones[0])
        func record(_ offset: UInt64) throws -> Record? {
            try store.snapshot().record(id, asOf: offset, in: Fixture.database, as: Fixture.anna)
        }
        for field in [nil, "rank"] {
            var wanted: [UInt64] = []
            for offset in 1...store.offset {
                let (before, after) = (try record(offset - 1), try record(offset))
                let isOther =
                    try field.map { try before?.fields[$0] != after?.fields[$0] } ?? (before?.version != after?.version)
                if isOther { wanted.append(offset) }
            }
            #expect(!wanted.isEmpty)
            var stepper = try Stepper(of: store)
            try stepper.add(Watch(id, field: field, in: Fixture.database, as: Fixture.anna))
            let found = try stops(&stepper)
            #expect(found.forward == wanted && found.back == wanted.reversed(), "\(field ?? "whole")")
            // Each stop has the values on both sides of the commit; a step back has them the other way round.
            for offset in wanted {
                _ = try stepper.jump(to: offset - 1)
                let change = try #require(try stepper.go(.forward).changes.first)
                #expect(change.number == 1 && stepper.offset == offset)
                #expect(try change.difference.before?.version == record(offset - 1)?.version)
                #expect(try change.difference.after?.version == record(offset)?.version)
                if let field {
                    #expect(try change.before == record(offset - 1)?.fields[field])
                    #expect(try change.after == record(offset)?.fields[field])
                }
                let back = try #require(try stepper.step(.back).changes.first)
                #expect(back.difference.before?.version == change.difference.after?.version)
                #expect(back.difference.after?.version == change.difference.before?.version)
            }
        }
    }

    @Test func theNearestOfSeveralStops() throws {
        let fixture = try history(15)
        var stepper = try Stepper(of: fixture.store)
        var (one, other) = (Breakpoint(), Breakpoint())
        (one.record, other.type) = (Fixture.names[0], "Task")
        let alone = try [one, other].map { breakpoint in
            var stepper = try Stepper(of: fixture.store)
            try stepper.add(breakpoint)
            return try stops(&stepper).forward
        }
        try stepper.add(one)
        try stepper.add(other)
        var found: [UInt64] = []
        while case let stop = try stepper.go(.forward), stop.reason != .ended {
            let numbers = alone.indices.filter { alone[$0].contains(stop.offset) }.map { $0 + 1 }
            #expect(stop.reason == .stopped(numbers))
            found.append(stop.offset)
        }
        #expect(found == Set(alone[0] + alone[1]).sorted())
    }

    // MARK: Being interrupted

    @Test func whoInterruptsIsWhereItHasComeTo() throws {
        let fixture = try Fixture()
        for number in 0..<3_000 { try fixture.save(["note 0"], ["rank": .int64(Int64(number % 7))]) }
        var stepper = try Stepper(of: fixture.store)
        var breakpoint = Breakpoint()
        breakpoint.isRefusal = true
        try stepper.add(breakpoint)
        let stop = try stepper.go(.forward) { _ in false }
        #expect(stop.reason == .interrupted && (1_000..<1_100).contains(stop.offset))
        let later = try stepper.go(.forward) { $0 < 2_000 }
        #expect(later.reason == .interrupted && later.offset > 2_000)
        let back = try stepper.go(.back) { _ in false }
        #expect(back.reason == .interrupted && back.offset < later.offset && back.offset > 0)
        // A predicate that nobody waits for is no breakpoint.
        breakpoint = Breakpoint()
        breakpoint.question = try fixture.question("rank > 5")
        let number = try stepper.add(breakpoint) { _ in false }
        #expect(number == nil && stepper.marks.count == 1)
    }

    // MARK: History that was let go

    @Test func itBeginsBehindWhatWasLetGo() async throws {
        let fixture = try history(16)
        let end = fixture.store.offset
        _ = try fixture.store.compact(before: end / 2)
        var stepper = try Stepper(of: fixture.store)
        #expect(stepper.floor > 0 && stepper.offset == stepper.floor)
        let offsets = try commits(fixture.store).map(\.offset)
        for offset in offsets { #expect(try stepper.step(.forward).offset == offset) }
        for offset in offsets.reversed().dropFirst() { #expect(try stepper.step(.back).offset == offset) }
        #expect(try stepper.step(.back).offset == stepper.floor)
        #expect(try stepper.step(.back).reason == .ended)
    }
}
