import StrataLog
import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("Pasts that come again")
struct PlayedStoreTests {
    @Test(
        "At each offset the state is the one that is made for it, also of a log with gaps, crashes and a floor",
        arguments: TwinStore.Ground.allCases)
    func seeded(ground: TwinStore.Ground) throws {
        try withSeeds(3) { seed in
            var twin = try TwinStore(ground, seed: seed)
            for step in 1...60 {
                try twin.step()
                if step == 30 { try twin.compact(to: twin.log.floor.offset + twin.log.end.offset / 3) }
            }
            let store = twin.store
            let played = try store.played(from: store.log.floor.offset, through: store.offset)
            var count = 0
            var cursor = try played.laterCommits()
            while let commit = try cursor.next() {
                try played.play([commit])
                count += 1
                let past = try store.asOf(commit.offset)
                #expect(
                    try played.snapshot().digests() == past.snapshot().digests(), "seed \(seed) at \(commit.offset)")
                try past.close()
                #expect(played.log.endTime == commit.time)
            }
            #expect(count > 20 && played.offset == store.offset)
            let first = try #require(try store.log.commit(at: played.offset - 1) ?? store.log.commit(at: played.offset))
            #expect(throws: StrataError.self) { try played.play([first]) }
            try played.close()
            #expect(throws: StrataError.self) { try played.laterCommits() }
            try store.close()
        }
    }

    @Test("Commits that cannot be played change nothing, and can be played when they are whole")
    func unplayable() throws {
        let store = try Store.inMemory()
        for name in ["A", "B", "C"] { try store.modify(.zones(saving: [ZoneID(name)]), as: Actor(user: "anna")) }
        let played = try store.played(from: 1, through: store.offset)
        let commits = try (2...store.offset).map { try #require(try store.log.commit(at: $0)) }
        var broken = commits
        broken[broken.count - 1].payload = try #require(try store.log.commit(at: 1)).payload
        #expect(throws: StrataError.self) { try played.play(broken) }
        #expect(played.offset == 1 && played.log.end.offset == 1)
        try played.play(commits)
        #expect(played.offset == store.offset && played.log.end.offset == store.offset)
        try played.close()
        try store.close()
    }

    @Test("Whoever waits for a change of a past is woken when it is moved on")
    func waiting() async throws {
        let store = try Store.inMemory()
        let anna = Actor(user: "anna")
        for name in ["A", "B"] { _ = try await store.modify(.zones(saving: [ZoneID(name)]), as: anna) }
        let past = try store.asOf(1)
        let waiting = Task { try await past.waitForChange(past: 1) }
        try past.advance(to: 2)
        #expect(try await waiting.value)
        // Only one that is played has devices.
        #expect { try past.listen(as: anna) } throws: { ($0 as? StrataError)?.code == .onlyRead }
        try past.close()
        try store.close()
    }
}
