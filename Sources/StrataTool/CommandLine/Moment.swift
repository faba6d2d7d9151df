import StrataLog
import StrataModel
import StrataStore
import StrataSystem

/// A point in a store's history, as given on a command line.
enum Moment: Sendable, Equatable {
    /// The last commit to include.
    case commit(CommitOperand)
    /// A time in microseconds since 1970. Commits made at exactly that time are included.
    case time(Int64)
}

extension Option where Value == Moment {
    /// For commands that show a state.
    static let at = point("show the state at this point")

    static func point(_ help: String) -> Option {
        moment(
            "--at",
            help: help + ": an offset, HEAD~1, 2026-11-21, 2026-11-21T05:18:03Z, 15m or \"15 minutes ago\" (also s, h, "
                + "d, w), today, yesterday, \"last week\" or @MICROSECONDS")
    }

    static func moment(_ name: String, help: String) -> Option {
        Option(name: name, valueName: "OFFSET|TIME", help: help) { text throws(UsageError) in
            if let moment = try Moment(text, as: name) { return moment }
            throw UsageError("\(name) takes an offset, or a time such as \(Moment.timeExamples); '\(text)' is neither")
        }
    }
}

extension Moment {
    static let timeExamples =
        "2026-11-21, 2026-11-21T05:18:03Z, 90s, 15m, 2h, 3d, \"2 hours ago\", \"last week\", yesterday or @MICROSECONDS"

    /// Returns nil for text that is neither an offset nor a time.
    /// - Parameter name: the name of the argument, for error messages.
    init?(_ text: String, as name: String) throws(UsageError) {
        if let commit = CommitOperand(parsing: text) {
            if case .offset(let offset) = commit, offset > Version.maximumOffset {
                throw UsageError("\(name) \(text) is larger than any offset")
            }
            self = .commit(commit)
            return
        }
        guard let time = Timestamp(parsing: text, now: SystemTime().nowMicroseconds()) else { return nil }
        self = .time(time.microseconds)
    }
}

extension Moment {
    /// Returns the offset of the last commit to include.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for a point after the end, or in compacted history.
    func offset(in log: any HistoryLog) throws -> UInt64 {
        switch self {
        case .commit(let commit):
            let (floor, end) = (log.floor.offset, log.end.offset)
            let offset = commit.offset(upTo: end)
            let isBeforeAll = offset == 0 && ![CommitOperand.offset(0), .fromEnd(end + 1)].contains(commit)
            guard (floor...end).contains(offset), !isBeforeAll else { throw Self.error(log, "\(commit)") }
            return offset
        case .time(let time):
            do { return try log.lastOffset(notAfter: time) } catch let error as StrataError
                where error.code == .outOfRange
            { throw Self.error(log, "@\(time)") }
        }
    }

    private static func error(_ log: any HistoryLog, _ found: String) -> StrataError {
        StrataError(
            .outOfRange, "The store has no state at that point.",
            .init(expected: "an offset from \(log.floor.offset) to \(log.end.offset), or a time", found: found))
    }
}

extension Refusal {
    /// Calls `body`, and refuses a point of time that the store does not have.
    static func unlessFound<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StrataError where error.code == .outOfRange {
            throw Refusal(.invalidArguments, "\(error)")
        }
    }
}

extension Store {
    /// Opens a store as it was at a point, or at its end. Its files are only read.
    static func openForReading(
        at path: String, _ moment: Moment?, options: StoreOptions = .service
    ) throws -> Store {
        guard let moment else { return try openForReading(at: path, options: options) }
        try StoreAccess.requireDirectory(path)
        let platform = Platform(files: ReadOnlyFiles())
        let offset = try moment.offset(in: LogReader.open(at: path, platform: platform))
        return try Store.open(at: path, through: offset, options: options.lean, platform: platform)
    }
}
