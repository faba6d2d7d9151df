import Glibc
import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("Processes follow a log whose writer is killed and started again")
struct FollowingProcessTests {
    private static let rounds = getenv("STRATA_FOLLOW_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 20

    @Test("Each sees every commit once, in order, with its chain value; none of them vanishes")
    func following() throws {
        let harness = try FollowingHarness()
        try harness.startWriter()
        // One by a task from the beginning on, one by a thread from the middle of what is there.
        try harness.startFollower("first", from: 1)
        for round in 0..<Self.rounds {
            try harness.killWriter()
            try harness.startWriter()
            switch round {
            case Self.rounds / 4: try harness.startFollower("second", from: harness.randomOffset(), "thread")
            case Self.rounds / 3: try harness.startFollower("nobody", from: harness.randomOffset(), "nobody")
            case Self.rounds / 2:
                try harness.restartFollower("first")
                try harness.restartFollower("second")
            default: break
            }
        }
        try harness.killWriter()
        try harness.finish()
        #expect(harness.acknowledged > Self.rounds)
        #expect(harness.seen["first"] ?? 0 > harness.acknowledged)
        #expect(harness.seen["second"] ?? 0 > 0 && harness.seen["nobody"] ?? 0 > 0)
        #expect(try harness.segmentCount() > 5)
    }
}

@Suite("Canary: following in processes notices a follower with a bug")
struct FollowingProcessCanaryTests {
    @Test("A commit that is left out, or told twice, is noticed", arguments: ["skip", "repeat"])
    func notices(bug: String) throws {
        let harness = try FollowingHarness()
        try harness.startWriter()
        try harness.startFollower("first", from: 1, bug)
        try harness.killWriter()
        #expect(throws: Mismatch.self) { try harness.finish() }
    }

    @Test("So is one that is told and not in the log")
    func notInTheLog() throws {
        let commits = [Position(offset: 1, chain: 5), Position(offset: 2, chain: 6)]
        try FollowingHarness.compare(["1 5", "2 6"], from: 1, against: commits)
        #expect(throws: Mismatch.self) {
            try FollowingHarness.compare(["1 5", "2 6", "3 7"], from: 1, against: commits)
        }
        #expect(throws: Mismatch.self) { try FollowingHarness.compare(["1 5", "2 7"], from: 1, against: commits) }
        #expect(throws: Mismatch.self) { try FollowingHarness.compare(["1 5"], from: 1, against: commits) }
    }
}

/// One writing process, which dies and comes again, and several that follow it.
private final class FollowingHarness {
    private struct FollowerRun {
        var first: UInt64
        var modes: [String]
        var child: ChildProcess
        /// What it said before it was started again.
        var lines: [String] = []
    }

    private let directory: TestDirectory
    private let path: String
    private var writer: ChildProcess?
    private var followers: [String: FollowerRun] = [:]
    private var acknowledgedLines: [String] = []
    private var generator = SeededGenerator(seed: 11)
    private(set) var seen: [String: Int] = [:]

    var acknowledged: Int { acknowledgedLines.count }

    init() throws {
        directory = try TestDirectory()
        path = directory.path("Followed.strata")
        // A follower that is nobody in particular may look into it.
        chmod(directory.path, 0o755)
        mkdir(path, 0o755)
    }

    func startWriter(_ modes: String...) throws {
        let words = ["write", path, "\(generator.next())"] + modes
        let child = try ChildProcess(ChildProcess.product("crash-child"), words)
        writer = child
        try check(child.waitForLine(), "the writer ended before its first commit")
    }

    func killWriter() throws {
        usleep(UInt32(10_000 + generator.next(below: 60_000)))
        guard let writer else { throw Mismatch("there is no writer") }
        try check(writer.kill() & 0x7F == SIGKILL, "the writer was not killed, it ended")
        acknowledgedLines += writer.lines()
    }

    func startFollower(_ name: String, from first: UInt64, _ modes: String...) throws {
        followers[name] = FollowerRun(first: first, modes: modes, child: try follower(from: first, modes))
    }

    private func follower(from first: UInt64, _ modes: [String]) throws -> ChildProcess {
        try ChildProcess(ChildProcess.product("crash-child"), ["follow", path, "\(first)"] + modes)
    }

    /// Kills it and goes on behind the last commit that it told of.
    func restartFollower(_ name: String) throws {
        guard var run = followers[name] else { throw Mismatch("there is no follower \(name)") }
        try check(run.child.waitForLine(), "\(name) ended before its first commit")
        try check(run.child.kill() & 0x7F == SIGKILL, "\(name) was not killed, it ended")
        run.lines += run.child.lines()
        let last = run.lines.last.flatMap { $0.split(separator: " ").first.flatMap { UInt64($0) } }
        run.child = try follower(from: (last ?? run.first - 1) + 1, run.modes)
        followers[name] = run
    }

    /// An offset that the log has by now.
    func randomOffset() -> UInt64 {
        let last = acknowledgedLines.last.flatMap { $0.split(separator: " ").first.flatMap { UInt64($0) } } ?? 1
        return 1 + UInt64(generator.next(below: Int(last)))
    }

    /// Has the last commit written, and compares what everybody said with the log.
    func finish() throws {
        try startWriter("last")
        acknowledgedLines += writer?.lines() ?? []
        var commits: [Position] = []
        var cursor = try LogReader.open(at: path).read(from: 1)
        while let commit = try cursor.next() { commits.append(commit.position) }
        for line in acknowledgedLines {
            let words = line.split(separator: " ").compactMap { Int($0) }
            let isThere =
                words.count == 2 && (1...commits.count).contains(words[0])
                && commits[words[0] - 1].chain == UInt32(words[1])
            try check(isThere, "what was acknowledged as \(line) is not there")
        }
        for (name, run) in followers {
            let lines = run.lines + run.child.lines()
            seen[name] = lines.count
            do { try Self.compare(lines, from: run.first, against: commits) } catch {
                throw Mismatch("follower \(name) from \(run.first): \(error)")
            }
        }
    }

    static func compare(_ lines: [String], from first: UInt64, against commits: [Position]) throws {
        let expected = commits.filter { $0.offset >= first }.map { "\($0.offset) \($0.chain)" }
        for (index, line) in lines.enumerated() {
            try check(index < expected.count, "\(line) is behind the end")
            try check(line == expected[index], "it saw \(line) and not \(expected[index])")
        }
        try check(lines.count == expected.count, "it saw \(lines.count) of \(expected.count) commits")
    }

    func segmentCount() throws -> Int { try LogReader.open(at: path).segments.count }
}
