import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@Suite("Several logs on one hostile sequencer")
struct HostileSequencerTests {
    /// Attempts of one writer, and what it was told about them.
    private struct History: Sendable {
        /// The acknowledged commits, with the position that each expected.
        var acknowledged: [(id: Identifier, expected: Position, position: Position)] = []
        var rejected: [Identifier] = []
        var unsettled: [Identifier] = []
    }

    private static let commitCount = 40

    @Test("No commit is lost, doubled, or appended to another state than it was decided on", arguments: seeds(12))
    func threeWriters(seed: UInt64) async throws {
        let sequence = MemorySequencer.Sequence()
        let sequencers = (0..<3).map { HostileSequencer(sequence, .everything, seed: seed * 10 + UInt64($0)) }
        var histories: [History] = []
        let logs = try sequencers.map { try Self.open($0) }
        try await withThrowingTaskGroup(of: History.self) { group in
            for (index, log) in logs.enumerated() {
                try log.follow {}
                group.addTask { try Self.write(to: log, seed: seed * 10 + UInt64(index)) }
            }
            for try await history in group { histories.append(history) }
        }
        for sequencer in sequencers { sequencer.calm() }
        var copies: [[Commit]] = []
        for log in logs {
            _ = try log.confirmEnd()
            copies.append(try Self.commits(of: log))
            try log.close()
        }
        try #require(copies.allSatisfy { $0 == copies[0] })
        try Self.check(histories, copies[0])
    }

    private static func open(_ sequencer: any Sequencer) throws -> ReplicatedLog {
        for _ in 0..<1_000 {
            do {
                return try TestCopy.open(sequencer, SimulatedDisk(), .init(outcomeMilliseconds: 40))
            } catch let error as StrataError where [.inputOutput, .outcomeUnknown].contains(error.code) { continue }
        }
        throw StrataError(.outcomeUnknown, "The log never opened.")
    }

    private static func write(to log: ReplicatedLog, seed: UInt64) throws -> History {
        let random = SeededRandom(seed: seed)
        var history = History()
        for _ in 0..<commitCount {
            let end = log.end
            let payload = Envelope(events: [Event(.consoleActed, body: random.nextBytes(count: 30)[...])]).encoded()
            // A clock that all share, as far as this goes: the log takes no time that falls.
            let time = (log.endTime ?? 0) + Int64(random.next(below: 3))
            let commit = NewCommit(id: random.nextIdentifier(), time: time, payload: payload[...])
            do throws(AppendFailure) {
                let appended = try log.append([commit], expecting: end)
                history.acknowledged.append((commit.id, end, appended.positions[0]))
            } catch {
                switch error {
                case .conflict, .notWritten: history.rejected.append(commit.id)
                case .unknown: history.unsettled.append(commit.id)
                case .tooLarge: throw error
                }
            }
        }
        return history
    }

    private static func commits(of log: ReplicatedLog) throws -> [Commit] {
        var cursor = try log.read(from: 1)
        var commits: [Commit] = []
        while let commit = try cursor.next() { commits.append(commit) }
        return commits
    }

    private static func check(_ histories: [History], _ commits: [Commit]) throws {
        var places: [Identifier: Int] = [:]
        for (index, commit) in commits.enumerated() {
            try #require(commit.offset == UInt64(index) + 1)
            try #require(places.updateValue(index, forKey: commit.id) == nil, "\(commit.id) twice")
        }
        for history in histories {
            for (id, expected, position) in history.acknowledged {
                let place = try #require(places[id], "\(id) was acknowledged and is lost")
                try #require(commits[place].position == position)
                try #require((place == 0 ? .start : commits[place - 1].position) == expected)
            }
            for id in history.rejected { try #require(places[id] == nil, "\(id) was rejected and is in the log") }
        }
        #expect(histories.contains { !$0.acknowledged.isEmpty } && histories.contains { !$0.rejected.isEmpty })
    }
}
