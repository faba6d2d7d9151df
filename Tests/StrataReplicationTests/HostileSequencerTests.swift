import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@Suite("Several logs on one hostile sequencer")
struct HostileSequencerTests {
    /// The attempts of one writer, and their outcomes as the log reported them.
    private struct History: Sendable {
        /// The acknowledged commits, with the position that each expected.
        var acknowledged: [(id: Identifier, expected: Position, position: Position)] = []
        var rejected: [Identifier] = []
        var unsettled: [Identifier] = []
    }

    private struct Mismatch: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private static let commitCount = 40

    @Test("No commit is lost, doubled, or appended to another state than it was decided on", arguments: seeds(12))
    func threeWriters(seed: UInt64) async throws {
        let (histories, commits) = try await Self.run(seed: seed, outcomeMilliseconds: 40)
        try Self.check(histories, commits)
    }

    @Test("Canary: a writer that takes a missing answer for a refusal is noticed")
    func credulousWriters() async throws {
        var isNoticed = false
        for seed in 1...20 as ClosedRange<UInt64> where !isNoticed {
            var (histories, commits) = try await Self.run(seed: seed, outcomeMilliseconds: 1)
            for index in histories.indices { histories[index].rejected += histories[index].unsettled }
            do { try Self.check(histories, commits) } catch is Mismatch { isNoticed = true }
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
            #expect(throws: Mismatch.self) { try Self.check(histories, wrong) }
        }
    }

    /// Lets three writers append at once; returns what they know and the commits, which all copies have.
    private static func run(
        seed: UInt64, outcomeMilliseconds: Int
    ) async throws -> (histories: [History], commits: [Commit]) {
        let sequence = MemorySequencer.Sequence()
        let sequencers = (0..<3).map { HostileSequencer(sequence, .everything, seed: seed * 10 + UInt64($0)) }
        var histories: [History] = []
        let logs = try sequencers.map { try open($0, outcomeMilliseconds) }
        try await withThrowingTaskGroup(of: History.self) { group in
            for (index, log) in logs.enumerated() {
                try log.follow {}
                group.addTask { try write(to: log, seed: seed * 10 + 5 + UInt64(index)) }
            }
            for try await history in group { histories.append(history) }
        }
        for sequencer in sequencers { sequencer.calm() }
        var copies: [[Commit]] = []
        for log in logs {
            _ = try log.confirmEnd()
            copies.append(try commits(of: log))
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
            guard commit.offset == UInt64(index) + 1 else { throw Mismatch("\(commit.offset) at place \(index)") }
            guard places.updateValue(index, forKey: commit.id) == nil else { throw Mismatch("\(commit.id) twice") }
        }
        for history in histories {
            for (id, expected, position) in history.acknowledged {
                guard let place = places[id] else { throw Mismatch("\(id) was acknowledged and is lost") }
                let before = place == 0 ? .start : commits[place - 1].position
                guard commits[place].position == position, before == expected else {
                    throw Mismatch("\(id) is at \(commits[place].position) after \(before), not at \(position)")
                }
            }
            for id in history.rejected where places[id] != nil {
                throw Mismatch("\(id) was rejected and is in the log")
            }
        }
        #expect(histories.contains { !$0.acknowledged.isEmpty } && histories.contains { !$0.rejected.isEmpty })
    }
}
