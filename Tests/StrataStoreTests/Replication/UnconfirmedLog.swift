import StrataLog
import StrataModel
import StrataReplication
import StrataSystem

/// A log that claims to be up to date without asking: a canary.
final class UnconfirmedLog: EventLog, ForwardingLog {
    private let log: ReplicatedLog
    var source: ReplicatedLog { log }

    init(_ log: ReplicatedLog) { self.log = log }

    func confirmEnd() throws -> Position { log.end }

    var durableEnd: Position { log.durableEnd }
    var assignsNextOffset: Bool { log.assignsNextOffset }
    var maximumCommitBytes: Int { log.maximumCommitBytes }
    var isShared: Bool { true }
    var segments: SegmentedLog? { log.segments }
    var isUnsettled: Bool { log.isUnsettled }
    /// Settles, but follows nothing: other processes' commits are found by conflicts only.
    func follow(_ body: @escaping @Sendable () -> Void) throws {
        let settler = try WorkerThread(name: "settle") { [log] in
            while log.settleOnce() { body() }
        }
        settler.detach()
    }
    func append(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        try log.append(commits, expecting: expecting)
    }
    func appendLazily(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        try log.appendLazily(commits, expecting: expecting)
    }
    func sync() throws { try log.sync() }
    func waitForEnd(past offset: UInt64) async { await log.waitForEnd(past: offset) }
    func trim(to offset: UInt64) throws -> Position { try log.trim(to: offset) }
    func rewrite(
        through offset: UInt64, lookup: @escaping NameLookup, _ rewritten: PayloadRewriting
    ) throws { try log.rewrite(through: offset, lookup: lookup, rewritten) }
    func close() throws { try log.close() }
}
