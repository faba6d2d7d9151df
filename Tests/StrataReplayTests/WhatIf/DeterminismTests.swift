import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataReplay

@Suite("A log is replayed in every way")
struct DeterminismTests {
    /// A store with several checkpoints, closed.
    private func fill(_ path: String) throws {
        for round in 0..<3 {
            let fixture = try RerunFixture(at: path)
            var base = try fixture.save("milk\(round)", ["rank": .int64(1)])
            for number in 0..<5 {
                base = try fixture.save("milk\(round)", ["rank": .int64(Int64(number))], base: base)
            }
            try fixture.save("milk\(round)", ["rank": .int64(9)], as: RerunFixture.bert)
            try fixture.delete("milk0")
            try fixture.store.close()
        }
    }

    private func check(_ path: String, from first: UInt64 = 1) throws -> DeterminismReport {
        let store = try Store.open(at: path, access: .readOnly)
        defer { try? store.close() }
        var check = DeterminismCheck(of: store)
        check.first = first
        return try check.run()
    }

    @Test("A good store gives the same in all of them")
    func goodStore() throws {
        let directory = try TestDirectory()
        let path = directory.path("Notes.strata")
        try fill(path)
        let report = try check(path)
        #expect(report.isSame, "\(report.differences)")
        #expect(report.unjudgedCount == 0 && report.comparedCount == Int(report.end))
        #expect(report.checkpoints.count > 1 && report.checkpoints.last == report.end, "\(report.checkpoints)")
        let later = try check(path, from: 5)
        #expect(later.isSame && later.digests == report.digests && later.comparedCount == Int(report.end) - 4)
        let nothing = try check(path, from: report.end + 1)
        #expect(nothing.isSame && nothing.comparedCount == 0 && nothing.first > nothing.end)
        #expect(throws: StrataError.self) { try check(path, from: report.end + 2) }
    }

    @Test("A store without commits has nothing to differ in")
    func emptyStore() throws {
        let store = try Store.inMemory()
        defer { try? store.close() }
        let report = try DeterminismCheck(of: store).run()
        #expect(report.isSame && report.end == 0 && report.comparedCount == 0)
    }

    @Test("A store in memory is judged again, and has no checkpoints")
    func inMemory() throws {
        let fixture = try RerunFixture()
        try fixture.save("milk", ["rank": .int64(1)])
        let report = try DeterminismCheck(of: fixture.store).run()
        #expect(report.isSame && report.checkpoints.isEmpty && report.comparedCount == 2)
        #expect(report.digests == (try fixture.store.snapshot().digests()))
    }

    @Test("Canary: a row that was changed in the page file is found, with the commit that made it")
    func changedRow() throws {
        let directory = try TestDirectory()
        let path = directory.path("Notes.strata")
        try fill(path)
        let made = try alter(path, ViewTree.records, "milk1")
        let report = try check(path)
        #expect(!report.isSame && report.differences.first?.offset == made)
        #expect(report.differences.allSatisfy { $0.way == .checkpoint(report.end) })
    }

    @Test("Canary: a commit that the rules would not make is found")
    func changedCommit() throws {
        let fixture = try RerunFixture()
        try fixture.save("milk", ["rank": .int64(1)])
        try fixture.save("milk", ["rank": .int64(2)], policy: .allKeys)
        let log = MemoryLog()
        var cursor = try fixture.store.log.read(from: 1)
        while let commit = try cursor.next() {
            var envelope = try Envelope(decoding: commit.payload)
            if commit.offset == 3 {
                // As if its save had looked at no version.
                let place = try #require(envelope.events.firstIndex { $0.kind == .recordSaved })
                var saved = try RecordSavedEvent(decoding: envelope.events[place].body)
                saved.policy = .changedKeys
                envelope.events[place] = try saved.event()
            }
            let changed = NewCommit(id: commit.id, time: commit.time, payload: envelope.encoded()[...])
            _ = try log.append([changed], expecting: log.end)
        }
        let store = try Store(on: log)
        defer { try? store.close() }
        let report = try DeterminismCheck(of: store).run()
        #expect(report.differences.first?.offset == 3 && report.differences.first?.way == .judgedAgain)
    }

    /// Changes a row of the newest checkpoint, whose pages are all right; returns the commit that made it.
    private func alter(_ path: String, _ tree: TreeID, _ text: String) throws -> UInt64 {
        let log = try LogReader.open(at: path)
        let opened = try PageStore.open(in: path, store: log.identity.storeID) { _ in true }
        let checkpoint = try #require(opened.checkpoint)
        let fork = opened.store.fork()
        var found: (key: [UInt8], row: [UInt8])?
        try fork.scan(tree, from: nil, to: nil) { key, row in
            if String(decoding: key, as: UTF8.self).contains(text) { found = ([UInt8](key), [UInt8](row)) }
            return found == nil
        }
        let (key, row) = try #require(found)
        let changed = row.dropLast() + [row[row.count - 1] ^ 1]
        try key.withUnsafeBytes { key in try changed.withUnsafeBytes { try fork.put(tree, key, $0) } }
        try opened.store.checkpoint(
            try opened.store.publish(fork), at: checkpoint.position, opaque: checkpoint.opaque)
        return try RecordState(decoding: row[...]).header.version.offset
    }
}
