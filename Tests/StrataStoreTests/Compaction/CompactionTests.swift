import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("History that is let go of", .timeLimit(.minutes(2)))
struct CompactionTests {
    @Test("Segments go, the state stays, also after opening again without views")
    func stateStays() throws {
        var notes = try CompactedNotes()
        try notes.fill(30)
        let (digests, before) = (try notes.digests, notes.segments.count)
        let end = notes.store.offset
        let middle = end / 2
        #expect(before > 6)
        let plan = try notes.store.compactionPlan(before: middle)
        let done = try notes.store.compact(before: middle)
        #expect(done.horizon == middle - 1 && done.segmentCount == before - notes.segments.count)
        #expect(done.segmentCount > 2 && done.freedBytes > done.baseBytes && done.baseBytes > 0)
        #expect(plan.horizon == done.horizon && plan.segmentCount == done.segmentCount)
        // Segments are sealed meanwhile, and smaller then.
        #expect(plan.freedBytes > 0)
        #expect(notes.bases.count == 1)
        for isWithoutViews in [false, true] {
            try notes.reopen(removingViews: isWithoutViews)
            try #expect(notes.digests == digests)
            #expect(notes.store.opening?.views == (isWithoutViews ? .missing : .whole))
            #expect(notes.store.offset == end)
        }
        // Another base takes the place of the first, also when it is made of that.
        try notes.fill(5)
        let later = try notes.digests
        try notes.store.compact(before: notes.store.offset - 3)
        #expect(notes.bases.count == 1)
        try notes.reopen(removingViews: true)
        try #expect(notes.digests == later)
        let whole = try Views.inMemory(notes.store.log).trees.snapshot()
        #expect(try whole.digests() == later)
        try notes.store.close()
    }

    @Test("Of the segment that grows only the floor moves, and up to the end everything can go")
    func activeSegment() throws {
        var notes = try CompactedNotes()
        try notes.fill(2, bytes: 10)
        #expect(notes.segments.count == 1)
        let end = notes.store.offset
        let done = try notes.store.compact(before: end)
        #expect(done.segmentCount == 0 && done.freedBytes == 0 && notes.segments.count == 1)
        let digests = try notes.digests
        try notes.store.compact(before: end + 1)
        #expect(notes.store.log.floor.offset == end)
        try notes.reopen(removingViews: true)
        try #expect(notes.digests == digests)
        // A store all of whose commits are gone goes on.
        try notes.save(["new"])
        try #expect(notes.record("new")["title"] == .string("x"))
        try #expect(notes.page(since: nil).changed.count == 10)
        try notes.reopen(removingViews: true)
        try #expect(notes.record("new")["title"] == .string("x"))
        try notes.store.close()
    }

    @Test("An offset that cannot be is an error and changes nothing")
    func errors() throws {
        let notes = try CompactedNotes()
        try notes.fill(3, bytes: 10)
        let end = notes.store.offset
        func code(_ offset: UInt64) -> StrataError.Code? {
            let plan = thrownCode { _ = try notes.store.compactionPlan(before: offset) }
            let done = thrownCode { try notes.store.compact(before: offset) }
            #expect(plan == done || done == nil)
            return done
        }
        for offset in [0, 1, end + 2, .max] { #expect(code(offset) == .invalidArgument, "\(offset)") }
        #expect(notes.bases.isEmpty && notes.store.log.floor.offset == 0)
        // A long-lived operation that has not ended.
        let directory = KeptOperation.directory(inStore: CompactedNotes.path)
        let kept = KeptOperation(user: "anna", device: "phone", offset: 3, content: [1, 0])
        #expect(KeptOperation(decoding: kept.encoded()) == kept)
        try notes.disk.makeDirectory(directory)
        try notes.disk.replace(directory + "/ABC-1", in: directory, with: kept.encoded())
        try notes.disk.replace(directory + "/DAMAGED", in: directory, with: Array(kept.encoded().dropLast()))
        #expect(code(5) == .invalidArgument)
        #expect(code(4) == nil)
        #expect(code(4) == .invalidArgument, "it is behind the floor now")
        try notes.disk.remove(directory + "/ABC-1")
        #expect(code(5) == nil)
        try notes.store.close()
        #expect(thrownCode { try notes.store.compact(before: 6) } == .closed)
        let memory = try Store.inMemory()
        #expect(thrownCode { try memory.compact(before: 1) } == .invalidArgument)
        #expect(thrownCode { _ = try memory.compactionPlan(before: 1) } == .invalidArgument)
        try memory.close()
    }

    @Test("What would go and stay is told of each zone")
    func plan() throws {
        let notes = try CompactedNotes()
        let other = ZoneID("Other")
        try notes.fill(10, bytes: 10)
        _ = try notes.store.modify(NoteRequest.makingZones([other]), as: CompactedNotes.anna)
        _ = try notes.store.modify(
            NoteRequest.saving(["a", "b"], in: other), as: CompactedNotes.anna)
        let end = notes.store.offset
        let plan = try notes.store.compactionPlan(before: end + 1)
        let zone = try #require(plan.zones.first { $0.zone == NoteRequest.zone })
        #expect(zone.database == DatabaseID(.private, owner: "anna"))
        #expect(zone.recordCount == 9 && zone.changeCount == 10 * 10 + 10 + 1 && zone.byteCount > 9 * 10)
        let second = try #require(plan.zones.first { $0.zone == other })
        #expect(second.recordCount == 2 && second.changeCount == 3)
        // In front of it there was none.
        #expect(try !notes.store.compactionPlan(before: end - 1).zones.contains { $0.zone == other })
        #expect(notes.bases.isEmpty)
        try notes.store.close()
    }

    @Test("Past states: what the base has and what is behind it is shown, what is gone says so")
    func history() throws {
        var notes = try CompactedNotes()
        _ = try notes.store.modify(NoteRequest.makingZones(), as: CompactedNotes.anna)
        var versions: [Version] = []
        for number in 0..<40 {
            let answer = try notes.save(["a"], "\(number)", number == 3 ? [("kept", .int64(3))] : [])
            versions.append(try #require(answer.result.saves.first).get())
            try notes.save(["b-\(number)"])
        }
        let never = Version(offset: versions[5].offset, eventIndex: 900)
        let horizon = versions[21].offset + 1
        try notes.store.compact(before: horizon + 1)
        for isReopened in [false, true] {
            if isReopened { try notes.reopen(removingViews: true) }
            for (number, version) in versions.enumerated() {
                if number < 21 {
                    #expect(thrownCode { _ = try notes.record("a", at: version) } == .outOfRange, "\(number)")
                } else {
                    let record = try notes.record("a", at: version)
                    try #expect(record?["title"] == .string("\(number)"), "\(number)")
                    try #expect(record?["kept"] == .int64(3) && record?.version == version)
                }
            }
            #expect(thrownCode { _ = try notes.record("a", at: never) } == .outOfRange)
            try #expect(notes.record("a", at: Version(offset: versions[30].offset, eventIndex: 900)) == nil)
            try #expect(notes.record("a", at: Version(offset: 0, eventIndex: 1)) == nil)
        }
        // A conflict's ancestor is there in the same way.
        try #expect(notes.record("b-39")["title"] == .string("x"))
        try notes.store.close()
    }

    @Test("A request that comes again is known again, but not what it was answered")
    func repeatedRequest() throws {
        let notes = try CompactedNotes()
        var client = Client(of: notes.store)
        client.policy = .allKeys
        client.token = [1, 2, 3]
        try client.save("a", ["n": .int64(1)])
        let first = client.request([Client.Save("a", ["n": .int64(1)])])
        let known = client.ask(first)
        #expect(try known.get().offset == notes.store.offset)
        let end = notes.store.offset
        try notes.store.compact(before: end + 1)
        guard case .failure(let refusal) = client.ask(first) else {
            Issue.record("it was answered")
            return
        }
        #expect(refusal.code == .serverRejectedRequest && notes.store.offset == end)
    }

    @Test("Files of assets go that only commits up to the horizon name, and no others")
    func assets() throws {
        let disk = SimulatedDisk()
        let fixture = try AssetFixture(disk)
        try fixture.makeZone()
        try fixture.save("gone", AssetFixture.bytes(1))
        try fixture.save("kept", AssetFixture.bytes(2))
        try fixture.save("later", AssetFixture.bytes(3))
        _ = try fixture.store.modify(NoteRequest.deleting(["gone"]), as: AssetFixture.anna)
        let horizon = fixture.store.offset
        _ = try fixture.store.modify(NoteRequest.deleting(["later"]), as: AssetFixture.anna)
        try fixture.save("new", AssetFixture.bytes(4))
        #expect(try AssetFixture.kept(on: disk).count == 4)
        let done = try fixture.store.compact(before: horizon + 1)
        #expect(done.assetCount == 1)
        #expect(try AssetFixture.kept(on: disk).count == 3)
        _ = try AssetFixture.requireWhole(fixture.store, ["kept", "new"])
        let second = try fixture.store.compact(before: fixture.store.offset + 1)
        #expect(second.assetCount == 1)
        #expect(try AssetFixture.kept(on: disk).count == 2)
        _ = try AssetFixture.requireWhole(fixture.store, ["kept", "new"])
        try fixture.store.close()
    }

    @Test("Rows of assets that an interrupted compaction left are taken out when the store is opened")
    func interruptedPruning() throws {
        let disk = SimulatedDisk()
        let fixture = try AssetFixture(disk)
        try fixture.makeZone()
        try fixture.save("gone", AssetFixture.bytes(1))
        try fixture.save("kept", AssetFixture.bytes(2))
        _ = try fixture.store.modify(NoteRequest.deleting(["gone"]), as: AssetFixture.anna)
        let horizon = fixture.store.offset
        try fixture.save("new", AssetFixture.bytes(4))
        try fixture.store.close()
        // As if it ended behind the last step that the log knows of.
        let log = try SegmentedLog.open(at: AssetFixture.path, platform: Platform(files: disk))
        let state = try Views.state(of: log, at: horizon, in: nil)
        var scan = try BaseScan(state, chain: try log.chain(at: horizon))
        try log.adopt(try log.writeBase(at: horizon) { try scan.next()?[...] })
        try log.close()
        #expect(try AssetFixture.kept(on: disk).count == 3)
        let again = try AssetFixture(disk)
        CompactedNotes.awaitPruning(again.store)
        try again.store.collectAssets()
        #expect(try AssetFixture.kept(on: disk).count == 2)
        _ = try AssetFixture.requireWhole(again.store, ["kept", "new"])
        try again.store.close()
        let last = try AssetFixture(disk)
        #expect(try !AssetPruning.isDue(last.store.snapshot().trees, horizon: horizon))
        try last.store.close()
    }
}
