import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

/// What is read from the end of the log on, against what is read from its beginning on.
@Suite struct RecordTimelineTests {
    private static let names = ["often", "sometimes", "once"]

    /// A closed store of several segments, in which records come, change, go and are erased.
    /// - Parameter isCompacted: whether the first part of its history was let go.
    private func store(seed: UInt64, isCompacted: Bool) throws -> VersionedStore {
        let random = SeededRandom(seed: seed)
        let world = try VersionedStore(segmentBytes: 64 << 10)
        try world.makeZones([VersionedStore.notes])
        try world.save("once", ["a": .int64(1), "b": .string("x")])
        for number in 0..<150 {
            let name = random.next(below: 10) < 8 ? "often" : "sometimes"
            switch random.next(below: 40) {
            case 0: try world.delete(name)
            case 1: try world.erase(name)
            case 2..<10:
                let noise = (0..<4_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                try world.save("filler", ["noise": .data(noise)])
            case 10..<14: try world.save(name, ["rare": .int64(Int64(number)), "a": nil])
            case 14..<18: try world.save("sometimes", ["a": .int64(0)], parent: .set("once"))
            default: try world.save(name, ["a": .int64(Int64(random.next(below: 2)))])
            }
        }
        if isCompacted { try world.store.compact(before: 70) }
        try world.store.close()
        return world
    }

    private func entries(_ timeline: RecordTimeline) throws -> [RecordTimeline.Entry] {
        var timeline = timeline
        var entries: [RecordTimeline.Entry] = []
        while let entry = try timeline.next() { entries.append(entry) }
        #expect(timeline.damage == nil)
        return entries
    }

    private func texts(_ entries: some Sequence<RecordTimeline.Entry>) -> [String] { entries.map { "\($0)" } }

    private func forEachRecord(
        _ world: VersionedStore, _ body: (RecordKey, StoreAccess, _ last: UInt64) throws -> Void
    ) throws {
        let access = try StoreAccess(world.path) { try Envelope.touches(of: $0) }
        #expect(access.reader.segments.count > 1)
        var known = KnownNames()
        _ = try known.addAll(of: access, before: access.reader.end.offset + 1)
        let zone = try #require(known.zones.first { $0.name == "Notes" }?.ordinal)
        let (floor, end) = (access.reader.floor.offset, access.reader.end.offset)
        for name in Self.names + ["never"] {
            for last in [end, end - 1, (floor + end) / 2, floor + 1] {
                try body(RecordKey(zone: zone, name: name), access, last)
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64], [false, true])
    func theLastVersionsAreTheTailOfAll(seed: UInt64, isCompacted: Bool) throws {
        try forEachRecord(try store(seed: seed, isCompacted: isCompacted)) { record, access, last in
            let all = try entries(RecordTimeline(record, in: access, through: last))
            let events = all.filter { $0.header != nil }
            for wanted in [0, 1, 2, 3, 7, 20, events.count - 1, events.count, events.count + 1, Int.max]
            where wanted >= 0 {
                let found = try RecordTimeline.ofLast(wanted, of: record, in: access, through: last)
                // What stands in front of the first event is told with all of them, and counts as one more.
                let expected = wanted > events.count ? all[...] : events.suffix(wanted)
                #expect(
                    texts(try entries(found.timeline)) == texts(expected), "\(record.name), \(wanted) up to \(last)")
                #expect((found.count > 0) == !events.isEmpty)
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64], [false, true])
    func blameIsThatOfTheWholeHistory(seed: UInt64, isCompacted: Bool) throws {
        try forEachRecord(try store(seed: seed, isCompacted: isCompacted)) { record, access, last in
            var whole = RecordTimelineBlame(KnownNames())
            for entry in try entries(RecordTimeline(record, in: access, through: last)) { whole.add(entry) }
            let found = try RecordTimelineBlame.of(record, in: access, through: last, KnownNames())
            #expect(found.damage == nil)
            #expect(found.blame.lines.map { "\($0)" } == whole.lines.map { "\($0)" }, "\(record.name) up to \(last)")
        }
    }
}
