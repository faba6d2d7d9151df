import Glibc
import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

@Suite("Replaying long logs in the order of their keys")
struct SortedReplayTests {
    private let disk = SimulatedDisk()

    private func sorter() -> EventSorter { EventSorter(files: disk, path: "/views.sort") }

    private func sorting(maximumPages: Int = 1 << 20) -> Replay.Sorting {
        Replay.Sorting(sorter: sorter(), maximumPages: maximumPages, limits: .init(events: 7))
    }

    private func append(_ count: Int, of history: inout SampleHistory, to log: MemoryLog) throws {
        for _ in 0..<count {
            let envelope = try history.next(at: log.end.offset + 1)
            let commit = NewCommit(
                id: Identifier(high: 1, low: log.end.offset), time: history.time, payload: envelope.encoded()[...])
            history.accept(try #require(try log.append([commit], expecting: log.end).positions.last).offset)
        }
    }

    private func expectTruth(_ pages: PageStore, _ log: MemoryLog) throws {
        let plain = try PageStore.inMemory()
        try Replay(log: log, pages: plain).run()
        try #require(try ViewDump(pages.snapshot()) == ViewDump(plain.snapshot()))
        try #require(try pages.snapshot().digests() == plain.snapshot().digests())
        for id in ViewTree.folded { try #require(pages.snapshot().foldedOffset(id) == log.end.offset) }
    }

    @Test("Slices that are folded together give the trees that they give one by one")
    func together() throws {
        try withSeeds(6) { seed in
            let log = MemoryLog()
            var history = SampleHistory(seed: seed)
            let pages = try PageStore.inMemory()
            for _ in 0..<3 {
                try append(60, of: &history, to: log)
                var last: Replay.Progress?
                try Replay(log: log, pages: pages, sorting: sorting()).run { last = $0 }
                try #require(last == Replay.Progress(offset: log.end.offset, end: log.end.offset))
                try expectTruth(pages, log)
            }
        }
        #expect(disk.count(of: .write) > 60, "nothing was sorted")
        #expect(disk.paths.isEmpty)
    }

    @Test("When the pages that no checkpoint has written could become too many, what there is is published")
    func parts() throws {
        let log = MemoryLog()
        var history = SampleHistory(seed: 3)
        try append(120, of: &history, to: log)
        let pages = try PageStore.inMemory()
        var offsets: [UInt64] = []
        try Replay(log: log, pages: pages, sorting: sorting(maximumPages: 32)).run(progress: { _ in }) { snapshot in
            offsets.append(snapshot.foldedOffset(ViewTree.records))
        }
        #expect(offsets.count > 3 && offsets == offsets.sorted() && offsets.last == log.end.offset)
        try expectTruth(pages, log)
    }

    @Test("Without space for sorted events they are folded in several parts", arguments: [1, 2, 5, 9])
    func noSpace(from call: Int) throws {
        let log = MemoryLog()
        var history = SampleHistory(seed: 4)
        try append(120, of: &history, to: log)
        disk.fail(.write, from: call, with: .errno(ENOSPC), on: "views.sort")
        let pages = try PageStore.inMemory()
        try Replay(log: log, pages: pages, sorting: sorting()).run()
        try expectTruth(pages, log)
    }

    // MARK: The sorter

    private struct Event: Equatable {
        var key: [UInt8]
        var body: [UInt8]
        var kind: EventKind
        var place: EventPlace

        init(_ event: SortedEvent) {
            (key, body, kind, place) = (Array(event.key), Array(event.body), event.kind, event.place)
        }
    }

    /// The names have common beginnings, and each comes several times; some bodies are longer than a block.
    private func slices(seed: UInt64) -> [RecordSlice] {
        var generator = SeededGenerator(seed: seed)
        var offset: UInt64 = 0
        return (0..<5).map { _ in
            var slice = RecordSlice()
            for _ in 0..<generator.next(below: 60) {
                offset += 1
                let name =
                    Array("name".utf8) + (0..<generator.next(below: 12)).map { _ in UInt8(generator.next(below: 2)) }
                let body = [UInt8](
                    repeating: UInt8(truncatingIfNeeded: offset), count: generator.next(below: 40) == 0 ? 300_000 : 30)
                let place = EventPlace(
                    version: Version(offset: offset, eventIndex: 2), time: -Int64(offset), user: offset, device: 7)
                name.withUnsafeBytes { name in
                    body.withUnsafeBytes {
                        slice.append(
                            offset % 3 == 0 ? .recordDeleted : .recordSaved, zone: offset % 2 * 500, name: name,
                            body: $0, at: place)
                    }
                }
            }
            return slice
        }
    }

    @Test("Events come in the order of their keys, those of a key as they were added")
    func order() throws {
        try withSeeds(20) { seed in
            let sorter = sorter()
            var expected: [Event] = []
            for slice in slices(seed: seed) {
                var slice = slice
                try slice.forEachEvent { expected.append(Event($0)) }
                try sorter.add(&slice)
            }
            try #require(sorter.eventCount == expected.count && sorter.zones.isSubset(of: [0, 500]))
            expected.sort { a, b in
                a.key == b.key ? a.place.version < b.place.version : a.key.lexicographicallyPrecedes(b.key)
            }
            for _ in 0..<2 {
                var found: [Event] = []
                try sorter.forEachEvent { found.append(Event($0)) }
                try #require(found == expected)
            }
            try sorter.removeAll()
            try sorter.forEachEvent { _ in Issue.record("there is nothing any more") }
            try #require(sorter.isEmpty && sorter.eventCount == 0 && sorter.byteCount == 0 && sorter.zones.isEmpty)
        }
    }

    @Test("Whatever bit of a sorted run is wrong, it is noticed")
    func damage() throws {
        let writer = RunWriter(try disk.open("/run", .create))
        writer.start(at: 0)
        var slice = slices(seed: 1)[0]
        try slice.forEachEvent { try writer.append($0) }
        try writer.finish()
        func count() throws -> Int {
            let reader = RunReader(try disk.open("/run", .read), 0..<writer.end)
            var count = 0
            while try reader.advance() { count += 1 }
            return count
        }
        #expect(try count() == slice.count && slice.count > 5)
        var generator = SeededGenerator(seed: 2)
        for round in 0..<200 {
            let place = round < 64 ? round / 8 : generator.next(below: writer.end)
            try disk.flipBit("/run", byte: place, bit: round % 8)
            let error = #expect(throws: StrataError.self, "byte \(place)") { try count() }
            #expect(error?.code == .inputOutput)
            try disk.flipBit("/run", byte: place, bit: round % 8)
        }
        #expect(try count() == slice.count)
    }
}
