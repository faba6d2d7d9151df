import StrataModel

/// An append-only sequence of commits: the only source of truth of a store.
///
/// Offsets grow, and may leave gaps. Every implementation passes the same contract suite, and may at any time accept
/// only a prefix of the given commits, report a conflict, or leave the outcome of an append unknown.
///
/// ```swift
/// let end = log.end
/// let appended = try log.append([commit], expecting: end)
/// appended.positions.last
/// ```
package protocol EventLog: HistoryLog, AnyObject, Sendable {
    /// The last commit that survives a loss of power.
    var durableEnd: Position { get }
    /// True if the next commit gets the offset after the end, unless another append comes first. If it may get a later
    /// one, a commit is decided only once the preceding one is in the log.
    var assignsNextOffset: Bool { get }
    /// The maximum length of a commit's payload.
    var maximumCommitBytes: Int { get }
    /// True if other processes append too, so that the end moves at any time.
    var isShared: Bool { get }
    /// The segments on this machine that keep the log's commits; nil if there are none.
    var segments: SegmentedLog? { get }

    /// Brings a shared log up to date: returns an end that has every commit acknowledged to anyone before the call.
    ///
    /// - Throws: ``StrataError`` if that cannot be confirmed; what is known can still be read.
    func confirmEnd() throws -> Position

    /// True while a shared log is finding out what became of an append whose outcome is unknown. After that, its
    /// commits follow the position that it expected, or they never will. Other logs find it out when they are opened
    /// again.
    var isUnsettled: Bool { get }

    /// Begins to follow the other writers of a shared log, and to find out about appends whose outcome is unknown.
    /// Called once.
    ///
    /// - Parameter body: called after others' commits were added, and after an outcome was found out, on any thread.
    func follow(_ body: @escaping @Sendable () -> Void) throws

    /// Returns true for a commit that this process appended; false if that is no longer known.
    func isOwn(_ offset: UInt64) -> Bool

    /// Appends commits after `expecting`, which must be the end: all of them or a prefix, which is never empty.
    ///
    /// The expectation is checked before the times of the commits. After a conflict, the log has everything up to the
    /// end that the conflict names.
    ///
    /// If commits with the same ids already follow `expecting`, they count as appended: repeating an append whose
    /// outcome was unknown is safe.
    func append(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended

    /// Like ``append(_:expecting:)``, for commits that may be lost in a crash: returns before they are durable,
    /// whatever else the log promises. The next durable append, or ``sync()``, makes them durable.
    func appendLazily(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended

    /// Returns once everything up to the present end is durable.
    func sync() throws

    /// Returns once the end is after `offset`, the log is closed, or the task is canceled.
    func waitForEnd(past offset: UInt64) async

    /// Discards history up to `offset` or a little less, and returns the new floor.
    func trim(to offset: UInt64) throws -> Position

    /// Replaces payloads of commits up to `offset`, for good. Positions, ids, times and chain values stay the same, and
    /// on return no file of the log contains the old payloads. It can be repeated.
    ///
    /// - Parameters:
    ///   - lookup: returns names that the log stores with the commits that use them.
    ///   - rewritten: returns payloads with the same touches. It may be called more than once for a commit, and for
    ///     commits that no longer need to be replaced.
    func rewrite(
        through offset: UInt64, lookup: @escaping NameLookup, _ rewritten: PayloadRewriting
    ) throws

    /// Ends all use. Accepted commits are then durable.
    func close() throws
}

extension EventLog {
    package var isShared: Bool { false }
    package var segments: SegmentedLog? { nil }
    package func confirmEnd() throws -> Position { end }
    package var isUnsettled: Bool { false }
    package func follow(_ body: @escaping @Sendable () -> Void) throws {}
    package func isOwn(_ offset: UInt64) -> Bool { true }
}

/// Returns the new payload of the commit at an offset; nil if the payload does not change.
package typealias PayloadRewriting = (_ offset: UInt64, _ payload: ArraySlice<UInt8>) throws -> [UInt8]?

/// The result of a successful append.
package struct Appended: Sendable, Equatable {
    /// The positions of the accepted commits, which are a prefix of those given.
    package var positions: [Position]

    package init(positions: [Position]) { self.positions = positions }

    package var count: Int { positions.count }
}

/// The ways in which an append fails, or its outcome remains unknown.
package enum AppendFailure: Error, Sendable {
    /// Another append came first; this is the end now.
    case conflict(Position)
    /// Nothing was written.
    case notWritten(StrataError)
    /// The outcome is unknown. A shared log refuses other writes until it is settled, other logs until they are opened
    /// again.
    case unknown(StrataError)
    /// A payload is longer than the limit; nothing was written.
    case tooLarge(limit: Int)
}

extension ArraySlice<NewCommit> {
    /// Checks that the commits can follow a position.
    ///
    /// - Parameters:
    ///   - time: the time of the commit at that position.
    ///   - path: the path of the log, for errors; nil if it has none.
    package func checkOrder(
        after end: Position, time: Int64, path: @autoclosure () -> String? = nil
    ) throws(AppendFailure) {
        var time = time
        for commit in self {
            guard commit.time >= time else {
                throw .notWritten(
                    StrataError(
                        .invalidArgument, "A commit's time must not be before that of the previous commit.",
                        .init(path: path(), expected: "\(time) or later", found: "\(commit.time)")))
            }
            time = commit.time
        }
        guard end.offset + UInt64(count) <= Version.maximumOffset else {
            throw .notWritten(StrataError(.outOfRange, "The log has no more offsets.", .init(offset: end.offset)))
        }
    }
}

extension AppendFailure: CustomStringConvertible {
    /// The error of a write; nil for a refusal, which came before it.
    package var cause: StrataError? {
        switch self {
        case .notWritten(let error), .unknown(let error): error
        case .conflict, .tooLarge: nil
        }
    }

    package var description: String {
        switch self {
        case .conflict(let end): "another append came first; the end is now \(end)"
        case .notWritten(let error): "nothing was written: \(error)"
        case .unknown(let error): "it is not known whether it was written: \(error)"
        case .tooLarge(let limit): "a commit may have at most \(limit) bytes"
        }
    }
}
