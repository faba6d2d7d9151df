import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// Few changes that closing leaves to the next opening, which folds them from the log; more are written.
@Suite("Closing after changes")
struct ClosingTests {
    private let anna = Actor(user: "anna")
    private let disk = SimulatedDisk()
    private let path = "/Burst.strata"

    private func open() throws -> Store {
        try Store.open(at: path, options: .embedded, platform: Platform(files: disk))
    }

    /// Makes a store with an index and a state.
    private func begin() throws -> Store {
        let store = try open()
        try store.modify(NoteRequest.makingZones(), as: anna)
        try save(0..<1, bytes: 100, in: store)
        try store.declareIndex(type: "Note", field: "title")
        store.awaitIndexes()
        try store.close()
        return try open()
    }

    private func save(_ numbers: Range<Int>, bytes: Int, in store: Store) throws {
        let data = FieldValue.data([UInt8](repeating: 7, count: bytes))
        for number in numbers {
            let fields: [(String, FieldValue)] = [("title", .string("title \(number)")), ("data", data)]
            try store.modify(NoteRequest.saving(["n\(number)"], fields), as: anna)
        }
    }

    /// The offset of the newest state on the disk of a closed store.
    private func stateOffset(of store: Store) throws -> UInt64 {
        let copy = disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        let opened = try TreeStore.open(
            in: path, Views.owner(store.engine.storeID), hashed: Views.hashed, platform: Platform(files: copy),
            isValid: { _ in true })
        return opened.state?.position.offset ?? 0
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

    @Test("The next opening has the same content", arguments: [(10, 100, false), (40, 100_000, true)])
    func changes(count: Int, bytes: Int, areWritten: Bool) throws {
        var store = try begin()
        let before = try stateOffset(of: store)
        #expect(before > 0)
        try save(0..<count, bytes: bytes, in: store)
        let (end, digests) = (store.offset, try store.snapshot().digests())
        try store.close()
        #expect(try stateOffset(of: store) == (areWritten ? end : before))
        store = try open()
        #expect(try store.offset == end && store.snapshot().digests() == digests)
        try check(store, holds: count)
        try store.close()
    }
}
