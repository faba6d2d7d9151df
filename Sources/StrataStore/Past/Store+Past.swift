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
    /// - Parameters:
    ///   - memoryPages: the number of pages that are kept in memory rather than in an unnamed file; a store in memory
    ///     has no such file.
    ///   - zones: the zones, by ordinals, whose records the caller reads; those of others may be older, or missing.
    package func asOf(
        _ offset: UInt64, aloneIn memoryPages: Int, zones: ClosedRange<UInt64> = 0...UInt64.max
    ) throws -> Store {
        try gate.requireOpen()
        let past = try engine.pastAlone(through: offset, memoryPages: memoryPages, zones: zones)
        return Store(past, nil, .readOnly)
    }

    /// Like ``asOf(_:)``, with the records of some names only, and everything that is not a record: much cheaper, for a
    /// caller that judges a request about these records. Other records are older than the commit, or missing.
    ///
    /// Returns nil if judging a request may need further records: the store has accounts with limits, or shares.
    ///
    /// - Parameter names: the names of the records, in any zone.
    package func asOf(_ offset: UInt64, records names: Set<[UInt8]>) throws -> Store? {
        try gate.requireOpen()
        return try engine.past(through: offset, records: names).map { Store($0, nil, .readOnly) }
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
