import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

@Suite("Replaying the logs that there are")
struct LogReplayTests {
    private func logs(seed: UInt64) throws -> [any EventLog] {
        let platform = Platform(
            files: SimulatedDisk(), time: ManualTime(microseconds: 1), random: SeededRandom(seed: seed))
        let options = LogOptions(segmentBytes: 64 << 10, spaceStepBytes: 0)
        return [
            try SegmentedLog.open(at: "/Notes.strata", options: options, platform: platform), MemoryLog(),
            HostileLog(.init(gaps: 300), seed: seed),
        ]
    }

    private func append(_ count: Int, of history: inout SampleHistory, to log: any EventLog, isDense: Bool) throws {
        for _ in 0..<count {
            let envelope = try history.next(at: isDense ? log.end.offset + 1 : nil)
            let commit = NewCommit(
                id: Identifier(high: 1, low: log.end.offset), time: history.time, payload: envelope.encoded()[...])
            history.accept(try #require(try log.append([commit], expecting: log.end).positions.last).offset)
        }
    }

    private func commits(of log: any EventLog) throws -> [SampleCommit] {
        var cursor = try log.read(from: 1)
        var commits: [SampleCommit] = []
        while let commit = try cursor.next() {
            commits.append(SampleCommit(offset: commit.offset, time: commit.time, payload: Array(commit.payload)))
        }
        return commits
    }

    @Test("A replay gives what the log says, goes on where it stopped, and tells how far it is")
    func replay() throws {
        try withSeeds(3) { seed in
            for (index, log) in try logs(seed: seed).enumerated() {
                var history = SampleHistory(seed: seed)
                let pages = try Views.emptyTrees()
                for _ in 0..<3 {
                    try append(40, of: &history, to: log, isDense: index < 2)
                    var reported: [Replay.Progress] = []
                    try Replay(log: log, trees: pages).run { reported.append($0) }
                    let end = log.end.offset
                    try #require(reported.last == Replay.Progress(offset: end, end: end))
                    try Replay(log: log, trees: pages).run { _ in Issue.record("there is nothing to replay") }
                    let store = try PlainStore(commits(of: log))
                    let differences = try ViewDump(pages.snapshot()).differences(from: try store.trees())
                    try #require(differences.isEmpty, "\(differences.prefix(3))")
                }
                try #require(index < 2 || log.end.offset > 120, "there are no gaps")
            }
        }
    }
}
