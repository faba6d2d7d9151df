import StrataLog
import StrataModel

extension Store {
    /// Returns the store as of a commit, as ``Past/state(at:)`` does.
    ///
    /// ```swift
    /// let past = try store.asOf(1_207)
    /// let note = try past.snapshot().record(id, in: database, as: anna)
    /// try past.close()
    /// ```
    public func asOf(_ offset: UInt64) throws -> Store { try past.state(at: offset) }

    /// Advances a store that shows the past to a later commit, or keeps it at the current one; the cost depends on the
    /// commits between. Snapshots do not change.
    ///
    /// ```swift
    /// let shown = try store.asOf(1_207)
    /// try shown.advance(to: 1_208)
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
