import StrataLog
import StrataModel
import StrataSystem

/// A log as of a commit; later commits are not in it.
final class HistoricalLog: ReadOnlyLog {
    private let log: any EventLog
    let storeID: Identifier
    private let last: Lock<(position: Position, time: Int64?)>
    var end: Position { last.withLock { $0.position } }
    var endTime: Int64? { last.withLock { $0.time } }

    /// - Parameters:
    ///   - log: the log to read, which this one does not close.
    ///   - offset: the offset of a commit that the log has, or of its floor.
    /// - Throws: ``StrataError`` `outOfRange` for any other offset.
    init(_ log: any EventLog, of store: Identifier, through offset: UInt64) throws {
        self.log = log
        storeID = store
        last = Lock(try Self.place(offset, of: log, from: log.floor.offset))
    }

    /// Extends the log to a later commit.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for an offset that the log does not have, or before the current end.
    func advance(to offset: UInt64) throws {
        if offset > log.end.offset { _ = try (log as? FollowerLog)?.refresh() }
        let place = try Self.place(offset, of: log, from: end.offset)
        last.withLock { $0 = place }
    }

    /// Returns a cursor for the commits that came later.
    func readLater() throws -> any CommitCursor {
        _ = try (log as? FollowerLog)?.refresh()
        return try log.read(from: end.offset + 1)
    }

    /// Returns once there is a later commit, the task is canceled, or the log is closed.
    func waitForLater() async { await log.waitForEnd(past: end.offset) }

    private static func place(
        _ offset: UInt64, of log: any EventLog, from first: UInt64
    ) throws -> (position: Position, time: Int64?) {
        guard first <= offset, offset <= log.end.offset else {
            throw StrataError(
                .outOfRange, "The log has no state at that offset.",
                .init(expected: "\(first) to \(log.end.offset)", found: "\(offset)"))
        }
        let time = offset == log.floor.offset ? try log.readBase()?.time : try log.commit(at: offset)?.time
        return (Position(offset: offset, chain: try log.chain(at: offset)), time)
    }

    var floor: Position { log.floor }

    func commit(at offset: UInt64) throws -> Commit? { offset > end.offset ? nil : try log.commit(at: offset) }
    func read(from offset: UInt64) throws -> any CommitCursor {
        PastCursor(cursor: try log.read(from: min(offset, end.offset + 1)), last: end.offset)
    }
    func chain(at offset: UInt64) throws -> UInt32 {
        guard offset <= end.offset else {
            throw StrataError(
                .outOfRange, "The commit is later than the state that the store shows.",
                .init(offset: offset, expected: "\(end.offset)"))
        }
        return try log.chain(at: offset)
    }
    func firstOffset(notBefore time: Int64) throws -> UInt64? {
        try log.firstOffset(notBefore: time).flatMap { $0 > end.offset ? nil : $0 }
    }
    func touches(zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        cut(try log.touches(zone: zone, after: min(offset, end.offset), limit: limit))
    }
    func touches(record name: [UInt8], in zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        cut(try log.touches(record: name, in: zone, after: min(offset, end.offset), limit: limit))
    }
    func lastTouches(
        record name: [UInt8], in zone: UInt64, through last: UInt64, limit: Int
    ) throws -> LastTouches {
        try log.lastTouches(record: name, in: zone, through: min(last, end.offset), limit: limit)
    }
    func base() throws -> Position? { try log.base() }
    func readBase() throws -> BaseReader? { try log.readBase() }

    private func cut(_ page: TouchPage) -> TouchPage {
        guard page.readThrough >= end.offset else { return page }
        let touches = page.touches.prefix { $0.offset <= end.offset }
        return TouchPage(touches: Array(touches), readThrough: end.offset, moreComing: false)
    }

    func sync() throws {}
    /// Returns only when the task is canceled or the log is closed, since nothing comes after the end.
    func waitForEnd(past offset: UInt64) async { await log.waitForEnd(past: UInt64.max) }
    func close() throws {}
}

private struct PastCursor: CommitCursor {
    var cursor: any CommitCursor
    let last: UInt64

    mutating func next() throws -> Commit? {
        guard let commit = try cursor.next(), commit.offset <= last else { return nil }
        return commit
    }
}
