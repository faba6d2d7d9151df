import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

@Suite("Older checkpoints that are kept")
struct KeptCheckpointTests {
    @Test("Each of them can be opened and is what it was, after reopening too", arguments: seeds(2))
    func past(seed: UInt64) throws {
        let run = try DurableRun(seed: seed)
        try run.step(changes: 200)
        for round in 0..<60 {
            try run.step(changes: 5)
            try run.checkpoint()
            if round % 10 == 7 { _ = try run.reopen() }
            if round % 6 == 0 { try check(run) }
        }
        #expect(run.store.keptCheckpoints.count > 5)
    }

    private func check(_ run: DurableRun) throws {
        let kept = run.store.keptCheckpoints
        #expect(kept.last?.position == run.position)
        var snapshots: [Snapshot] = []
        for checkpoint in kept {
            let snapshot = try #require(try run.store.snapshot(of: checkpoint))
            let model = try #require(run.states[checkpoint.position.offset])
            #expect(try snapshot.entries(DurableRun.tree) == model.sortedKeys.map { [$0, model[$0] ?? []] })
            snapshots.append(snapshot)
        }
        #expect(try TreeChecker.faults(of: run.store, holding: [run.store.snapshot()]) == [])
    }

    @Test("Gaps grow with age")
    func gaps() {
        var kept: [KeptRecord] = []
        let place = RecordPlace(run: PageRun(first: 2, count: 1), byteCount: 1, checksum: 0)
        for offset in 1...20_000 as ClosedRange<UInt64> {
            kept.append(
                KeptRecord(
                    epoch: offset, position: Position(offset: offset, chain: 0), record: place, pageCount: 9, time: 0))
            kept = KeptPolicy.chosen(from: kept, at: offset + 1, retiredPages: 0, livePages: 100, atMost: 24)
            #expect(kept.last?.position.offset == offset && kept.count <= ViewFormat.maximumKept)
        }
        let offsets = kept.map(\.position.offset)
        #expect(offsets.count > 15)
        for (older, newer) in zip(offsets, offsets.dropFirst()) {
            #expect(newer - older <= (20_001 - newer) / 2 + 2, "\(older) to \(newer)")
        }
    }

    @Test("None is kept as long as what the two newest hold is too much")
    func crowded() {
        let place = RecordPlace(run: PageRun(first: 2, count: 1), byteCount: 1, checksum: 0)
        var kept: [KeptRecord] = []
        for offset in 1...40 as ClosedRange<UInt64> {
            kept.append(
                KeptRecord(
                    epoch: offset, position: Position(offset: offset, chain: 0), record: place, pageCount: 9, time: 0))
            let retired = offset < 30 ? 25_000 : 25_001
            kept = KeptPolicy.chosen(
                from: kept, at: offset + 1, retiredPages: retired, livePages: 100_000, atMost: 24)
            #expect(kept.count > 2 || offset < 10 || offset >= 30)
        }
        #expect(kept.isEmpty)
    }

    @Test("They go when they take more than a quarter of the space of what lives")
    func space() throws {
        let run = try DurableRun(seed: 2)
        try run.step(changes: 15_000)
        try run.checkpoint()
        for _ in 0..<14 {
            // Hardly a page stays as it was.
            try run.step(changes: 3_000)
            try run.checkpoint()
        }
        let info = run.store.info
        let live = info.pageCount - info.freePages - info.waitingPages
        #expect(info.pageCount < max(live / 4, KeptPolicy.smallPages) + 4 * live, "\(info)")
        #expect(run.store.keptCheckpoints.count < 14)
    }
}
