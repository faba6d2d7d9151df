import StrataModel

/// A log that reads from another one, its source, what it does not answer itself.
package protocol ForwardingLog: HistoryLog {
    associatedtype Source: HistoryLog
    var source: Source { get }
}

extension ForwardingLog {
    @inlinable package var end: Position { source.end }
    @inlinable package var endTime: Int64? { source.endTime }
    @inlinable package var floor: Position { source.floor }

    @inlinable package func commit(at offset: UInt64) throws -> Commit? { try source.commit(at: offset) }
    @inlinable package func read(from offset: UInt64) throws -> any CommitCursor { try source.read(from: offset) }
    @inlinable package func firstOffset(notBefore time: Int64) throws -> UInt64? {
        try source.firstOffset(notBefore: time)
    }
    @inlinable package func chain(at offset: UInt64) throws -> UInt32 { try source.chain(at: offset) }
    @inlinable package func base() throws -> Position? { try source.base() }
    @inlinable package func readBase() throws -> BaseReader? { try source.readBase() }

    @inlinable package func touches(zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        try source.touches(zone: zone, after: offset, limit: limit)
    }

    @inlinable package func touches(
        record name: [UInt8], in zone: UInt64, after offset: UInt64, limit: Int
    ) throws -> TouchPage {
        try source.touches(record: name, in: zone, after: offset, limit: limit)
    }

    @inlinable package func lastTouches(
        record name: [UInt8], in zone: UInt64, through last: UInt64, limit: Int
    ) throws -> LastTouches {
        try source.lastTouches(record: name, in: zone, through: last, limit: limit)
    }
}
