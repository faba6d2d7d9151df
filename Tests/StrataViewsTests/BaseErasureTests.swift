import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

@Suite("A base is made again without what some records held")
struct BaseErasureTests {
    private static let path = "/Base.strata"
    private static let horizon: UInt64 = 60

    private let log: SegmentedLog
    private let platform: Platform
    /// The state at the horizon.
    private let before: Snapshot

    init() throws {
        platform = Platform(
            files: SimulatedDisk(), time: ManualTime(microseconds: 1), random: SeededRandom(seed: 1))
        let options = LogOptions(segmentBytes: 64 << 10, spaceStepBytes: 0)
        log = try SegmentedLog.open(at: Self.path, options: options, platform: platform)
        for commit in try SampleCommit.all(100, seed: 5) {
            let new = NewCommit(
                id: Identifier(high: 1, low: commit.offset), time: commit.time, payload: commit.payload[...])
            _ = try log.append([new], expecting: log.end)
        }
        let pages = try Views.emptyTrees()
        try Replay(log: log, trees: pages).run(upTo: Self.horizon)
        before = pages.snapshot()
        var scan = try BaseScan(before, chain: log.chain(at: Self.horizon))
        try log.adopt(try log.writeBase(at: Self.horizon) { try scan.next().map { $0[...] } })
    }

    private func states(_ trees: Snapshot) throws -> [RecordKey: RecordState] {
        var states: [RecordKey: RecordState] = [:]
        for zone in 1...UInt64(HistoryNames.zoneCount) {
            try trees.forEachRecord(of: zone) { name, state in
                states[RecordKey(zone: zone, name: String(decoding: name, as: UTF8.self))] = try RecordState(
                    decoding: [UInt8](state)[...])
                return true
            }
        }
        return states
    }

    private func erasure(_ keys: [RecordKey]) throws -> BaseErasure? {
        let eraser = RecordEraser(
            keys.map { .init($0, zone: "", in: DatabaseID(.private), ownerOrdinal: 0, through: .max) })
        return try BaseErasure(of: log, by: eraser, in: Self.path, platform: platform)
    }

    @Test("Records without fields at their versions, all else as it was, and commits go on from it")
    func records() throws {
        let old = try states(before)
        let erased = old.filter { !$0.value.fields.isEmpty }.keys.sorted { $0.name < $1.name }.prefix(3)
        try #require(erased.count == 3 && old.count > 6)
        let erasure = try #require(try erasure(Array(erased)))
        var scan = try erasure.scan()
        try log.replaceBase { try scan.next().map { $0[...] } }
        let pages = try Views.emptyTrees()
        let fold = Fold(try pages.fork())
        var base = try #require(try log.readBase())
        try fold.load(base: try #require(try log.base()), into: pages) { try base.next() }
        let after = try states(try fold.publish(to: pages))
        #expect(after.count == old.count)
        for (key, state) in old {
            let found = try #require(after[key])
            #expect(found.header.version == state.header.version && found.header.created == state.header.created)
            if erased.contains(key) {
                #expect(found.fields.isEmpty && found.parent == nil && found.share == nil)
            } else {
                #expect(found == state)
            }
        }
        try Replay(log: log, trees: pages).run()
        #expect(pages.snapshot().foldedOffset(ViewTree.records) == log.end.offset)
        // Nothing is left to be done.
        #expect(try self.erasure(Array(erased)) == nil)
        try log.close()
    }

    @Test("Of records that it does not have, and of a log without a base, nothing is made")
    func nothing() throws {
        #expect(try erasure([RecordKey(zone: 1, name: "never")]) == nil)
        try log.close()
        let plain = try SegmentedLog.open(
            at: "/Plain.strata", options: LogOptions(spaceStepBytes: 0), platform: platform)
        #expect(thrownError { try plain.replaceBase { nil } }?.code == .outOfRange)
        try plain.close()
    }
}
