import Glibc
import StrataModel
import TestSupport
import Testing

@testable import StrataSystem

@Suite("Time, randomness and the process")
struct PlatformTests {
    // The first numbers of SplitMix64 for this seed, as its author's program prints them.
    private static let golden: [UInt64] = [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
    ]

    @Test("A clock beyond what the number can say stops at its end")
    func clockBeyond() {
        #expect(SystemTime.microseconds(seconds: 1_700_000_000, nanoseconds: 123_999) == 1_700_000_000_000_123)
        #expect(SystemTime.microseconds(seconds: -1, nanoseconds: 999_999_999) == -1)
        #expect(SystemTime.microseconds(seconds: .max, nanoseconds: 0) == .max)
        #expect(SystemTime.microseconds(seconds: .max / 1_000_000, nanoseconds: 999_999_999) == .max)
        #expect(SystemTime.microseconds(seconds: .min, nanoseconds: 0) == .min)
    }

    @Test("A seed gives the published sequence, here and in the tests' own generator")
    func seededSequence() {
        let random = SeededRandom(seed: 1_234_567)
        #expect((0..<5).map { _ in random.next() } == Self.golden)
        var generator = SeededGenerator(seed: 1_234_567)
        #expect((0..<5).map { _ in generator.next() } == Self.golden)
    }

    @Test("An identifier takes two numbers, the high one first")
    func identifiers() {
        let identifier = SeededRandom(seed: 1_234_567).nextIdentifier()
        #expect(identifier == Identifier(high: Self.golden[0], low: Self.golden[1]))
    }

    @Test("Numbers below a bound stay there and reach all of it")
    func boundedNumbers() {
        let random = SeededRandom(seed: 1)
        #expect(Set((0..<300).map { _ in random.next(below: 7) }) == Set(0..<7))
        #expect((0..<20).allSatisfy { _ in random.next(below: 1) == 0 })
        let golden = SeededRandom(seed: 1_234_567)
        #expect((0..<5).map { _ in golden.next(below: 1_000) } == [350, 173, 532, 249, 889])
        #expect((0..<100).contains { _ in random.next(below: .max) > .max / 2 })
    }

    @Test("Threads that share a seed share its numbers and get none twice")
    func sharedRandom() throws {
        let random = SeededRandom(seed: 9)
        let seen = Monitor<[UInt64]>([])
        let threads = try (0..<4).map { _ in
            try WorkerThread(name: "random") {
                let numbers = (0..<500).map { _ in random.next() }
                seen.withLock { $0 += numbers }
            }
        }
        for thread in threads { thread.join() }
        let reference = SeededRandom(seed: 9)
        #expect(Set(seen.withLock { $0 }) == Set((0..<2_000).map { _ in reference.next() }))
    }

    @Test("The system's numbers do not repeat")
    func systemRandom() {
        #expect(Set((0..<100).map { _ in SystemRandom().next() }).count == 100)
    }

    @Test("Manual time moves when told to, in either direction")
    func manualTime() {
        let time = ManualTime(microseconds: 1_000)
        #expect(time.nowMicroseconds() == 1_000)
        time.advance(byMicroseconds: 500)
        #expect(time.nowMicroseconds() == 1_500)
        time.advance(byMicroseconds: -2_000)
        #expect(time.nowMicroseconds() == -500)
    }

    @Test("The system's time is that of the machine, in microseconds since 1970")
    func systemTime() {
        // Another call for the same clock; its seconds may lag by a timer tick.
        let before = Int64(Glibc.time(nil)) - 1
        let now = SystemTime().nowMicroseconds()
        let after = Int64(Glibc.time(nil)) + 1
        #expect((before * 1_000_000...after * 1_000_000).contains(now))
        usleep(2_000)
        #expect(SystemTime().nowMicroseconds() >= now + 1_000)
    }

    @Test("A process knows its number and its name")
    func processIdentity() {
        let identity = ProcessIdentity.current
        #expect(identity.identifier == getpid())
        #expect((1...15).contains(identity.name.utf8.count))
        #expect(!identity.name.contains("\n"))
        #expect(identity.name != "?")
    }

    @Test("A test directory is empty at first and gone at last, with all that is in it")
    func testDirectories() throws {
        var directory: TestDirectory? = try TestDirectory()
        let path = try #require(directory?.path)
        let files = RealFileSystem()
        #expect(try files.list(path).isEmpty)
        try files.makeDirectory("\(path)/sub")
        _ = try files.open("\(path)/sub/a", .create)
        directory = nil
        #expect(try !files.exists(path))
    }
}
