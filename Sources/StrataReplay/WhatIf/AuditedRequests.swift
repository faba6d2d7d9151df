import StrataLog
import StrataModel

/// The audits of requests that wrote nothing, by the states on which these requests were judged.
///
/// An audit is written up to some seconds after its request was judged, behind the commits of the meantime. A cursor of
/// its own therefore reads ahead of the commits that are judged again.
struct AuditedRequests {
    /// The number of commits that are read ahead. A request whose audit comes later is not judged again, and is
    /// reported.
    static let lookahead: UInt64 = 65_536

    private var cursor: any CommitCursor
    private let end: UInt64
    private var readThrough: UInt64
    private let lookahead: UInt64
    /// The offsets of audits, by the newest commit in the state that their requests were judged on.
    private var offsets: [UInt64: [UInt64]] = [:]

    /// - Parameters:
    ///   - first: the first commit to judge again.
    ///   - lookahead: smaller in tests.
    init(_ log: any EventLog, from first: UInt64, through end: UInt64, lookahead: UInt64 = Self.lookahead) throws {
        cursor = try log.read(from: first)
        self.end = end
        self.lookahead = lookahead
        readThrough = first - 1
    }

    /// Returns the audits of the requests that were judged on a state. The states must be asked for in order.
    mutating func offsets(judgedOn state: UInt64) throws -> [UInt64] {
        while readThrough < min(end, state + lookahead), let commit = try cursor.next() {
            readThrough = commit.offset
            let header = try commit.header
            guard header.isLazy, let judgedOn = header.judgedOn, judgedOn >= state else { continue }
            offsets[judgedOn, default: []].append(commit.offset)
        }
        return offsets.removeValue(forKey: state) ?? []
    }
}
