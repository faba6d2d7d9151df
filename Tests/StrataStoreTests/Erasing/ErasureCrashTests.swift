import Glibc
import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("An erasure that is interrupted is done when the store is opened", .timeLimit(.minutes(5)))
struct ErasureCrashTests {
    private static let changes: Set<SimulatedDisk.CallKind> = [
        .create, .write, .rename, .remove, .syncData, .syncDirectory,
    ]

    @Test("Power lost before every changing call: the record is whole, or it is nowhere")
    func powerLoss() throws {
        let made = try ErasureFixture()
        try made.fill()
        let survivors = Lock<[(String, SimulatedDisk)]>([])
        made.disk.beforeCall = { [weak disk = made.disk] kind, path in
            guard let disk, Self.changes.contains(kind) else { return }
            let number = survivors.withLock { $0.count }
            // The ends of what may be, and something between.
            for (index, way) in SimulatedDisk.PowerLoss.allCases.enumerated() where (number + index) % 2 == 0 {
                let survivor = disk.afterPowerLoss(seed: UInt64(number + index), keeping: way)
                survivors.withLock { $0.append(("\(kind) of \(path), \(way)", survivor)) }
            }
        }
        try made.erase("secret")
        made.disk.beforeCall = nil
        try made.store.close()
        let all = survivors.withLock { $0 }
        #expect(all.count > 30)
        var erased = 0
        for (place, disk) in all {
            do { erased += try Self.isErased(disk, made) ? 1 : 0 } catch {
                Issue.record("before \(place): \(error)")
            }
        }
        // Both ends were seen.
        #expect(erased > all.count / 2 && erased < all.count)
    }

    private static func isErased(_ disk: SimulatedDisk, _ made: ErasureFixture) throws -> Bool {
        let store = try ErasureFixture.open(disk, seed: 77)
        defer { try? store.close() }
        let isThere = (try? made.text("secret", in: store)) != nil
        let files = try ErasureFixture.files(with: made.secret, on: disk)
        try #require(isThere == !files.isEmpty, "\(files)")
        try #require(!disk.paths.contains { $0.hasSuffix("/ERASING") })
        try #require(try made.text("other", in: store) == "2 \(made.other)")
        return !isThere
    }

    @Test("A disk that fails: the erasure says so, the store goes on or opens again, and then it is done")
    func faults() throws {
        for kind in [SimulatedDisk.CallKind.create, .write, .rename, .syncData] {
            for call in [2, 4, 6] {
                let made = try ErasureFixture()
                try made.fill()
                made.disk.fail(kind, from: call, with: .errno(28), on: ErasureFixture.path)
                var failed = false
                do { try made.erase("secret") } catch { failed = true }
                made.disk.heal()
                try? made.store.close()
                let store = try ErasureFixture.open(made.disk, seed: 5)
                let isThere = (try? made.text("secret", in: store)) != nil
                #expect(failed || !isThere, "\(kind) \(call)")
                if isThere { try store.erase([NoteRequest.id("secret")], in: ErasureFixture.owner, reason: "") }
                #expect(try ErasureFixture.files(with: made.secret, on: made.disk) == [], "\(kind) \(call)")
                #expect(try made.text("other", in: store) == "2 \(made.other)")
                try store.close()
            }
        }
    }

    @Test("A base that an unfinished erasure has yet to rewrite does not give the erased values")
    func unfinishedBase() throws {
        let made = try ErasureFixture()
        try made.fill()
        let id = NoteRequest.id("secret")
        let newest = try made.store.snapshot().record(id, in: NoteRequest.database, as: ErasureFixture.anna)
        func past() throws -> Record? {
            try made.store.snapshot().record(
                id, at: newest.version, in: NoteRequest.database, as: ErasureFixture.anna)
        }
        try made.save("other", "one more")
        _ = try made.store.compact(before: made.store.offset)
        try made.save("secret", "3 \(made.secret)")
        #expect(try past()?["text"] == .string("2 \(made.secret)"))
        made.disk.fail(.create, from: 1, with: .errno(ENOSPC), on: "base.new")
        #expect(throws: StrataError.self) { try made.erase("secret") }
        #expect(try past() == nil)
        made.disk.heal()
        try? made.store.close()
        try ErasureFixture.open(made.disk).close()
        #expect(try ErasureFixture.files(with: made.secret, on: made.disk) == [])
    }

    @Test("On a full disk the error names the store, and says whether anything was erased and what to do")
    func fullDisk() throws {
        for (file, problem) in [
            ("ERASING", "nothing was erased; free some space and erase again"),
            ("sealing", "an erasure is unfinished; free some space and reopen the store"),
        ] {
            func check(_ error: StrataError?) {
                #expect(error?.code == .noSpace && error?.context.path == ErasureFixture.path)
                let text = error.map { "\($0)" } ?? ""
                #expect(text.contains(problem) && !text.contains(file), "\(text)")
            }
            let made = try ErasureFixture()
            try made.fill()
            made.disk.fail(.create, from: 1, with: .errno(ENOSPC), on: file)
            check(#expect(throws: StrataError.self) { try made.erase("secret") })
            try? made.store.close()
            // The store opens on a full disk, too.
            let again = try ErasureFixture.open(made.disk)
            if file == "sealing" { check(again.opening?.reasons.last) }
            try again.close()
            made.disk.heal()
            let store = try ErasureFixture.open(made.disk)
            let isThere = (try? made.text("secret", in: store)) != nil
            #expect(isThere == (file == "ERASING"))
            try store.close()
        }
    }
}
