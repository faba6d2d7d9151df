import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestNeeds
import TestSupport
import Testing

@testable import StrataJetStream

@Suite("A stream of three servers", .needs(.natsServer))
struct JetStreamClusterTests {
    private let servers: JetStreamServers
    private let options: JetStreamOptions
    private let random = SeededRandom(seed: 1)

    init() throws {
        servers = try JetStreamServers(count: 3)
        options = try servers.stream("notes")
    }

    /// Sends the entry until it is accepted, as a log does; returns the answers before.
    private func settle(_ sequencer: JetStreamSequencer, _ entry: [UInt8], id: Identifier, expecting: UInt64) -> Int {
        var attempts = 0
        let isAccepted = eventually {
            attempts += 1
            let answer = sequencer.append(entry, id: id, expecting: expecting)
            // A conflict may name this entry, whose number is not known yet.
            #expect(answer.number == expecting + 1 || answer.number == nil)
            return answer.number != nil
        }
        #expect(isAccepted)
        return attempts
    }

    @Test("Entries go on behind a killed leader; without a majority nothing is known, and later it is")
    func killedServers() throws {
        let (writer, reader) = (try JetStreamSequencer(options), try JetStreamSequencer(options))
        var entries: [[UInt8]] = []
        func append() -> Int {
            entries.append(random.nextBytes(count: 50))
            return settle(
                writer, entries[entries.count - 1], id: random.nextIdentifier(), expecting: UInt64(entries.count - 1))
        }
        var read: [[UInt8]] = []
        func catchUp() throws {
            let isComplete = eventually {
                read += (try? reader.entries(after: UInt64(read.count), waitingMilliseconds: 100)) ?? []
                return read.count >= entries.count
            }
            #expect(isComplete && read == entries)
        }
        for _ in 0..<20 { _ = append() }
        try catchUp()
        let first = random.nextIdentifier()
        entries.append([9])
        #expect(writer.append([9], id: first, expecting: 20).number == 21)
        #expect(writer.append([9], id: first, expecting: 20).number == 21)
        #expect(reader.append([8], id: random.nextIdentifier(), expecting: 20).isTaken)
        let leader = try #require(servers.leader(options))
        servers.kill(leader)
        for _ in 0..<20 { _ = append() }
        try catchUp()
        #expect(try writer.last() == 41)

        // One server of three is left.
        let second = (leader + 1) % 3
        servers.kill(second)
        entries.append([1, 2, 3])
        let id = random.nextIdentifier()
        let answer = writer.append([1, 2, 3], id: id, expecting: 41)
        #expect(answer.isUnknown || answer.refusal?.code == .unreachable)
        try servers.start(leader)
        try servers.start(second)
        _ = settle(writer, [1, 2, 3], id: id, expecting: 41)
        try catchUp()
        #expect(try reader.last() == 42)
        try doubts()
    }

    /// Checks that a smaller number than was seen is believed only after a time: it may be that of a former leader.
    private func doubts() throws {
        var impatient = options
        impatient.patienceMilliseconds = 100
        let sequencer = try JetStreamSequencer(impatient)
        sequencer.state.withLock { $0.seen = 1_000 }
        #expect(code { _ = try sequencer.last() } == .unreachable)
        func pass(_ seconds: Int, last: Int) {
            sequencer.state.withLock { state in
                state.doubtful = state.doubtful.map { ($0.first - .seconds(seconds), $0.last - .seconds(last)) }
            }
        }
        // Two answers far apart do not count for the time between them.
        pass(60, last: 60)
        #expect(code { _ = try sequencer.last() } == .unreachable)
        pass(12, last: 0)
        #expect(try sequencer.last() == 42)
    }

    @Test("Logs that write while the leader is killed and paused have the same commits, each acknowledged one once")
    func severalLogs() throws {
        let logs = try (0..<3).map { index in
            try ReplicatedLog.open(
                at: servers.directory.path("\(index).strata"), sequencer: JetStreamSequencer(options))
        }
        let isOver = Monitor(false)
        let histories = Monitor([AppendHistory]())
        // The writers block their threads, so they have some of their own.
        let writers = try logs.enumerated().map { index, log in
            try log.follow {}
            return try WorkerThread(name: "writer") {
                let history = try? AppendHistory.write(.max, to: log, seed: UInt64(index)) { isOver.withLock { $0 } }
                if let history { histories.withLock { $0.append(history) } }
            }
        }
        defer { isOver.withLock { $0 = true } }
        goOn(logs[0])
        let first = try leader()
        servers.kill(first)
        goOn(logs[0])
        try servers.start(first)
        let second = try leader()
        servers.pause(second)
        goOn(logs[1])
        servers.resume(second)
        goOn(logs[2])
        isOver.withLock { $0 = true }
        for writer in writers { writer.join() }

        let copies = try logs.map { log in
            let isConfirmed = eventually { (try? log.confirmEnd()) != nil }
            #expect(isConfirmed)
            defer { try? log.close() }
            return try AppendHistory.commits(of: log)
        }
        #expect(copies[1] == copies[0] && copies[2] == copies[0])
        let known = histories.withLock { $0 }
        try AppendHistory.check(known, copies[0])
        // The check would notice a commit that was acknowledged and is lost.
        #expect(throws: AppendHistory.Mismatch.self) { try AppendHistory.check(known, Array(copies[0].dropLast())) }
        #expect(known.count == 3 && known.contains { $0.acknowledged.count >= 20 })
    }

    /// Waits until the log has 20 more commits.
    private func goOn(_ log: ReplicatedLog) {
        let end = log.end.offset + 20
        let hasMore = eventually { log.end.offset >= end }
        #expect(hasMore)
    }

    private func leader() throws -> Int {
        var leader: Int?
        _ = eventually {
            leader = servers.leader(options)
            return leader != nil
        }
        return try #require(leader)
    }
}
