import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

/// A store of format 1 as it was written when the format was fixed. Later versions must read it, and write it just so.
@Suite("The golden store of format 1")
struct GoldenStoreTests {
    private static let names = [
        "STORE", "log/00000000000000000001.seg", "log/00000000000000000005.seg",
    ]

    private static let directory: String = {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        return root.joined(separator: "/") + "/Golden/format-1"
    }()

    /// Stored and compressed payloads, batches, a close in between, and a switch to a second segment.
    private func generate() throws -> (store: TinyStore, commits: [NewCommit]) {
        let store = TinyStore(seed: 2026)
        var text = CommitSequence(seed: 2026, noise: 0)
        var commits = text.next(2, events: 1, bytesPerEvent: 20) + text.next(2, events: 5, bytesPerEvent: 200)
        var log = try store.open()
        _ = try log.append([commits[0]], expecting: log.end)
        _ = try log.append(Array(commits[1...]), expecting: log.end)
        try log.close()
        // A commit that does not compress and no longer fits, then a small one that still fits there.
        var noise = CommitSequence(seed: 2027, noise: 1)
        var more = noise.next(1, events: 64, bytesPerEvent: 1_010) + noise.next(1, events: 1, bytesPerEvent: 150)
        for index in more.indices { more[index].time = text.time + 5_000_000 }
        log = try store.open()
        for commit in more { _ = try log.append([commit], expecting: log.end) }
        try log.close()
        commits += more
        return (store, commits)
    }

    private func golden() throws -> TinyStore {
        let store = TinyStore()
        for name in Self.names {
            let bytes = try RealFileSystem().readAll(Self.directory + "/" + name, atMost: 1 << 20)
            store.disk.setContent(bytes, of: store.path + "/" + name)
        }
        return store
    }

    @Test("It opens, and has the commits that it was given")
    func opens() throws {
        let store = try golden()
        #expect(store.verify().damage == nil)
        let expected = expectedCommits(try generate().commits)
        #expect(try store.reader().allCommits() == expected)
        let log = try store.open()
        #expect(log.recovery == RecoveryReport(replayedCommits: 2))
        #expect(try log.allCommits() == expected)
        #expect(log.identity.created == 1_000_000 && log.identity.containerIdentifier == "iCloud.local")
        // What never changes, written down once more: a change of format 1 must show here.
        #expect(log.end.description == "6/" + Self.lastChain)
        _ = try log.append([CommitSequence.later(than: log)], expecting: log.end)
        try log.close()
        #expect(try store.open().end.offset == 7)
    }

    private static let lastChain = "11ad9c99"

    @Test("Writing it again gives the same bytes; STRATA_UPDATE_GOLDEN=1 writes them")
    func sameBytes() throws {
        let store = try generate().store
        #expect(Set(store.disk.paths) == Set((Self.names + ["LOCK"]).map { store.path + "/" + $0 }))
        let files = RealFileSystem()
        for name in Self.names {
            let bytes = try store.disk.content(of: store.path + "/" + name)
            if getenv("STRATA_UPDATE_GOLDEN") != nil {
                for folder in ["", "/log"] { try files.makeDirectory(Self.directory + folder) }
                try files.replace(Self.directory + "/" + name, in: Self.directory, with: bytes)
            }
            let kept = try files.readAll(Self.directory + "/" + name, atMost: 1 << 20)
            #expect(kept.count == bytes.count && kept == bytes, "\(name)")
        }
    }
}

extension CommitSequence {
    fileprivate static func later(than log: SegmentedLog) -> NewCommit {
        var sequence = CommitSequence(seed: 5)
        var commit = sequence.next()
        commit.time += log.endTime ?? 0
        return commit
    }
}
