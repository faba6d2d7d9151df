import Glibc
import ModelComparison
import StrataLog
import StrataModel
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("A process is killed while its threads save records")
struct StoreKillTests {
    private static let rounds: Int =
        getenv("STRATA_KILL_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 25

    @Test("All that it acknowledged is there, nothing is half there, and the views are those of the log")
    func rounds() throws {
        let directory = try TestDirectory()
        let harness = StoreKillHarness(directory.path("Killed.strata"))
        for round in 0..<Self.rounds {
            do { try harness.runRound(isEarly: false) } catch {
                throw Divergence(description: "round \(round): \(error)")
            }
        }
        #expect(harness.acknowledged > Self.rounds)
        #expect(LogVerifier.verify(at: harness.path).damage == nil)
        // Some were opened from a state that the killed process had written.
        #expect(harness.openedFromState > 0)
    }
}

@Suite("Canary: killing notices a store that acknowledges too early")
struct StoreKillCanaryTests {
    @Test("It is noticed within a few rounds")
    func early() throws {
        let directory = try TestDirectory()
        let harness = StoreKillHarness(directory.path("Killed.strata"))
        #expect(throws: Divergence.self) {
            for _ in 0..<30 { try harness.runRound(isEarly: true) }
        }
    }
}

/// Starts the child, kills it, and compares what it said with what the store has.
final class StoreKillHarness {
    let path: String
    private(set) var acknowledged = 0
    private(set) var openedFromState = 0
    private var generator = SeededGenerator(seed: 1)
    private var nextNumber: UInt64 = 1

    init(_ path: String) { self.path = path }

    func runRound(isEarly: Bool) throws {
        let arguments = [path, "\(nextNumber)"] + (isEarly ? ["early"] : [])
        let child = try ChildProcess(ChildProcess.product("store-child"), arguments)
        guard child.waitForLine() else { throw Divergence(description: "the child ended before its first request") }
        usleep(UInt32(5_000 + generator.next(below: 115_000)))
        // A child that ended by itself had an error, which it printed.
        guard child.kill() & 0x7F == SIGKILL else { throw Divergence(description: "the child ended by itself") }
        let lines = child.lines().map { $0.split(separator: " ").compactMap { UInt64($0) } }
        guard lines.allSatisfy({ $0.count == 2 }) else { throw Divergence(description: "the child said \(lines)") }
        let store = try Store.open(at: path)
        defer { try? store.close() }
        if store.opening?.views == .whole { openedFromState += 1 }
        let said = Dictionary(lines.map { ($0[0], $0[1]) }) { $1 }
        let last = (said.keys.max() ?? nextNumber) + 8
        for user in 0..<4 as Range<UInt64> {
            let found = try check(nextNumber...last, of: user, in: store.snapshot())
            for number in said.keys where said[number] == user && !found.contains(number) {
                throw Divergence(description: "request \(number) was acknowledged and is not there")
            }
        }
        acknowledged += lines.count
        nextNumber = last + 1_000
        try checkViews(store)
    }

    /// The requests of a user that are there, as a whole.
    private func check(
        _ numbers: ClosedRange<UInt64>, of user: UInt64, in snapshot: StoreSnapshot
    ) throws -> Set<UInt64> {
        let actor = Actor(user: "user-\(user)")
        var found: Set<UInt64> = []
        for number in numbers {
            let ids = (0..<4).map { NoteRequest.id("\(number)-\($0)") }
            var records: [Record] = []
            // Whoever was killed before its first request has no zone.
            for result in try snapshot.records(ids, in: NoteRequest.database, as: actor) {
                if let record = try? result.get() { records.append(record) }
            }
            if records.isEmpty { continue }
            guard records.count == 4, try records.allSatisfy({ try $0["number"] == .int64(Int64(number)) }) else {
                throw Divergence(description: "request \(number) is half there: \(records.count) records")
            }
            found.insert(number)
        }
        guard let newest = found.max() else { return found }
        let last = try snapshot.record(NoteRequest.id("last"), in: NoteRequest.database, as: actor)
        guard try last["number"] == .int64(Int64(newest)) else {
            throw Divergence(description: "the last record of user \(user) is not of request \(newest)")
        }
        return found
    }

    private func checkViews(_ store: Store) throws {
        let replayed = try Views.inMemory(store.log).trees.snapshot().digests()
        guard try store.snapshot().digests() == replayed else {
            throw Divergence(description: "the views are not those of the log")
        }
    }
}
