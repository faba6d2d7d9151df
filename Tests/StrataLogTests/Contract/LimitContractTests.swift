import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("Contract of every log: the longest payload")
struct LimitContractTests {
    @Test("The longest payload goes in, in memory, in segments and through a sequencer")
    func longest() throws {
        for kind in [LogKind.simulatedDisk, .memory, .replicated] {
            let fixture = try LogFixture(kind, touches: LogFixture.noTouches)
            #expect(fixture.log.maximumCommitBytes == 64 << 20)
            let longest = fixture.makeRaw(64 << 20, isRandom: false)
            let small = fixture.makeRaw(10, isRandom: true)
            let positions = try fixture.append([longest, small])
            let read = try #require(try fixture.log.commit(at: positions[0].offset))
            #expect(firstDifference([read], Array(fixture.appended.prefix(1))) == nil)
            #expect(try fixture.log.commits(from: positions[1].offset).map(\.payload) == [small.payload])
        }
    }

    @Test(
        "One byte more is refused, and nothing happens",
        arguments: [
            LogKind.simulatedDisk, .memory, .hostileMemory(seed: 1), .replicated,
        ])
    func tooLong(kind: LogKind) throws {
        let fixture = try LogFixture(kind, touches: LogFixture.noTouches)
        let limit = fixture.log.maximumCommitBytes
        let long = fixture.makeRaw(limit + 1, isRandom: false)
        let short = fixture.makeRaw(5, isRandom: false)
        #expect(appendOutcome { _ = try fixture.log.append([short, long], expecting: .start) } == "too large")
        #expect(fixture.log.end == .start)
        try fixture.append([short])
        #expect(fixture.own(try fixture.log.allCommits()) == fixture.appended)
    }

    @Test("A log in memory keeps to the limit that it was given")
    func smallLimit() throws {
        let log = MemoryLog(maximumCommitBytes: 100, touches: LogFixture.noTouches)
        func append(_ count: Int) -> String? {
            let commit = NewCommit(
                id: .zero, time: 0, payload: ArraySlice([UInt8](repeating: 0, count: count)))
            return appendOutcome { _ = try log.append([commit], expecting: log.end) }
        }
        #expect(append(101) == "too large")
        #expect(append(100) == nil)
        #expect(log.end.offset == 1)
    }
}
