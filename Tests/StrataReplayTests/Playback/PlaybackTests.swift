import StrataLog
import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("Histories that are played again", .timeLimit(.minutes(2)))
struct PlaybackTests {
    private static let (anna, database) = (RerunFixture.anna, RerunFixture.database)

    /// A history, with what the state and a device's feed were at some of its offsets.
    private struct Recorded {
        var digests: [UInt64: Digests] = [:]
        var tokens: [UInt64: [UInt8]] = [:]

        mutating func note(_ store: Store) throws {
            let offset = store.offset
            digests[offset] = try store.snapshot().digests()
            tokens[offset] = try? PlaybackTests.token(of: store)
        }
    }

    private static func token(of store: Store) throws -> [UInt8] {
        try store.bytes(of: store.databaseChanges(in: database, since: nil, as: anna).token)
    }

    @Test("States and change tokens are at each offset what they were, compacted or not", arguments: [false, true])
    func states(isOnDisk: Bool) throws {
        try withSeeds(3) { seed in
            let directory = try TestDirectory()
            let fixture = try RerunFixture(at: isOnDisk ? directory.path("Notes.strata") : nil)
            var recorded = Recorded()
            var history = RandomHistory(fixture, seed: seed)
            for _ in 0..<60 {
                try history.run(1)
                try recorded.note(fixture.store)
            }
            if isOnDisk { _ = try fixture.store.compact(before: fixture.store.offset / 2) }
            let floor = fixture.store.log.floor.offset
            #expect(isOnDisk == (floor > 0))
            let playback = try Playback(of: fixture.store, speed: .stepped)
            #expect(playback.first == floor && playback.offset == floor)
            var compared = 0
            while let commit = try playback.step() {
                #expect(playback.offset == commit.offset && playback.time == commit.time)
                guard let digests = recorded.digests[commit.offset] else { continue }
                compared += 1
                #expect(try playback.store.snapshot().digests() == digests, "seed \(seed), \(commit.offset)")
                let token = try? Self.token(of: playback.store)
                #expect(token == recorded.tokens[commit.offset], "seed \(seed), \(commit.offset)")
            }
            #expect(compared > 10 && playback.isAtEnd && playback.offset == fixture.store.offset)
            #expect(try playback.step() == nil)
            try playback.close()
        }
    }

    @Test("Commits that are played together are those that are played one by one", arguments: [1, 2, 7, 1_000])
    func together(limit: Int) throws {
        let fixture = try RerunFixture()
        var (recorded, history) = (Recorded(), RandomHistory(fixture, seed: 3))
        for _ in 0..<60 {
            try history.run(1)
            try recorded.note(fixture.store)
        }
        let last = fixture.store.offset - 2
        let single = try Playback(of: fixture.store, from: 3, through: last, speed: .stepped)
        var wanted: [PlayedCommit] = []
        while let commit = try single.step() { wanted.append(commit) }
        let playback = try Playback(of: fixture.store, from: 3, through: last, speed: .unpaced)
        let playedCount = Lock(0)
        playback.onPlay { playedCount.withLock { $0 += 1 } }
        var played: [PlayedCommit] = []
        while true {
            let commits = try playback.steps(atMost: limit)
            guard let final = commits.last else { break }
            played += commits
            #expect(commits.count <= limit && playback.offset == final.offset && playback.time == final.time)
            if let digests = recorded.digests[final.offset] {
                #expect(try playback.store.snapshot().digests() == digests, "\(final.offset)")
            }
        }
        #expect(played == wanted && playedCount.withLock { $0 } == wanted.count && wanted.last?.offset == last)
        #expect(playback.isAtEnd)
        try playback.close()
        #expect(throws: StrataError.self) { try playback.steps(atMost: limit) }
        try single.close()
    }

    // MARK: Time

    /// When each commit was played, behind the beginning.
    private func times(
        _ speed: PlaybackSpeed, maximumPause: Duration? = nil, from first: UInt64 = 1, _ store: Store
    ) async throws -> [Int64] {
        let clock = JumpingClock()
        let playback = try Playback(of: store, from: first, speed: speed, maximumPause: maximumPause, clock: clock)
        let times = Lock<[Int64]>([])
        playback.onPlay { times.withLock { $0.append(clock.nowMicroseconds()) } }
        // What passes before it begins is no part of a pause.
        clock.advance(by: 70_000)
        let start = clock.nowMicroseconds()
        playback.play()
        try await playback.waitForEnd()
        try playback.close()
        return times.withLock { $0.map { $0 - start } }
    }

    @Test("Pauses are those of the log, divided by the speed, and none is too long")
    func speeds() async throws {
        let fixture = try RerunFixture()
        for name in ["a", "b"] { try fixture.save(name, [:]) }
        // A day passes.
        fixture.time.advance(byMicroseconds: 86_400_000_000)
        for name in ["c", "d"] { try fixture.save(name, [:]) }
        let day: Int64 = 86_400_000_000
        let store = fixture.store
        #expect(try await times(.original, store) == [10_000, 20_000, 30_000 + day, 40_000 + day])
        #expect(try await times(.multiplied(10), store) == [1_000, 2_000, 3_000 + day / 10, 4_000 + day / 10])
        #expect(try await times(.multiplied(0.5), store) == [20_000, 40_000, 60_000 + 2 * day, 80_000 + 2 * day])
        let brief = Duration.milliseconds(15)
        #expect(try await times(.original, maximumPause: brief, store) == [10_000, 20_000, 35_000, 45_000])
        #expect(try await times(.multiplied(0.1), maximumPause: brief, store) == [15_000, 30_000, 45_000, 60_000])
        #expect(try await times(.unpaced, store) == [0, 0, 0, 0])
        // Nothing was before the first commit, so it is due at once.
        #expect(try await times(.original, maximumPause: brief, from: 0, store).first == 0)
    }

    @Test("What takes long is made up for, and what comes early moves what follows")
    func pace() {
        var pace = PlaybackPace(.original, maximumPause: nil, latest: 1_000, now: 0)
        pace.resume(now: 500)
        #expect(pace.due(1_100) == 600)
        pace.play(1_100, now: 900)
        // 300 late; the next is late too, the one after it is not.
        #expect(pace.due(1_300) == 800)
        pace.play(1_300, now: 950)
        #expect(pace.due(1_800) == 1_300)
        pace.play(1_800, now: 1_000)
        #expect(pace.due(1_900) == 1_100)
        // Times that go back make no pause, and none twice.
        pace.play(1_900, now: 1_100)
        #expect(pace.due(50) == 1_100)
        pace.play(50, now: 1_100)
        #expect(pace.due(1_900) == 1_100 && pace.due(1_950) == 1_150)
        pace.pause(now: 1_120)
        pace.resume(now: 5_000)
        #expect(pace.due(1_950) == 5_030)
    }

    @Test("Times that no pause can have are no trap")
    func extremeTimes() {
        var pace = PlaybackPace(.multiplied(0.001), maximumPause: nil, latest: .min, now: 10)
        #expect(pace.due(.max) == .max)
        pace.play(.max, now: 20)
        #expect(pace.due(.min) == 20)
        let capped = PlaybackPace(.original, maximumPause: -5, latest: 0, now: 10)
        #expect(capped.due(100) == 10)
    }

    @Test("A pause holds it, and it goes on where it was; a step goes ahead of time")
    func pausing() async throws {
        let fixture = try RerunFixture()
        for name in ["a", "b", "c"] { try fixture.save(name, [:]) }
        let clock = StandingClock()
        let playback = try Playback(of: fixture.store, from: 1, clock: clock)
        playback.play()
        clock.advance(by: 4_000)
        playback.pause()
        clock.advance(by: 1_000_000)
        #expect(playback.offset == 1)
        playback.play()
        #expect(try playback.remaining() == .microseconds(6_000))
        #expect(try playback.step()?.offset == 2)
        #expect(try playback.remaining() == .microseconds(10_000))
        clock.advance(by: 20_000)
        try await playback.waitForEnd()
        #expect(playback.offset == 4)
        #expect(try playback.remaining() == nil)
        playback.pause()
        playback.play()
        try playback.close()
        #expect(throws: StrataError.self) { try playback.step() }
    }

    @Test("One that is stepped does not go by itself")
    func stepped() async throws {
        let fixture = try RerunFixture()
        try fixture.save("a", [:])
        let playback = try Playback(of: fixture.store, from: 0, speed: .stepped, clock: JumpingClock())
        playback.play()
        #expect(try playback.remaining() == nil)
        try await Task.sleep(for: .milliseconds(20))
        #expect(playback.offset == 0 && playback.time == nil)
        let commit = try #require(try playback.step())
        #expect(commit.offset == 1 && commit.actor == Self.anna && commit.eventCount > 0)
        try playback.close()
    }

    // MARK: Following it

    @Test("Whoever follows the commits gets all of them, however slowly, and an end")
    func commits() async throws {
        let fixture = try RerunFixture()
        for number in 0..<50 { try fixture.save("n\(number)", [:]) }
        let playback = try Playback(of: fixture.store, from: 3, through: 40, speed: .unpaced)
        playback.play()
        try await playback.waitForEnd()
        var offsets: [UInt64] = []
        for try await commit in playback.commits { offsets.append(commit.offset) }
        #expect(offsets == Array(4...40))
        // Who waits for what does not come any more is told so.
        let other = try Playback(of: fixture.store, speed: .stepped)
        let waiting = Task { for try await _ in other.commits {} }
        try other.close()
        try await waiting.value
    }

    @Test("A feed that is followed goes on with the playback, and nothing can be written")
    func feed() async throws {
        let fixture = try RerunFixture()
        try fixture.save("a", ["rank": .int64(1)])
        let then = fixture.store.offset
        try fixture.save("a", ["rank": .int64(2)], policy: .allKeys)
        let playback = try Playback(of: fixture.store, from: then, speed: .stepped)
        let store = playback.store
        #expect(try RerunFixture.rank("a", store.snapshot()) == .int64(1))
        let waiting = Task { try await store.waitForChange(past: then) }
        try playback.step()
        #expect(try await waiting.value)
        #expect(try RerunFixture.rank("a", store.snapshot()) == .int64(2))
        #expect { try store.modify(.zones(saving: [ZoneID("X")]), as: Self.anna) } throws: {
            ($0 as? StrataError)?.code == .onlyRead
        }
        try playback.close()
    }

    @Test("It goes on with what is written if it is to", arguments: [true, false])
    func follows(isOnDisk: Bool) async throws {
        let directory = try TestDirectory()
        let fixture = try RerunFixture(at: isOnDisk ? directory.path("Notes.strata") : nil)
        let playback = try Playback(of: fixture.store, speed: .unpaced, follows: true)
        playback.play()
        try fixture.save("a", [:])
        var last: UInt64 = 0
        for try await commit in playback.commits {
            last = commit.offset
            if last == 2 { try fixture.save("b", [:]) }
            if last == 3 { break }
        }
        #expect(last == 3 && !playback.isAtEnd)
        try playback.close()
    }

    @Test("Several play beside a writer, and disturb neither it nor each other")
    func several() async throws {
        let directory = try TestDirectory()
        let fixture = try RerunFixture(at: directory.path("Notes.strata"))
        var history = RandomHistory(fixture, seed: 9)
        try history.run(60)
        let end = fixture.store.offset
        let digests = try fixture.store.snapshot().digests()
        let half = try Playback(of: fixture.store, from: end / 2, speed: .unpaced)
        let whole = try Playback(of: fixture.store, speed: .unpaced)
        for playback in [half, whole] { playback.play() }
        try history.run(60)
        for playback in [half, whole] {
            try await playback.waitForEnd()
            #expect(playback.offset == end)
            #expect(try playback.store.snapshot().digests() == digests)
            try playback.close()
        }
        #expect(fixture.store.offset > end)
    }

    @Test("What cannot be played is an error")
    func bounds() throws {
        let directory = try TestDirectory()
        let fixture = try RerunFixture(at: directory.path("Notes.strata"))
        for name in ["a", "b", "c"] { try fixture.save(name, [:]) }
        func fails(_ code: StrataError.Code, _ open: () throws -> Playback) {
            #expect { try open() } throws: { ($0 as? StrataError)?.code == code }
        }
        fails(.outOfRange) { try Playback(of: fixture.store, from: 5) }
        fails(.outOfRange) { try Playback(of: fixture.store, through: 5) }
        fails(.outOfRange) { try Playback(of: fixture.store, from: 3, through: 2) }
        for factor in [0, -1, .nan, .infinity] {
            fails(.invalidArgument) { try Playback(of: fixture.store, speed: .multiplied(factor)) }
        }
        _ = try fixture.store.compact(before: 2)
        fails(.outOfRange) { try Playback(of: fixture.store, from: 0) }
        let empty = try Playback(of: fixture.store, from: 4)
        #expect(try empty.step() == nil && empty.isAtEnd)
    }

    @Test("History that is let go while it is still to be played ends it with an error")
    func release() async throws {
        let directory = try TestDirectory()
        let fixture = try RerunFixture(at: directory.path("Notes.strata"))
        for number in 0..<20 { try fixture.save("n\(number)", [:]) }
        let playback = try Playback(of: fixture.store, speed: .unpaced)
        _ = try fixture.store.compact(before: 10)
        playback.play()
        do {
            try await playback.waitForEnd()
            // What is open already may be read to the end.
            #expect(playback.offset == 21)
        } catch let error as StrataError { #expect([.outOfRange, .notFound].contains(error.code), "\(error)") }
        try playback.close()
    }
}
