import StrataLog
import StrataModel
import StrataReplication
import StrataSystem

/// The result of trimming a sequencer.
package struct TrimmedSequencer: Sendable {
    /// The last commit whose entry the sequencer no longer has.
    package let horizon: Position
    /// The last entry that it no longer has.
    package let entry: UInt64
    /// The size of the base from which new copies begin.
    package let baseBytes: UInt64
}

extension Store {
    /// Removes the sequencer's entries whose commits are all before an offset, after it made a base of them from which
    /// new copies begin (docs/replication.md §12). This copy keeps its history.
    ///
    /// - Parameter ignoresCopies: true to trim what other copies have not read: they cannot follow after that.
    /// - Throws: ``StrataError`` `invalidArgument` for a store without a sequencer or without a directory that all its
    ///   processes share, for an offset past the end, if no whole entry is before the offset, and if another copy has
    ///   not read all that would go. In these cases nothing has changed.
    package func trimSequencer(before offset: UInt64, ignoresCopies: Bool = false) throws -> TrimmedSequencer {
        try requireWritable()
        guard let log = log as? ReplicatedLog, let compactor = engine.compactor,
            let sequencer = try engine.options.place.sequencer(engine.platform)
        else { throw StrataError(.invalidArgument, "The store has no sequencer that could be trimmed.") }
        defer { sequencer.close() }
        let trim = try SequencerTrim(of: sequencer, with: log, before: offset, ignoresCopies: ignoresCopies)
        let mark = try compactor.withBase(at: trim.horizon.offset) { try trim.publish($0) }
        try trim.append(mark)
        return TrimmedSequencer(horizon: mark.horizon, entry: try trim.finish(mark), baseBytes: mark.byteCount)
    }
}
