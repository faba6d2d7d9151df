import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

/// One way in which one kind of call fails.
struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let kind: SimulatedDisk.CallKind
    let outcome: SimulatedDisk.FaultOutcome
    /// Legal, and no error: nobody may notice.
    let isHarmless: Bool

    init(
        _ description: String, _ kind: SimulatedDisk.CallKind, _ outcome: SimulatedDisk.FaultOutcome,
        isHarmless: Bool = false
    ) {
        (testDescription, self.kind, self.outcome) = (description, kind, outcome)
        self.isHarmless = isHarmless
    }

    static let all: [Fault] = [
        .init("a write fails", .write, .errno(EIO)), .init("a write finds no space", .write, .errno(ENOSPC)),
        .init("a write writes a part, then fails", .write, .writeThenErrno(100, ENOSPC)),
        .init("a write is done, and reported as failed", .write, .doneThenErrno(EIO)),
        .init("a write is short", .write, .shortWrite(7), isHarmless: true),
        .init("a write is interrupted", .write, .interrupted, isHarmless: true),
        .init("a sync fails", .syncData, .errno(EIO)), .init("a sync fails and loses", .syncData, .syncLoses),
        .init("a sync is done, and reported as failed", .syncData, .doneThenErrno(EIO)),
        .init("a sync is interrupted", .syncData, .interrupted, isHarmless: true),
        .init("a rename fails", .rename, .errno(EIO)),
        .init("a rename is done, and reported as failed", .rename, .doneThenErrno(EIO)),
        .init("a truncation fails", .truncate, .errno(EIO)), .init("a file cannot be made", .create, .errno(ENOSPC)),
        .init("a file is made, and reported as not", .create, .doneThenErrno(EIO)),
        .init("a removal fails", .remove, .errno(EIO)),
        .init("a directory's sync fails", .syncDirectory, .errno(EIO)),
        .init("a directory's sync is done, and reported as failed", .syncDirectory, .doneThenErrno(EIO)),
        .init("a directory cannot be made", .makeDirectory, .errno(ENOSPC)),
        .init("an open fails", .open, .errno(EMFILE)),
        .init("a listing fails", .list, .errno(EIO)), .init("a look fails", .exists, .errno(EIO)),
        .init("a size fails", .size, .errno(EIO)), .init("a lock fails", .lock, .errno(ENOLCK)),
        .init("a read fails", .read, .errno(EIO)), .init("a read is short", .read, .shortRead(3), isHarmless: true),
    ]
}

/// How the log is opened that meets a fault. With space ahead a second thread makes calls too, and meets some of them.
struct FaultSetting: Sendable {
    let durability: Durability
    let spaceStepBytes: Int

    init(_ durability: Durability, spaceStepBytes: Int = 0) {
        (self.durability, self.spaceStepBytes) = (durability, spaceStepBytes)
    }
}

@Suite("The k-th call fails, for every k")
struct FaultTests {
    @Test(
        "Nothing acknowledged is lost, nothing refused is there, and all goes on", arguments: Fault.all,
        [
            FaultSetting(.commit), FaultSetting(.commit, spaceStepBytes: 16 << 10), FaultSetting(.system),
        ])
    func everyCall(fault: Fault, setting: FaultSetting) throws {
        let workload = CrashWorkload(setting.durability, spaceStepBytes: setting.spaceStepBytes)
        let clean = TinyStore()
        var run = FaultyRun(workload, clean)
        try run.finish()
        let count = clean.disk.count(of: fault.kind)
        #expect(count > 0)
        var wrong: [String] = []
        for call in 1...max(count, 1) {
            let store = TinyStore()
            store.disk.fail(fault.kind, at: call, with: fault.outcome)
            var run = FaultyRun(workload, store)
            do {
                try run.finish()
                if fault.isHarmless { try check(run.failures == 0, "somebody noticed") }
                try workload.checkSurvivor(store.left(keeping: .nothingUnsynced), run.told)
            } catch { wrong.append("call \(call) of \(count): \(error)") }
        }
        #expect(wrong == [])
    }

    @Test(
        "A disk that fails for good leaves reading, and a store that opens when it is well again",
        arguments: [
            SimulatedDisk.CallKind.write, .syncData,
        ])
    func fromSomeCallOn(kind: SimulatedDisk.CallKind) throws {
        let workload = CrashWorkload(.commit)
        var call = 0
        while true {
            call += 1
            let store = TinyStore()
            let told = Monitor(CrashWorkload.Told())
            store.disk.fail(kind, from: call, with: kind == .write ? .writeThenErrno(50, EIO) : .errno(EIO))
            do {
                try workload.run(on: store, told: told)
                break
            } catch { store.disk.heal() }
            do {
                try workload.checkSurvivor(store.left(keeping: .nothingUnsynced), told.withLock { $0 })
                try workload.checkSurvivor(store, told.withLock { $0 })
            } catch { throw Mismatch("from call \(call) on: \(error)") }
        }
        #expect(call > 15)
    }

    @Test(
        "A disk that fills up leaves a store that opens, and that goes on when there is space",
        arguments: [0, 16 << 10])
    func fullDisk(spaceStepBytes: Int) throws {
        let workload = CrashWorkload(.commit, spaceStepBytes: spaceStepBytes)
        var capacity = 100
        while true {
            capacity += 4_999
            let store = TinyStore()
            store.disk.capacityBytes = capacity
            let told = Monitor(CrashWorkload.Told())
            do {
                guard let code = thrownCode({ try workload.run(on: store, told: told) }) else { break }
                try check(code == .noSpace, "the full disk is called \(code)")
                let end = told.withLock { $0.end }
                try check(try end == 0 || store.reader().end.offset >= end, "reading what was appended")
                store.disk.capacityBytes = nil
                try workload.checkSurvivor(store.left(keeping: .nothingUnsynced), told.withLock { $0 })
                try workload.checkSurvivor(store, told.withLock { $0 })
            } catch { throw Mismatch("capacity \(capacity): \(error)") }
        }
        #expect(capacity > 100_000)
    }

    @Test("A write that cannot be undone refuses all further ones until the store is opened again")
    func refusal() throws {
        let store = TinyStore()
        let log = try store.open()
        var sequence = CommitSequence(seed: 1)
        let commits = sequence.next(3)
        _ = try log.append([commits[0]], expecting: .start)
        store.disk.fail(.write, at: 1, with: .writeThenErrno(70, EIO))
        store.disk.fail(.write, at: 2, with: .errno(EIO))
        let first = [commits[1]]
        #expect(appendOutcome { _ = try log.append(first, expecting: log.end) } == "unknown")
        for _ in 0..<2 {
            #expect(thrownCode { _ = try log.append(first, expecting: log.end) } == .refusingWrites)
            #expect(appendOutcome { _ = try log.append(first, expecting: log.end) } == "unknown")
        }
        #expect(thrownCode { try log.sync() } == .refusingWrites)
        #expect(try log.allCommits() == expectedCommits([commits[0]]))
        #expect(log.durableEnd.offset == 1)
        try log.close()
        let again = try store.open()
        #expect(again.recovery.tornTail?.lastOffset == 1)
        _ = try again.append(Array(commits[1...]), expecting: again.end)
        #expect(try again.allCommits() == expectedCommits(commits))
    }

    @Test("What is told to be durable after opening again is, even where a failed sync forgot it")
    func forgottenTail() throws {
        let store = TinyStore()
        let log = try store.open()
        var sequence = CommitSequence(seed: 1)
        let commits = sequence.next(2)
        _ = try log.append([commits[0]], expecting: .start)
        // The sync of the commit loses it, and taking it back fails too: its bytes can be read, but nobody will write
        // them.
        store.disk.fail(.syncData, at: 1, with: .syncLoses)
        store.disk.fail(.write, at: 2, with: .errno(EIO))
        let before = log.end
        #expect(appendOutcome { _ = try log.append([commits[1]], expecting: before) } == "unknown")
        try log.close()
        store.disk.heal()
        let again = try store.open()
        _ = try again.append([commits[1]], expecting: before)
        #expect(again.durableEnd.offset == 2)
        #expect(try store.left(keeping: .nothingUnsynced).open().allCommits() == expectedCommits(commits))
    }
}
