import StrataLog
import StrataModel

/// A log that this process only reads.
protocol OnlyReadLog: EventLog {
    var storeID: Identifier { get }
}

extension OnlyReadLog {
    var durableEnd: Position { end }
    var assignsNextOffset: Bool { true }
    var maximumCommitBytes: Int { LogFormat.maximumCommitBytes }

    func prepare(_ commit: inout NewCommit) throws { throw FollowedLog.error }
    func append(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        throw .notWritten(FollowedLog.error)
    }
    func appendLazily(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        throw .notWritten(FollowedLog.error)
    }
    func trim(to offset: UInt64) throws -> Position { throw FollowedLog.error }
    func rewrite(
        through offset: UInt64, lookup: @escaping NameLookup, _ rewritten: PayloadRewriting
    ) throws { throw FollowedLog.error }
}
