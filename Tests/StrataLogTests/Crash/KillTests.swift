import Glibc
import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("A process is killed while it commits")
struct KillTests {
    private static let rounds: Int =
        getenv("STRATA_KILL_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 100

    @Test("Every commit that it had acknowledged is there, round after round in one store")
    func rounds() throws {
        let directory = try TestDirectory()
        let harness = KillHarness(directory.path("Killed.strata"))
        for round in 0..<Self.rounds {
            do { try harness.runRound(isEarly: false) } catch { throw Mismatch("round \(round): \(error)") }
        }
        #expect(harness.acknowledged > Self.rounds)
        let report = LogVerifier.verify(at: harness.path)
        #expect(report.damage == nil)
        #expect(report.commitCount >= UInt64(harness.acknowledged))
        if Self.rounds >= 100 { #expect(report.segmentCount > 1) }
    }
}

@Suite("Canary: killing notices a program that acknowledges too early")
struct KillCanaryTests {
    @Test("It is noticed within a few rounds")
    func early() throws {
        let directory = try TestDirectory()
        let harness = KillHarness(directory.path("Killed.strata"))
        #expect(throws: Mismatch.self) {
            for _ in 0..<30 { try harness.runRound(isEarly: true) }
        }
    }
}

/// Starts the child, kills it, and compares what it said with what is in the store.
final class KillHarness {
    let path: String
    private(set) var acknowledged = 0
    private var generator = SeededGenerator(seed: 1)
    private var nextNumber: UInt64 = 1
    private var end = Position.start
    private var numbers: Set<UInt64> = []

    init(_ path: String) { self.path = path }

    func runRound(isEarly: Bool) throws {
        let arguments = [path, "\(nextNumber)"] + (isEarly ? ["early"] : [])
        let child = try ChildProcess(ChildProcess.product("crash-child"), arguments)
        try check(child.waitForLine(), "the child ended before its first commit")
        usleep(UInt32(5_000 + generator.next(below: 115_000)))
        // A child that ended by itself had an error, which it printed.
        try check(child.kill() & 0x7F == SIGKILL, "the child was not killed, it ended")
        let lines = child.lines()
        let log = try SegmentedLog.open(at: path, options: LogOptions(segmentBytes: 64 << 10, spaceStepBytes: 0))
        try checkNew(try log.commits(from: end.offset + 1))
        for line in lines { try checkAcknowledged(line, log) }
        acknowledged += lines.count
        nextNumber = (numbers.max() ?? 0) + 1_000
        end = log.end
        try log.close()
    }

    private func checkNew(_ commits: [Commit]) throws {
        let broken = ReferenceChain.firstBreak(in: commits, after: end)
        try check(broken == nil, "the chain breaks at \(broken ?? 0)")
        for (index, commit) in commits.enumerated() {
            try check(commit.offset == end.offset + 1 + UInt64(index), "a gap in front of \(commit.offset)")
            let number = try Self.number(in: commit)
            try check(number >= nextNumber && numbers.insert(number).inserted, "commit \(number) comes twice")
        }
    }

    private func checkAcknowledged(_ line: String, _ log: SegmentedLog) throws {
        let words = line.split(separator: " ").compactMap { UInt64($0) }
        try check(words.count == 2, "the child said \(line)")
        try check(numbers.contains(words[0]), "commit \(words[0]) was acknowledged and is not there")
        guard words[1] > 0 else { return }
        let commit = try log.commit(at: words[1])
        try check(try commit.map(Self.number(in:)) == words[0], "commit \(words[0]) is not at \(words[1])")
    }

    /// The number in the payload; the filler behind it must be what follows from it.
    private static func number(in commit: Commit) throws -> UInt64 {
        let body = try Envelope(decoding: commit.payload).events[0].body
        var reader = Array(body)
        let number = SeenFrame.number(reader, at: 0, bytes: 8)
        reader.removeFirst(8)
        let expected = (0..<(number * 7_919) % 3_000).map { UInt8(truncatingIfNeeded: $0 &* (number | 1)) }
        try check(reader == expected, "commit \(number) has other bytes than it was given")
        return number
    }
}
