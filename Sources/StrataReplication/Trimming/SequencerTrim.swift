import StrataLog
import StrataModel
import StrataSystem

/// Replaces the first entries of a sequencer by a base, from which new copies begin
/// (docs/replication-internals.md §12).
///
/// ```swift
/// let trim = try SequencerTrim(of: sequencer, with: log, before: 120_000)
/// let mark = try trim.publish(base)  // a base of the log at `trim.horizon`
/// try trim.append(mark)
/// let last = try trim.finish(mark)
/// ```
/// Ending after any of these steps leaves a sequencer that all copies can follow, and from which new ones can be made.
package struct SequencerTrim {
    /// The end of the log after the last entry to be removed.
    package let horizon: Position
    /// The last entry to be removed.
    package let number: UInt64
    private let entry: Identifier
    private let terms: String
    private let sequencer: any Sequencer
    private let log: ReplicatedLog
    private let bases: SharedBases
    /// Nil if copies that have not read everything do not count.
    private let notes: CopyNotes?

    /// Finds the entries to be removed, and changes nothing.
    ///
    /// - Parameters:
    ///   - sequencer: another connection to the log's sequencer.
    ///   - offset: the first commit whose entry stays.
    ///   - ignoresCopies: true to trim what other copies have not read.
    /// - Throws: `.invalidArgument` if it is refused.
    package init(
        of sequencer: any Sequencer, with log: ReplicatedLog, before offset: UInt64, ignoresCopies: Bool = false
    ) throws {
        let files = log.copy.platform.files
        guard let directory = log.options.filesDirectory else {
            throw StrataError(
                .invalidArgument, "The base of a trimmed sequencer needs a directory that all processes share.")
        }
        let end = try log.confirmEnd()
        try log.note(sharesNow: true)
        guard offset <= end.offset + 1 else {
            throw StrataError(
                .invalidArgument, "The sequencer cannot be trimmed past its end.",
                .init(expected: "at most \(end.offset + 1)", found: "\(offset)"))
        }
        bases = SharedBases(in: directory, files)
        var history = try SequencedHistory(sequencer, in: directory, files)
        if history.first > 1 {
            // Removes the rest that an interrupted trim left; entry 1 itself was trimmed before.
            try bases.remove(before: sequencer.trim(through: 1))
        }
        let last = try sequencer.last()
        let begin = history.number
        var place = (number: history.number, entry: history.entry, horizon: history.end)
        while try history.next(through: last) != nil, history.end.offset < offset {
            place = (history.number, history.entry, history.end)
        }
        guard place.number > begin, place.horizon.offset > 0 else {
            throw StrataError(
                .invalidArgument, "No remaining entry ends before that commit, so nothing can be trimmed.",
                .init(expected: "a commit after \(history.end.offset)", found: "\(offset)"))
        }
        guard try log.copy.has(place.horizon) else {
            throw StrataError(
                .invalidArgument, "The copy was compacted past the place where a base is needed; use another copy.",
                .init(path: log.paths.store, expected: "commit \(place.horizon)", found: "\(log.floor) as the floor"))
        }
        (number, entry, horizon) = place
        terms = history.terms
        self.sequencer = sequencer
        self.log = log
        notes = ignoresCopies ? nil : CopyNotes(in: directory, files)
        try checkCopies()
    }

    private func checkCopies() throws {
        let live = try notes?.live(now: log.copy.platform.time.nowMicroseconds()) ?? []
        if let slowest = live.min(by: { $0.number < $1.number }), slowest.number < number {
            throw StrataError(
                .invalidArgument, "A copy has not read all entries that would be removed; open it, or ignore copies.",
                .init(path: slowest.path, expected: "entry \(number)", found: "entry \(slowest.number)"))
        }
        // After the trim, nothing would show that the copy still has to erase them.
        if let late = live.first(where: { $0.erased.map { $0 < horizon.offset } ?? false }) {
            throw StrataError(
                .invalidArgument,
                "A copy has not carried out an erasure before that commit; open it, or ignore copies.",
                .init(path: late.path, expected: "up to offset \(horizon.offset)", found: "\(late.erased ?? 0)"))
        }
    }

    /// Gives a base a place where new copies find it.
    ///
    /// - Parameter base: the state at ``horizon``, which was folded and compared with its marker.
    package func publish(_ base: BaseReader) throws -> BaseMark {
        guard base.horizon == horizon, base.storeID == log.identity.storeID else {
            throw StrataError(
                .invalidArgument, "The base does not end with the last entry to be removed.",
                .init(path: base.path, expected: "\(horizon)", found: "\(base.horizon)"))
        }
        let file = try bases.publish(base, number: number)
        return BaseMark(
            number: number, entry: entry, horizon: horizon, time: base.time, base: base.id, byteCount: file.byteCount,
            hash: file.hash, identity: log.identity, terms: terms)
    }

    /// Appends the mark of a base to the sequencer, and keeps a copy of it next to the base.
    package func append(_ mark: BaseMark) throws { try bases.write(mark, in: log.append(mark)) }

    /// Removes the entries that a base replaces, and older bases.
    ///
    /// - Returns: the number of the last entry that the sequencer no longer has.
    /// - Throws: `.invalidArgument` if a copy that has not read them has appeared in the meantime; an error of the base
    ///   if it is not what its mark states.
    package func finish(_ mark: BaseMark) throws -> UInt64 {
        _ = try bases.open(mark)
        try checkCopies()
        let last = try sequencer.trim(through: mark.number)
        // The next trim removes what cannot be removed now.
        try? bases.remove(before: mark.number)
        return last
    }
}
