import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("When closed segments are sealed")
struct SealingPaceTests {
    @Test("A segment waits while much is appended, and is sealed once little was appended for a while")
    func rest() {
        var pace = SealingPace(maximumWaiting: 3)
        func isDue(_ bytes: Int) -> Bool { pace.isDue(waiting: 1, appendedBytes: bytes) }
        let rest = SealingPace.restBytes
        // The first look has nothing to compare with.
        #expect(!isDue(5 * rest))
        #expect(!isDue(6 * rest))
        #expect(!isDue(9 * rest))
        #expect(isDue(10 * rest - 1))
        #expect(isDue(10 * rest - 1), "the next segment follows without a pause")
        #expect(!isDue(11 * rest), "a writer has come back")
    }

    @Test("Under load no more segments wait than the options allow")
    func bound() {
        var pace = SealingPace(maximumWaiting: 3)
        var eager = SealingPace(maximumWaiting: 0)
        let answers = (1...5).map { pace.isDue(waiting: $0, appendedBytes: $0 << 30) }
        let eagerAnswers = (0...1).map { eager.isDue(waiting: $0, appendedBytes: $0 << 30) }
        #expect(answers == [false, false, false, true, true])
        #expect(eagerAnswers == [false, true])
    }

    @Test("A log at rest seals all of its closed segments by itself")
    func restingLog() throws {
        let store = TinyStore()
        var options = TinyStore.options
        options.maximumWaitingSegments = 1_000
        let log = try store.open(options)
        var sequence = CommitSequence(seed: 3, noise: 1)
        for _ in 0..<40 { _ = try log.append([sequence.next(events: 3, bytesPerEvent: 2_000)], expecting: log.end) }
        #expect(store.segments.count > 2)
        try log.startSealing { _ in nil }
        let areSealed = try eventually { try store.reader().sealedSegments.count == store.segments.count - 1 }
        #expect(areSealed)
        try log.close()
    }
}
