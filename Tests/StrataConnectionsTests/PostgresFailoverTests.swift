import StrataLog
import StrataModel
import StrataPostgres
import StrataReplication
import StrataSystem
import TestSupport
import Testing

extension PostgresSequencerTests {
    @Test("After a fail-over every acknowledged entry is there, and writes go on at the new primary")
    func failover() throws {
        let cluster = try PostgresCluster()
        let address = try cluster.create("failover")
        let (writer, reader) = (try PostgresSequencer(address), try PostgresSequencer(address))
        let random = SeededRandom(seed: 1)
        for number in 0..<20 as Range<UInt64> {
            try #require(
                writer.append([UInt8(number)], id: random.nextIdentifier(), expecting: number).number == number + 1)
        }
        #expect(try reader.entries(after: 0, waitingMilliseconds: 0).count == 20)
        cluster.primary.kill()
        let primary = try cluster.failOver()
        let id = random.nextIdentifier()
        #expect(eventually { writer.append([20], id: id, expecting: 20).number == 21 })
        #expect(eventually { (try? reader.entries(after: 20, waitingMilliseconds: 1_000)) == [[20]] })
        #expect(eventually { (try? reader.last()) == 21 })
        #expect(try reader.entries(after: 0, waitingMilliseconds: 0) == (0...20).map { [$0] })
        #expect(try primary.sql("select pg_is_in_recovery()") == ["f"])
    }

    @Test("A primary that stands still is left when another one takes its place")
    func pausedPrimary() throws {
        let cluster = try PostgresCluster()
        let address = try cluster.create("paused")
        let (writer, reader) = (try PostgresSequencer(address), try PostgresSequencer(address))
        let random = SeededRandom(seed: 1)
        try #require(writer.append([1], id: random.nextIdentifier(), expecting: 0).number == 1)
        #expect(try reader.entries(after: 0, waitingMilliseconds: 0) == [[1]])
        try cluster.primary.pause()
        let id = random.nextIdentifier()
        #expect(writer.append([2], id: id, expecting: 1).doubt == .unreachable)
        _ = try cluster.failOver()
        #expect(eventually { writer.append([2], id: id, expecting: 1).number == 2 })
        #expect(eventually { (try? reader.entries(after: 1, waitingMilliseconds: 1_000)) == [[2]] })
        cluster.primary.kill()
    }

    @Test("Logs that write while the primary crashes have equal copies, with each acknowledged commit once")
    func logs() async throws {
        let cluster = try Self.cluster()
        let address = try cluster.create("logs")
        let logs = try (0..<3).map { _ in
            try ReplicatedLog.open(
                at: "/Notes.strata", sequencer: PostgresSequencer(address), options: .init(outcomeMilliseconds: 5_000),
                log: LogOptions(segmentBytes: 64 << 10, firstSegmentBytes: 64 << 10, spaceStepBytes: 0),
                platform: Platform(files: SimulatedDisk()))
        }
        let isOver = Monitor(false)
        var threads: [WorkerThread] = []
        let results = Monitor<[Result<AppendHistory, any Error>]>([])
        for (index, log) in logs.enumerated() {
            try log.follow {}
            threads.append(
                try WorkerThread(name: "writer") {
                    let result = Result {
                        try AppendHistory.write(
                            .max, to: log, seed: UInt64(index), until: { isOver.withLock { $0 } })
                    }
                    results.withLock { $0.append(result) }
                })
        }
        for _ in 0..<2 {
            let end = logs[0].end.offset
            try #require(eventually { logs[0].end.offset >= end + 100 })
            cluster.primary.kill()
            try cluster.primary.start()
        }
        let end = logs[0].end.offset
        #expect(eventually { logs[0].end.offset >= end + 100 })
        isOver.withLock { $0 = true }
        for thread in threads { thread.join() }
        let histories = try results.withLock { $0 }.map { try $0.get() }
        var copies: [[Commit]] = []
        for log in logs {
            try #require(eventually { (try? log.confirmEnd()) != nil })
            copies.append(try AppendHistory.commits(of: log))
            try log.close()
        }
        try #require(copies.allSatisfy { $0 == copies[0] })
        try AppendHistory.check(histories, copies[0])
        #expect(histories.allSatisfy { !$0.acknowledged.isEmpty })
        #expect(histories.contains { !$0.unsettled.isEmpty || !$0.rejected.isEmpty })
    }
}
