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
            let playback = try Playback(of: fixture.store)
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
        let single = try Playback(of: fixture.store, from: 3, through: last)
        var wanted: [PlayedCommit] = []
        while let commit = try single.step() { wanted.append(commit) }
        let playback = try Playback(of: fixture.store, from: 3, through: last)
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

    @Test("A pause holds it, and it goes on where it was, by itself or by steps")
    func pausing() async throws {
        let fixture = try RerunFixture()
        for name in ["a", "b", "c"] { try fixture.save(name, [:]) }
        let playback = try Playback(of: fixture.store, from: 1)
        playback.play()
        playback.pause()
        let paused = playback.offset
        try await Task.sleep(for: .milliseconds(20))
        #expect(playback.offset == paused)
        while try playback.step() != nil {}
        #expect(playback.offset == 4)
        playback.play()
        try await playback.waitForEnd()
        playback.pause()
        playback.play()
        try playback.close()
        #expect(throws: StrataError.self) { try playback.step() }
    }

    @Test("One that is stepped does not go by itself")
    func stepped() async throws {
        let fixture = try RerunFixture()
        try fixture.save("a", [:])
        let playback = try Playback(of: fixture.store, from: 0)
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
        let playback = try Playback(of: fixture.store, from: 3, through: 40)
        playback.play()
        try await playback.waitForEnd()
        var offsets: [UInt64] = []
        for try await commit in playback.commits { offsets.append(commit.offset) }
        #expect(offsets == Array(4...40))
        // Who waits for what does not come any more is told so.
        let other = try Playback(of: fixture.store)
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
        let playback = try Playback(of: fixture.store, from: then)
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
        let playback = try Playback(of: fixture.store, follows: true)
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
        let half = try Playback(of: fixture.store, from: end / 2)
        let whole = try Playback(of: fixture.store)
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
        let playback = try Playback(of: fixture.store)
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
