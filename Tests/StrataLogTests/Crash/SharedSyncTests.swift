import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

/// The writer and the thread that writes zeros ahead sync the same file. The system reports a failure once, to whoever
/// syncs first, and takes all that was written until then for written.
@Suite("Two threads sync one file")
struct SharedSyncTests {
    private struct Moment {
        var isCommitWritten = false
        var hasFailed = false
    }

    private let store = TinyStore()
    private let moment = Monitor(Moment())

    /// Lets the zeros' sync fail while a commit is written and not yet synced.
    private func install() {
        let path = store.segment(1)
        let writer = pthread_self()
        store.disk.beforeCall = { [moment, weak disk = store.disk] kind, name in
            guard let disk, kind == .syncData, name == path else { return }
            if pthread_equal(pthread_self(), writer) != 0 {
                moment.withLock { $0.isCommitWritten = true }
                moment.notifyAll()
                let count = disk.count(of: .syncData)
                for _ in 0..<200 where disk.count(of: .syncData) == count { usleep(1_000) }
                // Zeros that come to their sync from here on wait for the next commit.
                moment.withLock { $0.isCommitWritten = false }
            } else if moment.wait(milliseconds: 2_000, { $0.isCommitWritten ? true : nil }) == true {
                moment.withLock { $0.hasFailed = true }
                disk.fail(.syncData, at: 1, with: .syncLoses, on: path)
            }
        }
    }

    @Test("A commit that was forgotten when the zeros' sync failed is not acknowledged as durable")
    func failureOfZeros() throws {
        var options = TinyStore.options
        options.spaceStepBytes = 8 << 10
        let log = try store.open(options)
        var sequence = CommitSequence(seed: 1, noise: 1)
        let commits = sequence.next(40, events: 1, bytesPerEvent: 500)
        _ = try log.append([commits[0]], expecting: .start)
        // Zeros are there for the next commits; some commits later more are wanted, a good deal behind those.
        _ = try eventually { try store.disk.content(of: store.segment(1)).count >= 8 << 10 }
        usleep(20_000)
        install()
        var acknowledged = 1
        for commit in commits[1...] where !moment.withLock({ $0.hasFailed }) {
            if appendOutcome({ _ = try log.append([commit], expecting: log.end) }) == nil { acknowledged += 1 }
        }
        store.disk.beforeCall = nil
        #expect(moment.withLock { $0.hasFailed })
        let left = try store.left(keeping: .nothingUnsynced).open()
        #expect(left.end.offset >= UInt64(acknowledged))
        let expected = expectedCommits(Array(commits[..<Int(left.end.offset)]))
        #expect(firstDifference(try left.allCommits(), expected) == nil)
    }
}
