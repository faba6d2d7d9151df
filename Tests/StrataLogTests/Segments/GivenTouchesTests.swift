import StrataModel
import TestSupport
import Testing

@testable import StrataLog

@Suite("Commits that come with their touches")
struct GivenTouchesTests {
    @Test("A payload that replaces another is listed by its own touches", arguments: [10, 100, 3_000])
    func changedPayload(bytes: Int) throws {
        let store = TinyStore()
        let log = try store.open()
        var sequence = CommitSequence(seed: 1, noise: 0)
        let first = sequence.next(events: 3, bytesPerEvent: 200)
        let given = try first.payload.withUnsafeBytes { try Envelope.touches(of: $0) }
        var commit = NewCommit(id: first.id, time: first.time, payload: first.payload, touches: given)
        commit.payload = sequence.next(events: 2, bytesPerEvent: bytes).payload
        _ = try log.append([commit], expecting: .start)
        #expect(try log.allCommits() == expectedCommits([commit]))
        #expect(try log.touches(zone: 1, after: 0, limit: 9) == touches(of: commit, zone: 1))
        #expect(try store.left(keeping: .nothingUnsynced).open().allCommits() == expectedCommits([commit]))
    }

    /// What a log that saw nothing but this payload says.
    private func touches(of commit: NewCommit, zone: UInt64) throws -> TouchPage {
        let log = MemoryLog()
        _ = try log.append([NewCommit(id: commit.id, time: commit.time, payload: commit.payload)], expecting: .start)
        return try log.touches(zone: zone, after: 0, limit: 9)
    }
}
