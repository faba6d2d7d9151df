import Glibc
import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("Memory for changes that no run has")
struct MemoryBudgetTests {
    private static let path = "/Budget.strata"
    private static let actor = Actor(user: "anna")

    private let disk = SimulatedDisk()

    private func open(mebibytes: Int) throws -> Store {
        var options = StoreOptions()
        options.trees.memoryBytes = mebibytes << 20
        return try Store.open(at: Self.path, options: options, platform: Platform(files: disk))
    }

    /// Saves notes until they come to so many bytes; returns the most memory that they took meanwhile.
    private func save(_ byteCount: Int, in store: Store) throws -> Int {
        let text = String(repeating: "x", count: 200_000)
        var most = 0
        for start in stride(from: 0, to: byteCount / text.utf8.count, by: 5) {
            let names = (start..<start + 5).map { "note \($0)" }
            let answer = try store.modify(NoteRequest.saving(names, [("text", .string(text))]), as: Self.actor)
            for save in answer.result.saves { _ = try save.get() }
            most = max(most, store.views.trees.memoryBytes)
        }
        return most
    }

    @Test("However slow the disk is, changes stay within the budget", arguments: [32, 128])
    func budget(mebibytes: Int) throws {
        let store = try open(mebibytes: mebibytes)
        let trees = store.views.trees
        _ = try store.modify(NoteRequest.makingZones(), as: Self.actor)
        let isOver = Lock(false)
        // A run is not written before two generations wait for it, and whoever changes something waits too.
        disk.beforeCall = { kind, path in
            guard kind == .create, path.hasSuffix(".run") else { return }
            var before = -1
            _ = eventually {
                defer { before = trees.memoryBytes }
                usleep(50_000)
                let isStill = trees.waitingGenerations >= 2 && trees.memoryBytes == before
                return isStill || isOver.withLock { $0 }
            }
        }
        // More than the budget, which would be exceeded if nobody waited.
        let most = try save(3 * mebibytes << 19, in: store)
        isOver.withLock { $0 = true }
        disk.beforeCall = nil
        #expect(most > mebibytes << 19 && most <= mebibytes << 20, "\(most)")
        #expect(trees.durablePosition != nil)
        try store.close()
    }

    @Test("While nothing can be written, saves are refused before they exceed the budget, and go on afterward")
    func refusal() throws {
        let store = try open(mebibytes: 32)
        _ = try store.modify(NoteRequest.makingZones(), as: Self.actor)
        disk.fail(.create, from: 1, with: .errno(ENOSPC), on: "views")
        let refusal = #expect(throws: Refusal.self) { try save(64 << 20, in: store) }
        #expect(refusal?.code == .serviceUnavailable && refusal?.retryAfterSeconds != nil)
        let memoryBytes = store.views.trees.memoryBytes
        #expect(memoryBytes > 24 << 20 && memoryBytes <= 32 << 20, "\(memoryBytes)")
        disk.heal()
        #expect(eventually { store.views.trees.waitingGenerations == 0 })
        #expect(try save(1 << 20, in: store) > 0)
        try store.close()
    }
}
