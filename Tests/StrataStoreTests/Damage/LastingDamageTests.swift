import Glibc
import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("Damage that folding again does not heal")
struct LastingDamageTests {
    @Test("A disk that never gives back what was written is an error in the end, and no request waits for ever")
    func everyPage() throws {
        let worn = try DamagedStore(.read)
        let count = try worn.commitCount
        var failures = 0
        for round in 0..<12 {
            try worn.damage()
            do { _ = try worn.save([round * 30], "new") } catch let error as StrataError {
                #expect(error.code == .badChecksum)
                #expect(error.description.contains("too often"))
                failures += 1
            }
            // So that pages are read from the file again; it cannot be written once they are not folded again.
            _ = try? worn.store.views.checkpoint(worn.store.views.pages.snapshot())
        }
        #expect(worn.store.rebuilds.count == ViewsRebuilds.maximumCount)
        #expect(failures > 0)
        #expect(try worn.commitCount == count + 12 - failures)
        #expect(thrownCode { _ = try worn.word(300, in: worn.store.snapshot()) } == .badChecksum)
        try worn.checkEndAndClose()
    }

    @Test("No room for new views is an error that says so; nothing is written any more until the store is opened again")
    func noRoom() throws {
        let worn = try DamagedStore(.map)
        let count = try worn.commitCount
        try worn.damage()
        worn.disk.fail(.create, from: 1, with: .errno(ENOSPC), on: "views")
        let error = #expect(throws: StrataError.self) { try worn.save([1], "new") }
        #expect(error?.code == .noSpace)
        #expect(thrownCode { _ = try worn.word(300, in: worn.store.snapshot()) } == .noSpace)
        let refusal = #expect(throws: Refusal.self) { try worn.save([1], "new") }
        #expect(refusal?.code == .serviceUnavailable)
        #expect(try worn.commitCount == count)
        worn.disk.heal()
        try worn.checkEndAndClose()
    }

    @Test("A log that is damaged too is an error of the log, and stays as it is")
    func logToo() throws {
        let worn = try DamagedStore(.map, segmentBytes: 64 << 10)
        let segment = try #require(worn.disk.paths.first { $0.contains("/log/") })
        let end = try #require(try worn.disk.content(of: segment).lastIndex { $0 != 0 })
        try worn.disk.flipBit(segment, byte: end / 4, bit: 1)
        // As long as the views are whole nobody cares.
        _ = try worn.save([0], "new")
        #expect(worn.store.rebuilds.count == 0)
        // A past version is read from the log.
        let old = Version(offset: 2, eventIndex: 60)
        let code = thrownCode {
            _ = try worn.store.snapshot().record(
                NoteRequest.id(DamagedStore.name(0)), at: old, in: NoteRequest.database, as: worn.anna)
        }
        #expect(code != nil)
        #expect(worn.store.rebuilds.count == 0, "damage of the log is none of the views")
        // Room may be set aside for the segment at any time: what is there grows, and stays as it is.
        let broken = try worn.disk.content(of: segment)
        try worn.damage()
        let error = #expect(throws: StrataError.self) {
            for number in stride(from: 0, to: DamagedStore.noteCount, by: 10) {
                _ = try worn.word(number, in: worn.store.snapshot())
            }
        }
        #expect(error?.context.segment != nil)
        #expect(error?.description.contains("could not be rebuilt") == true)
        #expect(worn.store.rebuilds.count == 1)
        #expect(try worn.disk.content(of: segment).starts(with: broken))
        try? worn.store.close()
    }
}

extension DamagedStore {
    /// As ``checkAndClose()`` where the state cannot be read any more.
    func checkEndAndClose() throws {
        let truth = try Views.inMemory(store.log).pages.snapshot().digests()
        try? store.close()
        let again = try Self.open(disk, options)
        #expect(try again.snapshot().digests() == truth)
        #expect(try words([0, 300], in: again.snapshot()).allSatisfy { !$0.isEmpty })
        try again.close()
    }
}
