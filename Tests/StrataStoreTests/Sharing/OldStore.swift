import Foundation
import StrataLog
import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// The history of a store that was made before secrets: anna has a public share that ben joined, one with a one-time
/// URL, and one that has ended and whose root is still there.
struct OldStore {
    let commits: [NewCommit]
    /// The tokens of the shares' URLs by the numbers of the shares.
    let tokens: [UInt64: String]
    let oneTimeToken: String

    init() throws {
        let world = try SharedStore(.publicShare)
        let once = ShareChange.Participant("once", .oneTimeURL, role: .privateUser, permission: .readOnly)
        try world.save(
            [
                .init("other", share: "Share-2"),
                .init("Share-2", sharing: ShareChange(root: "other", participants: [once])),
            ], as: "anna")
        try world.save(
            [.init("third", share: "Share-3"), .init("Share-3", sharing: ShareChange(root: "third"))], as: "anna")
        try world.save([], deleting: ["Share-3"], as: "anna")
        let state = world.store.snapshot().trees
        tokens = try Dictionary(
            uniqueKeysWithValues: (1...3).map { ($0, try #require(try state.share($0)).urlToken) })
        oneTimeToken = try #require(try state.share(2)?.oneTimeTokens.first).token
        var commits: [NewCommit] = []
        var cursor = try world.store.log.read(from: 1)
        while let commit = try cursor.next() {
            var envelope = try Envelope(decoding: commit.payload)
            envelope.events.removeAll { $0.kind == .secretDrawn }
            commits.append(NewCommit(id: commit.id, time: commit.time, payload: envelope.encoded()[...]))
        }
        self.commits = commits
    }

    func inMemory() throws -> Store {
        let log = MemoryLog()
        _ = try log.append(commits, expecting: log.end)
        return try Store(on: log)
    }

    func make(at path: String) throws {
        let log = try SegmentedLog.open(at: path, touches: { try Envelope.touches(of: $0) })
        _ = try log.append(commits, expecting: log.end)
        try log.close()
    }
}
