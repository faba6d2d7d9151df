import StrataLog
import StrataModel

extension Store {
    /// Returns the store as of a commit, for reading; later commits are not in it. Any number of such stores can be
    /// open, and none of them disturbs writers.
    ///
    /// ```swift
    /// let past = try store.asOf(1_207)
    /// let note = try past.snapshot().record(id, in: database, as: anna)
    /// try past.close()
    /// ```
    /// - Throws: ``StrataError`` `outOfRange` for an offset past the end, and for one whose history was removed.
    public func asOf(_ offset: UInt64) throws -> Store {
        try gate.requireOpen()
        return Store(try engine.past(through: offset), nil, .readOnly)
    }

    /// Like ``asOf(_:)``, with a state that is not shared: cheaper for a caller that looks at one offset, or that
    /// writes much after it.
    ///
    /// - Parameter memoryPages: the number of pages that are kept in memory rather than in an unnamed file; a store in
    ///   memory has no such file.
    package func asOf(_ offset: UInt64, aloneIn memoryPages: Int) throws -> Store {
        try gate.requireOpen()
        return Store(try engine.pastAlone(through: offset, memoryPages: memoryPages), nil, .readOnly)
    }

    /// Advances a store that shows the past to a later commit, or keeps it at the current one; the cost depends on the
    /// commits between. Snapshots do not change.
    ///
    /// ```swift
    /// let before = past.snapshot()
    /// try past.advance(to: past.offset + 1)
    /// try past.snapshot().forEachDifference(since: before) { print($0.id, $0.kind); return true }
    /// ```
    /// - Throws: ``StrataError``: `outOfRange` for an offset before the current one, or past the end of the log;
    ///   `invalidArgument` for a store that does not show the past.
    public func advance(to offset: UInt64) throws {
        try gate.requireOpen()
        try engine.advance(to: offset)
    }

    /// Returns the store as of a time, in microseconds since 1970: with everything that was committed up to then, and
    /// nothing later.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for a time whose history was removed.
    public func asOf(time: Int64) throws -> Store {
        try gate.requireOpen()
        let offset = try log.lastOffset(notAfter: time)
        // Commits that are in the log but not published yet are not part of the past.
        return try asOf(min(offset, self.offset))
    }
}
