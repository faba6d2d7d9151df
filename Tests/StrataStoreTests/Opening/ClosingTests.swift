import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// Changes that closing leaves to the next opening, which folds them from the log.
@Suite("Closing after a burst")
struct ClosingTests {
    private let anna = Actor(user: "anna")
    private let disk = SimulatedDisk()
    private let path = "/Burst.strata"
    /// Each record takes 25 pages, so these are more than closing writes.
    private static let burstCount = 400

    private func open(events: Int) throws -> Store {
        var options = StoreOptions.embedded
        options.checkpoints = Checkpointer.Policy(logBytes: .max >> 2, events: events)
        options.pages.maximumDirtyPages = 1 << 20
        return try Store.open(at: path, options: options, platform: Platform(files: disk))
    }

    /// Makes a store with an index and a checkpoint.
    private func begin(events: Int) throws -> Store {
        let store = try open(events: events)
        try store.modify(NoteRequest.makingZones(), as: anna)
        try save(0..<1, in: store)
        try store.declareIndex(type: "Note", field: "title")
        store.awaitIndexes()
        try store.close()
        return try open(events: events)
    }

    private func save(_ numbers: Range<Int>, in store: Store) throws {
        let data = FieldValue.data([UInt8](repeating: 7, count: 100_000))
        for number in numbers {
            let fields: [(String, FieldValue)] = [("title", .string("title \(number)")), ("data", data)]
            try store.modify(NoteRequest.saving(["n\(number)"], fields), as: anna)
        }
    }

    /// The offset of the newest checkpoint on the disk of a closed store.
    private func checkpoint(of store: Store) throws -> UInt64 {
        let copy = disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        let opened = try PageStore.open(
            in: path, store: store.engine.storeID, platform: Platform(files: copy), isValid: { _ in true })
        return opened.checkpoint?.position.offset ?? 0
    }

    private func check(_ store: Store, holds count: Int) throws {
        store.awaitIndexes()
        let snapshot = store.snapshot()
        for number in [0, 1, count / 2, count - 1] {
            let record = try snapshot.record(NoteRequest.id("n\(number)"), in: NoteRequest.database, as: anna)
            #expect(try record["title"] == .string("title \(number)"))
        }
        try IndexAudit(store).check()
    }

    @Test("A burst is left to the next opening, which has the same content, and writes it before it leaves more")
    func burst() throws {
        var store = try begin(events: 2 * Self.burstCount)
        let before = store.offset
        try save(0..<Self.burstCount, in: store)
        let (end, digests) = (store.offset, try store.snapshot().digests())
        try store.close()
        #expect(try checkpoint(of: store) == before)

        store = try open(events: 2 * Self.burstCount)
        #expect(try store.offset == end && store.snapshot().digests() == digests)
        try check(store, holds: Self.burstCount)
        try save(Self.burstCount..<2 * Self.burstCount, in: store)
        try store.close()
        #expect(try checkpoint(of: store) >= end)

        store = try open(events: 2 * Self.burstCount)
        try check(store, holds: 2 * Self.burstCount)
        try store.close()
    }

    @Test("A few changes are written")
    func fewChanges() throws {
        let store = try begin(events: .max >> 2)
        try save(0..<4, in: store)
        let end = store.offset
        try store.close()
        #expect(try checkpoint(of: store) == end)
    }

    @Test("No more is left than makes a regular checkpoint due", arguments: [50, 150])
    func limit(events: Int) throws {
        var store = try begin(events: events)
        try save(0..<Self.burstCount, in: store)
        let end = store.offset
        try store.close()
        let left = try end - checkpoint(of: store)
        #expect(left <= UInt64(events))
        store = try open(events: events)
        #expect(store.offset == end)
        try check(store, holds: Self.burstCount)
        try store.close()
    }

    @Test("An index that was built since the newest checkpoint is written, however much comes with it")
    func builtIndex() throws {
        var store = try begin(events: .max >> 2)
        try save(0..<Self.burstCount, in: store)
        try store.declareIndex(type: "Note", field: "___modTime")
        store.awaitIndexes()
        let end = store.offset
        try store.close()
        #expect(try checkpoint(of: store) == end)
        store = try open(events: .max >> 2)
        #expect(try store.indexes.count == 2 && store.indexes.allSatisfy(\.isReady))
        try check(store, holds: Self.burstCount)
        try store.close()
    }
}
