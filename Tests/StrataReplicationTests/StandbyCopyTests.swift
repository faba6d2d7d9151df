import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@Suite("A warm standby of a store")
struct StandbyCopyTests {
    private let disk = SimulatedDisk()
    private var platform: Platform { Platform(files: disk) }

    private func log(_ path: String) throws -> SegmentedLog { try SegmentedLog.open(at: path, platform: platform) }

    private func append(_ count: Int, to log: SegmentedLog, seed: UInt64) throws {
        let random = SeededRandom(seed: seed &+ log.end.offset)
        for _ in 0..<count {
            let event = Event(.consoleActed, body: random.nextBytes(count: 40)[...])
            let commit = NewCommit(
                id: random.nextIdentifier(), time: Int64(log.end.offset),
                payload: Envelope(events: [event]).encoded()[...])
            _ = try log.append([commit], expecting: log.end)
        }
    }

    @Test("It has the same commits, goes on from where it was, and agrees")
    func follows() throws {
        let source = try log("/Notes.strata")
        for count in [0, 3, 1, 0, 40] {
            try append(count, to: source, seed: 1)
            let standby = try StandbyCopy(at: "/Standby.strata", of: source.identity, platform: platform)
            #expect(try standby.catchUp(with: source) == UInt64(count) && standby.end == source.end)
            try standby.close()
        }
        let standby = try log("/Standby.strata")
        #expect(standby.identity == source.identity)
        let comparison = try HistoryComparison(source, standby)
        #expect(comparison.difference == nil && comparison.first == 1 && comparison.last == 44)
        for log in [source, standby] { try log.close() }
    }

    @Test("One that was written by itself is refused, with the first commit that differs", arguments: [0, 2, 5])
    func parted(more: Int) throws {
        let source = try log("/Notes.strata")
        try append(4, to: source, seed: 1)
        let first = try StandbyCopy(at: "/Standby.strata", of: source.identity, platform: platform)
        try first.catchUp(with: source)
        try first.close()
        let written = try log("/Standby.strata")
        try append(2, to: written, seed: 9)
        #expect(try HistoryComparison(source, written).difference == nil)
        try append(more, to: source, seed: 1)
        if more > 0 { #expect(try HistoryComparison(source, written).difference == 5) }
        try written.close()
        let standby = try StandbyCopy(at: "/Standby.strata", of: source.identity, platform: platform)
        let parted = #expect(throws: PartedHistories.self) { try standby.catchUp(with: source) }
        #expect(parted?.offset == 5 && standby.end.offset == 6)
        try standby.close()
        try source.close()
    }

    @Test("The directory of another store, and a copy that follows a sequencer, are refused")
    func refusals() throws {
        let (source, other) = (try log("/Notes.strata"), try log("/Other.strata"))
        try other.close()
        #expect(
            failureCode { _ = try StandbyCopy(at: "/Other.strata", of: source.identity, platform: platform) }
                == .invalidArgument)
        let copy = try ReplicatedLog.open(at: "/Copy.strata", sequencer: MemorySequencer(), platform: platform)
        let identity = copy.copy.identity
        try copy.close()
        #expect(
            failureCode { _ = try StandbyCopy(at: "/Copy.strata", of: identity, platform: platform) }
                == .invalidArgument)
        try source.close()
    }

    @Test("Histories of which one ends before the other begins cannot be compared")
    func compacted() throws {
        let (one, other) = (try log("/One.strata"), try log("/Other.strata"))
        try append(1, to: one, seed: 1)
        let random = SeededRandom(seed: 1)
        try SegmentedLog.make(
            at: "/Late.strata", after: Position(offset: 5, chain: 7), time: 1,
            platform: Platform(files: disk, random: random)
        ) { nil }
        let late = try log("/Late.strata")
        #expect(failureCode { _ = try HistoryComparison(one, late) } == .outOfRange)
        #expect(try HistoryComparison(one, other).last == 0)
        try append(7, to: one, seed: 1)
        #expect(try HistoryComparison(one, late).difference == 5)
        for log in [one, other, late] { try log.close() }
    }
}
