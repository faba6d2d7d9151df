import StrataLog
import StrataModel
import StrataSystem

/// A log as it was when a commit was its last: what came later is not in it.
final class PastLog: OnlyReadLog {
    private let log: any EventLog
    let storeID: Identifier
    let end: Position
    let endTime: Int64?

    /// - Parameters:
    ///   - log: is not closed by this one.
    ///   - offset: of a commit that the log has, or its floor.
    /// - Throws: ``StrataError`` `outOfRange` for any other.
    init(_ log: any EventLog, of store: Identifier, through offset: UInt64) throws {
        guard (log.floor.offset...log.end.offset).contains(offset) else {
            throw StrataError(
                .outOfRange, "The log has no state at that offset.",
                .init(expected: "\(log.floor.offset) to \(log.end.offset)", found: "\(offset)"))
        }
        self.log = log
        storeID = store
        end = Position(offset: offset, chain: try log.chain(at: offset))
        endTime = offset == log.floor.offset ? try log.readBase()?.time : try log.commit(at: offset)?.time
    }

    var floor: Position { log.floor }

    func commit(at offset: UInt64) throws -> Commit? { offset > end.offset ? nil : try log.commit(at: offset) }
    func read(from offset: UInt64) throws -> any CommitCursor {
        PastCursor(cursor: try log.read(from: min(offset, end.offset + 1)), last: end.offset)
    }
    func chain(at offset: UInt64) throws -> UInt32 {
        guard offset <= end.offset else {
            throw StrataError(.outOfRange, "The commit came later.", .init(offset: offset, expected: "\(end.offset)"))
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
    func base() throws -> Position? { try log.base() }
    func readBase() throws -> BaseReader? { try log.readBase() }

    private func cut(_ page: TouchPage) -> TouchPage {
        guard page.readThrough >= end.offset else { return page }
        let touches = page.touches.prefix { $0.offset <= end.offset }
        return TouchPage(touches: Array(touches), readThrough: end.offset, moreComing: false)
    }

    func sync() throws {}
    /// Nothing comes behind the end.
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
