import StrataLog
import StrataModel

/// A log that this process only reads.
protocol ReadOnlyLog: EventLog {
    var storeID: Identifier { get }
}

extension ReadOnlyLog {
    static var error: StrataError { StrataError(.onlyRead, "The store was opened for reading only.") }

    var durableEnd: Position { end }
    var assignsNextOffset: Bool { true }
    var maximumCommitBytes: Int { LogFormat.maximumCommitBytes }

    func append(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        throw .notWritten(Self.error)
    }
    func appendLazily(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        throw .notWritten(Self.error)
    }
    func trim(to offset: UInt64) throws -> Position { throw Self.error }
    func rewrite(
        through offset: UInt64, lookup: @escaping NameLookup, _ rewritten: PayloadRewriting
    ) throws { throw Self.error }
}
