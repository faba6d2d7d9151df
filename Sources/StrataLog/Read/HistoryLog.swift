import StrataModel

/// A log whose history can be read, by offset and by time.
package protocol HistoryLog {
    /// The last commit that is visible to readers; before the first one, the floor.
    var end: Position { get }
    /// The time of the commit at the end; nil before the first commit of the log's life.
    var endTime: Int64? { get }
    /// The history up to here has been discarded: reads start after it.
    var floor: Position { get }
    /// Returns the commit at exactly this offset; nil if there is none.
    func commit(at offset: UInt64) throws -> Commit?
    /// Reads from the first commit at or after `offset` up to the end, which may move during the reading.
    /// - Throws: `.outOfRange` if `offset` is at or below the floor.
    func read(from offset: UInt64) throws -> any CommitCursor
    /// Returns the offset of the first commit that is not older than `time`; nil if all are older.
    func firstOffset(notBefore time: Int64) throws -> UInt64?
    /// Returns the chain value at an offset that is the floor or has a commit.
    func chain(at offset: UInt64) throws -> UInt32
    /// Returns the position up to which a compaction replaced history by complete state; nil if history goes back to
    /// the first commit, or was only trimmed.
    func base() throws -> Position?
    /// Returns the payloads that replace discarded history; nil if there are none.
    func readBase() throws -> BaseReader?

    /// Returns the touches of a zone after `offset`, in order: about `limit` entries, or more if one commit has more,
    /// because a commit's entries are never split.
    func touches(zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage

    /// Returns the touches of one record after `offset`, in order: about `limit` entries, or more if one commit has
    /// more.
    func touches(record name: [UInt8], in zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage

    /// Returns where the last `limit` entries of a record up to `last` begin, reading from the end and no further than
    /// necessary. The commit found may bring the number above `limit`; if there are fewer entries, it is smaller.
    func lastTouches(
        record name: [UInt8], in zone: UInt64, through last: UInt64, limit: Int
    ) throws -> LastTouches
}

extension HistoryLog {
    /// Returns the offset of the last commit made at or before a time, in microseconds since 1970; 0 if all are later.
    ///
    /// - Throws: ``StrataError`` `outOfRange` if that commit was discarded.
    package func lastOffset(notAfter time: Int64) throws -> UInt64 {
        guard let next = try firstOffset(notBefore: time == .max ? time : time + 1) else { return end.offset }
        // Of the discarded commits, the base has only the last one's time.
        if next == floor.offset + 1, floor.offset > 0, try readBase().map({ $0.time > time }) ?? true {
            throw StrataError(
                .outOfRange, "The history up to that time has been compacted.",
                .init(expected: "the time of offset \(floor.offset) or later", found: "@\(time)"))
        }
        return next - 1
    }

    /// Returns true if the log has that chain value at that offset.
    package func has(_ position: Position) throws -> Bool {
        if position.offset == 0 { return position.chain == 0 }
        guard (floor.offset...end.offset).contains(position.offset) else { return false }
        return try chain(at: position.offset) == position.chain
    }
}
