import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@Suite("Several logs on one hostile sequencer")
struct HostileSequencerTests {
    private static let commitCount = 40

    @Test("No commit is lost, doubled, or appended to another state than it was decided on", arguments: seeds(12))
    func threeWriters(seed: UInt64) async throws {
        let (histories, commits) = try await Self.run(seed: seed, outcomeMilliseconds: 40)
        try Self.check(histories, commits)
    }

    @Test("Nor if each commit goes in parts", arguments: seeds(12))
    func threeWritersOfParts(seed: UInt64) async throws {
        let (histories, commits) = try await Self.run(seed: seed, outcomeMilliseconds: 80, maximumEntryBytes: 160)
        try Self.check(histories, commits)
    }

    @Test("Canary: a writer that takes a missing answer for a refusal is noticed")
    func credulousWriters() async throws {
        var isNoticed = false
        for seed in 1...20 as ClosedRange<UInt64> where !isNoticed {
            var (histories, commits) = try await Self.run(seed: seed, outcomeMilliseconds: 1)
            for index in histories.indices { histories[index].rejected += histories[index].unsettled }
            do { try Self.check(histories, commits) } catch is AppendHistory.Mismatch { isNoticed = true }
        }
        #expect(isNoticed)
    }

    @Test("Canary: a lost, a doubled and a moved commit are noticed")
    func wrongCommits() async throws {
        let (histories, commits) = try await Self.run(seed: 1, outcomeMilliseconds: 40)
        let known = try #require(histories.first { !$0.acknowledged.isEmpty }?.acknowledged.first)
        let place = try #require(commits.firstIndex { $0.id == known.id })
        var (lost, doubled, moved) = (commits, commits, commits)
        lost[place].id = Identifier(high: 0, low: 1)
        doubled[place == 0 ? 1 : 0].id = known.id
        moved.swapAt(place, place == 0 ? 1 : 0)
        for wrong in [lost, doubled, moved] {
            #expect(throws: AppendHistory.Mismatch.self) { try Self.check(histories, wrong) }
        }
    }

    /// Lets three writers append at once; returns what they know and the commits, which all copies have.
    private static func run(
        seed: UInt64, outcomeMilliseconds: Int, maximumEntryBytes: Int = 80 << 20
    ) async throws -> (histories: [AppendHistory], commits: [Commit]) {
        let sequence = MemorySequencer.Sequence()
        let sequencers = (0..<3).map { index in
            HostileSequencer(
                sequence, .everything, seed: seed * 10 + UInt64(index), maximumEntryBytes: maximumEntryBytes)
        }
        var histories: [AppendHistory] = []
        let logs = try sequencers.map { try open($0, outcomeMilliseconds) }
        try await withThrowingTaskGroup(of: AppendHistory.self) { group in
            for (index, log) in logs.enumerated() {
                try log.follow {}
                group.addTask { try AppendHistory.write(commitCount, to: log, seed: seed * 10 + 5 + UInt64(index)) }
            }
            for try await history in group { histories.append(history) }
        }
        for sequencer in sequencers { sequencer.calm() }
        var copies: [[Commit]] = []
        for log in logs {
            _ = try log.confirmEnd()
            copies.append(try AppendHistory.commits(of: log))
            try log.close()
        }
        try #require(copies.allSatisfy { $0 == copies[0] })
        return (histories, copies[0])
    }

    private static func open(_ sequencer: any Sequencer, _ outcomeMilliseconds: Int) throws -> ReplicatedLog {
        for _ in 0..<1_000 {
            do {
                return try TestCopy.open(
                    sequencer, SimulatedDisk(), .init(outcomeMilliseconds: outcomeMilliseconds))
            } catch let error as StrataError where [.inputOutput, .outcomeUnknown, .unreachable].contains(error.code) {
                continue
            }
        }
        throw StrataError(.outcomeUnknown, "The log never opened.")
    }

    private static func check(_ histories: [AppendHistory], _ commits: [Commit]) throws {
        try AppendHistory.check(histories, commits)
        #expect(histories.contains { !$0.acknowledged.isEmpty } && histories.contains { !$0.rejected.isEmpty })
    }
}
