import StrataLog
import StrataModel

extension Store {
    /// The store as it was when a commit was its last, for reading; what was written later is not in it. As many of
    /// them as anybody likes can be open at once, and none disturbs whoever writes.
    ///
    /// ```swift
    /// let past = try store.asOf(1_207)
    /// let note = try past.snapshot().record(id, in: database, as: anna)
    /// try past.close()
    /// ```
    /// - Throws: ``StrataError`` `outOfRange` for an offset behind the end, and for one whose history was let go.
    public func asOf(_ offset: UInt64) throws -> Store {
        try gate.requireOpen()
        return Store(try engine.past(through: offset), nil, .readOnly)
    }

    /// As ``asOf(_:)``, with a state that nobody else goes on from: cheaper for who looks at one offset, and for who
    /// writes much behind it.
    ///
    /// - Parameter memoryPages: of those that are in memory, and not in a file without a name; a store that is in
    ///   memory itself has no file for them.
    package func asOf(_ offset: UInt64, aloneIn memoryPages: Int) throws -> Store {
        try gate.requireOpen()
        return Store(try engine.pastAlone(through: offset, memoryPages: memoryPages), nil, .readOnly)
    }

    /// Moves a store that shows the past on, to a later commit or the one that it shows; what that costs goes by the
    /// commits between. Snapshots stay what they are.
    ///
    /// ```swift
    /// let before = past.snapshot()
    /// try past.advance(to: past.offset + 1)
    /// try past.snapshot().forEachDifference(since: before) { print($0.id, $0.kind); return true }
    /// ```
    /// - Throws: ``StrataError``: `outOfRange` for an offset in front of what it shows, or behind the end of the log;
    ///   `invalidArgument` for a store that does not show the past.
    public func advance(to offset: UInt64) throws {
        try gate.requireOpen()
        try engine.advance(to: offset)
    }

    /// The store as it was at a time, in microseconds since 1970: with all that was committed up to then, and nothing
    /// that came later.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for a time whose history was let go.
    public func asOf(time: Int64) throws -> Store {
        try gate.requireOpen()
        let offset = try log.lastOffset(notAfter: time)
        // What is in the log and not published yet is nobody's past.
        return try asOf(min(offset, self.offset))
    }
}
