import StrataModel

/// An append-only sequence of commits: the only truth of a store.
///
/// Offsets grow; they may leave gaps. Every implementation passes the same contract suite, and may at any time accept
/// only a prefix of what it is given, report a conflict, or not know what became of an append.
///
/// ```swift
/// let end = log.end
/// let appended = try log.append([commit], expecting: end)
/// appended.positions.last
/// ```
public protocol EventLog: HistoryLog, AnyObject, Sendable {
    /// The last commit that readers can see; before the first one, the floor.
    var end: Position { get }
    /// The last commit that survives a loss of power.
    var durableEnd: Position { get }
    /// Time of the commit at the end; nil before the first one of the log's life.
    var endTime: Int64? { get }
    /// Whether the next commit gets the offset behind the end, unless somebody else comes first. Where it may get a
    /// later one, a commit is decided only when the one before it is in the log.
    var assignsNextOffset: Bool { get }
    /// Longest payload that a commit may have.
    var maximumCommitBytes: Int { get }

    /// Does the work on a commit that needs no place in the log, on the caller's thread; ``append(_:expecting:)`` does
    /// it otherwise.
    func prepare(_ commit: inout NewCommit) throws

    /// Appends commits behind `expecting`, which must be the end; all of them or a prefix, which is never empty.
    ///
    /// If commits with the same ids stand behind `expecting` already, they count as appended: repeating an append whose
    /// outcome was unknown is safe.
    func append(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended

    /// As ``append(_:expecting:)``, for what may be lost in a crash: returns before it is durable, whatever else the
    /// log promises. The next append that is durable, or ``sync()``, makes it so.
    func appendLazily(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended

    /// Returns once everything up to the present end is durable.
    func sync() throws

    /// What touched a zone behind `offset`, in order: about `limit` entries, more where one commit has more, since a
    /// commit's entries are never split.
    func touches(zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage

    /// What touched one record behind `offset`, in order: about `limit` entries, more where one commit has more.
    func touches(record name: [UInt8], in zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage

    /// Where the last `limit` entries of a record up to `last` begin, read from the end on, no further than need be.
    /// There are more from that commit on where it has several, and fewer if there are not so many.
    func lastTouches(
        record name: [UInt8], in zone: UInt64, through last: UInt64, limit: Int
    ) throws -> LastTouches

    /// Returns once the end is behind `offset`, or the log is closed, or the task is cancelled.
    func waitForEnd(past offset: UInt64) async

    /// Where a compaction replaced history by complete state; nil where history goes back to the first commit, or was
    /// only let go.
    func base() throws -> Position?

    /// Lets go of history up to `offset` or a little less, and returns the new floor.
    func trim(to offset: UInt64) throws -> Position

    /// Puts other payloads into the place of those up to `offset`, for good: positions, ids, times, chain values stay
    /// as they are, and what is replaced is in no file of the log any more on return. It can be repeated.
    ///
    /// - Parameters:
    ///   - lookup: names that the log keeps beside the commits that use them.
    ///   - rewritten: gives payloads that touch the same. It may be asked more than once of a commit, and of some that
    ///     are not to be replaced any more.
    func rewrite(
        through offset: UInt64, lookup: @escaping NameLookup, _ rewritten: PayloadRewriting
    ) throws

    /// Ends all use. What was accepted is durable afterwards.
    func close() throws
}

extension EventLog {
    public func readBase() throws -> BaseReader? { nil }

    /// By looking at all that touched the zone.
    public func touches(
        record name: [UInt8], in zone: UInt64, after offset: UInt64, limit: Int
    ) throws -> TouchPage {
        var page = TouchPage(touches: [], readThrough: offset, moreComing: true)
        while page.moreComing, page.touches.count < limit {
            let next = try touches(zone: zone, after: page.readThrough, limit: max(limit, TouchPage.pieceCount))
            page.touches += next.touches.filter { $0.isOf(record: name) }
            (page.readThrough, page.moreComing) = (next.readThrough, next.moreComing)
        }
        return page
    }
}

/// Another payload for the commit at an offset; nil if it stays as it is.
public typealias PayloadRewriting = (_ offset: UInt64, _ payload: ArraySlice<UInt8>) throws -> [UInt8]?

/// Gives commits one after another.
public protocol CommitCursor {
    /// The next commit; nil at the end, where asking again later may give more.
    mutating func next() throws -> Commit?
}

/// What became of an append that succeeded.
public struct Appended: Sendable, Equatable {
    /// Where the accepted commits are: one for each of a prefix of those given.
    public var positions: [Position]

    public init(positions: [Position]) { self.positions = positions }

    public var count: Int { positions.count }
}

/// Why nothing, or perhaps something, was appended.
public enum AppendFailure: Error, Sendable {
    /// Somebody else appended; this is the end now.
    case conflict(Position)
    /// Nothing happened.
    case notWritten(StrataError)
    /// Nobody can say; the log refuses writes until it is opened again.
    case unknown(StrataError)
    /// A payload is longer than the limit; nothing happened.
    case tooLarge(limit: Int)
}

extension AppendFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .conflict(let end): "another append came first; the end is now \(end)"
        case .notWritten(let error): "nothing was written: \(error)"
        case .unknown(let error): "it is not known whether it was written: \(error)"
        case .tooLarge(let limit): "a commit may have at most \(limit) bytes"
        }
    }
}

extension EventLog {
    /// For logs whose lists are in memory: from the beginning.
    public func lastTouches(
        record name: [UInt8], in zone: UInt64, through last: UInt64, limit: Int
    ) throws -> LastTouches {
        var commits: [(offset: UInt64, count: Int)] = []
        var (offset, moreComing) = (floor.offset, true)
        while moreComing {
            let page = try touches(record: name, in: zone, after: offset, limit: TouchPage.pieceCount)
            for touch in page.touches where touch.offset <= last {
                if commits.last?.offset == touch.offset {
                    commits[commits.count - 1].count += 1
                } else {
                    commits.append((touch.offset, 1))
                }
            }
            (offset, moreComing) = (page.readThrough, page.moreComing && page.readThrough < last)
        }
        var found = LastTouches(first: min(last, end.offset) + 1, count: 0)
        while found.count < limit, let commit = commits.popLast() {
            found = LastTouches(first: commit.offset, count: found.count + commit.count)
        }
        return found
    }
}
