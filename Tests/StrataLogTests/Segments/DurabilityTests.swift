import Glibc
import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("What \"appended\" promises")
struct DurabilityTests {
    private let store = TinyStore()

    private func open(_ durability: Durability) throws -> SegmentedLog {
        var options = TinyStore.options
        options.durability = durability
        return try store.open(options)
    }

    @Test("By commit: appended is durable")
    func commit() throws {
        let log = try open(.commit)
        var sequence = CommitSequence(seed: 1)
        for commit in sequence.next(5) {
            _ = try log.append([commit], expecting: log.end)
            #expect(log.durableEnd == log.end)
            #expect(try store.left(keeping: .nothingUnsynced).open().end == log.end)
        }
    }

    @Test("By system: appended is readable, and durable after a sync")
    func system() throws {
        let log = try open(.system)
        var sequence = CommitSequence(seed: 1)
        let commits = sequence.next(6)
        _ = try log.append(Array(commits[..<3]), expecting: .start)
        #expect(log.durableEnd == .start)
        #expect(try store.left(keeping: .nothingUnsynced).open().end == .start)
        #expect(try store.left(keeping: .everything).open().end == log.end)
        try log.sync()
        #expect(log.durableEnd == log.end)
        _ = try log.append(Array(commits[3...]), expecting: log.end)
        #expect(log.durableEnd.offset == 3)
        #expect(try store.left(keeping: .nothingUnsynced).open().end == log.durableEnd)
        #expect(try log.allCommits() == expectedCommits(commits))
        try log.close()
        #expect(try store.left(keeping: .nothingUnsynced).open().allCommits() == expectedCommits(commits))
    }

    @Test("By system: a closed segment is durable")
    func systemSegments() throws {
        let log = try open(.system)
        var sequence = CommitSequence(seed: 1, noise: 1)
        for commit in sequence.next(25, events: 3, bytesPerEvent: 2_000) {
            _ = try log.append([commit], expecting: log.end)
        }
        #expect(store.segments.count == 3)
        #expect(log.durableEnd.offset == store.newestFirstOffset - 1)
        #expect(try store.left(keeping: .nothingUnsynced).open().end == log.durableEnd)
    }

    @Test("By interval: a thread catches up without being asked")
    func interval() throws {
        let log = try open(.interval(.milliseconds(2)))
        var sequence = CommitSequence(seed: 1)
        for commits in [sequence.next(3), sequence.next(2)] {
            _ = try log.append(commits, expecting: log.end)
            #expect(eventually { log.durableEnd == log.end })
            #expect(try store.left(keeping: .nothingUnsynced).open().end == log.end)
        }
    }

    @Test(
        "A failed sync is told by the next append and the next sync, and reading goes on",
        arguments: [
            SimulatedDisk.FaultOutcome.syncLoses, .errno(5),
        ])
    func failedSync(outcome: SimulatedDisk.FaultOutcome) throws {
        let log = try open(.system)
        var sequence = CommitSequence(seed: 1)
        let commits = sequence.next(2)
        _ = try log.append(commits, expecting: .start)
        store.disk.fail(.syncData, at: 1, with: outcome)
        #expect(thrownCode { try log.sync() } == .outcomeUnknown)
        #expect(thrownCode { try log.sync() } == .outcomeUnknown)
        #expect(appendOutcome { _ = try log.append(sequence.next(1), expecting: log.end) } == "unknown")
        #expect(log.durableEnd == .start)
        #expect(try log.allCommits() == expectedCommits(commits))
    }

    @Test(
        "A close after a failed sync does not say that all is durable",
        arguments: [
            Durability.system, .interval(.milliseconds(1)),
        ])
    func closeAfterFailedSync(durability: Durability) throws {
        let log = try open(durability)
        var sequence = CommitSequence(seed: 1)
        store.disk.fail(.syncData, at: 1, with: .syncLoses)
        _ = try log.append(sequence.next(2), expecting: .start)
        if durability == .system { #expect(throws: (any Error).self) { try log.sync() } }
        _ = eventually { store.disk.count(of: .syncData) >= 4 }
        // What was appended is lost: whoever closes the log must hear of it.
        #expect(throws: (any Error).self) { try log.close() }
        #expect(try store.left(keeping: .everything).open().end == .start)
    }
}
