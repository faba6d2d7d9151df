import StrataModel
import StrataSystem

@testable import StrataLog

/// A log with a bug, which a harness must find: it would find nothing in the product otherwise.
final class BrokenLog: EventLog, ForwardingLog {
    enum Bug: CaseIterable {
        case dropsCommit, swapsPayload, forgetsChain, repeatsOffset, splitsTouches, ignoresConflict
    }

    let log = MemoryLog()
    var source: MemoryLog { log }
    let bug: Bug

    init(_ bug: Bug) { self.bug = bug }

    var durableEnd: Position { log.durableEnd }
    var assignsNextOffset: Bool { true }
    var maximumCommitBytes: Int { log.maximumCommitBytes }

    func append(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        let expecting = bug == .ignoresConflict ? log.end : expecting
        guard bug == .dropsCommit, log.end.offset == 20 else { return try log.append(commits, expecting: expecting) }
        // Acknowledged, and not kept.
        let lost = Position(offset: log.end.offset + 1, chain: 1)
        return Appended(positions: Array(repeating: lost, count: commits.count))
    }

    func appendLazily(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        try append(commits, expecting: expecting)
    }

    func sync() throws { try log.sync() }
    func commit(at offset: UInt64) throws -> Commit? { try log.commit(at: offset).map(broken) }
    func read(from offset: UInt64) throws -> any CommitCursor { Cursor(log: self, cursor: try log.read(from: offset)) }

    func touches(zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        var page = try log.touches(zone: zone, after: offset, limit: limit)
        if bug == .splitsTouches, page.touches.count > limit { page.touches = Array(page.touches.prefix(limit)) }
        return page
    }

    func waitForEnd(past offset: UInt64) async { await log.waitForEnd(past: offset) }
    func trim(to offset: UInt64) throws -> Position { try log.trim(to: offset) }
    func rewrite(
        through offset: UInt64, lookup: @escaping NameLookup, _ rewritten: PayloadRewriting
    ) throws { try log.rewrite(through: offset, lookup: lookup, rewritten) }
    func close() throws { try log.close() }

    fileprivate func broken(_ commit: Commit) -> Commit {
        var commit = commit
        switch bug {
        case .swapsPayload where commit.offset == 7: commit.payload = commit.payload.dropLast() + [0xAA]
        case .forgetsChain where commit.offset > 10:
            commit.chain = Chain.value(
                after: 0, offset: commit.offset, time: commit.time,
                payload: UnsafeRawBufferPointer(start: nil, count: 0))
        case .repeatsOffset where commit.offset == 9: commit.offset = 8
        default: break
        }
        return commit
    }

    private struct Cursor: CommitCursor {
        let log: BrokenLog
        var cursor: any CommitCursor

        mutating func next() throws -> Commit? { try cursor.next().map(log.broken) }
    }
}
