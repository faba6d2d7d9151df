import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataStore
import StrataTree

/// Finds the commits after which a predicate begins to hold, and those after which it ceases to hold.
///
/// ```swift
/// let bisection = try Bisection(of: store, question, from: 0, to: store.offset)
/// let answer = try bisection.answer(limit: 1)
/// if let flip = answer.flips.first { print(flip.offset, flip.holds, answer.flipCount) }
/// ```
/// The predicate holds in a state if at least one record matches it. It may begin and cease to hold any number of
/// times, so no commit is skipped: with a record's name, the commits that touched the record are read, otherwise all.
public struct Bisection {
    /// A commit after which the predicate holds although it did not before, or the other way round.
    public struct Flip: Sendable {
        public let offset: UInt64
        /// True if the predicate holds after this commit.
        public let holds: Bool
        /// The first record that made the predicate hold, or the last that made it cease to, as it was before and after
        /// the commit. Nil if the log no longer has the record's state.
        public let record: RecordDifference?
    }

    public struct Answer: Sendable {
        /// True if the predicate holds in the state that the range begins with.
        public let holdsAtStart: Bool
        /// The number of times that the predicate begins or ceases to hold.
        public let flipCount: Int
        /// The flips, oldest first, up to the limit.
        public let flips: [Flip]
    }

    private let store: Store
    private let question: BisectionQuestion
    /// The offset of the state before the first commit searched.
    public let from: UInt64
    /// The last commit searched.
    public let to: UInt64
    private let context: QueryContext
    /// Called periodically while all commits are read; returning false interrupts the search.
    var pulse: StepperPulse = { _ in true }

    /// - Throws: ``Refusal`` for a database, a zone or a type that never existed; ``StrataError`` `invalidArgument` for
    ///   a predicate that cannot be bisected, and `outOfRange` for offsets that the log does not have.
    public init(of store: Store, _ question: BisectionQuestion, from: UInt64, to: UInt64) throws {
        let (floor, end) = (store.log.floor.offset, store.offset)
        guard floor <= from, from <= to, to <= end else {
            throw StrataError(
                .outOfRange, "The range of commits does not exist.",
                .init(expected: "ascending offsets from \(floor) to \(end)", found: "\(from) to \(to)"))
        }
        (self.store, self.question, self.from, self.to) = (store, question, from, to)
        let query = Query(question.type, where: question.predicate, zone: question.zone)
        context = try store.historicQueryContext(of: query, in: question.database, as: question.actor)
        _ = try BisectionMatcher(question.predicate, context)
    }

    /// - Parameter limit: the maximum number of flips that are returned with their records; all flips are counted.
    /// - Throws: ``StrataError`` if the log cannot be read.
    public func answer(limit: Int = .max) throws -> Answer {
        let part = try part()
        var count = part.countAtStart
        var flips: [(change: BisectionChange, holds: Bool)] = []
        var flipCount = 0
        for change in part.changes {
            let before = count
            count += Int(change.gains) - Int(change.losses)
            guard (before > 0) != (count > 0) else { continue }
            flipCount += 1
            if flipCount <= limit { flips.append((change, count > 0)) }
        }
        return Answer(
            holdsAtStart: part.countAtStart > 0, flipCount: flipCount,
            flips: try flips.map { change, holds in
                Flip(
                    offset: change.offset, holds: holds,
                    record: try difference(
                        at: change.offset, holds ? change.gainedBy : change.lostBy, part.endedWithZone))
            })
    }

    /// Returns the changes that each commit made to the records in question.
    ///
    /// - Throws: ``StepperInterruption`` if the pulse ends the search.
    func part() throws -> BisectionPart { try question.record.map { try walk($0) } ?? fold() }

    // MARK: One record

    /// Reads the commits that touched records of a name, or deleted their zones.
    private func walk(_ name: String) throws -> BisectionPart {
        let (past, zones) = (store.past, try zones())
        var fold = BisectionFold(
            try BisectionMatcher(question.predicate, context), in: zones, named: Array(name.utf8))
        var offsets: Set<UInt64> = []
        func add(_ subject: TouchedCommits.Subject, _ kind: Touch.Kind? = nil, through last: UInt64) throws -> Bool {
            var commits = past.touches(subject, kind: kind, after: from, through: last)
            var isAny = false
            while let commit = try commits.next() {
                offsets.insert(commit.offset)
                isAny = true
            }
            return isAny
        }
        for zone in zones {
            let record = RecordKey(zone: zone, name: name)
            let state = try past.record(record, at: from)
            if let state { try fold.add(record, state) }
            guard try add(.record(name, zones: [zone]), through: to) || state != nil else { continue }
            _ = try add(.zones([zone]), .zoneDeleted, through: min(to, past.lastDeletion(ofZone: zone) ?? to))
        }
        var (reads, rest) = (CommitReads(store.log), offsets.sorted()[...])
        return try fold.run(pulse) {
            while let offset = rest.popFirst() { if let commit = try reads.commit(at: offset) { return commit } }
            return nil
        }
    }

    // MARK: All records

    private func fold() throws -> BisectionPart {
        let beginning = from == 0 ? nil : try store.past.state(at: from)
        defer { try? beginning?.close() }
        var fold = BisectionFold(
            try BisectionMatcher(question.predicate, context), in: try zones(), from: beginning?.snapshot().trees)
        var (cursor, last) = (from < to ? try store.log.read(from: from + 1) : nil, from)
        return try fold.run(pulse) {
            guard last < to, let commit = try cursor?.next(), commit.offset <= to else { return nil }
            last = commit.offset
            return commit
        }
    }

    /// Returns the zones whose records are tested, including deleted ones.
    private func zones() throws -> Set<UInt64> {
        Set(try context.zone.map { [$0] } ?? context.trees.zoneRows(of: context.database).map(\.zone))
    }

    // MARK: The records of flips

    /// Returns a record as of one of its versions; nil if that is no longer known.
    private func record(_ record: RecordKey, at version: Version) throws -> Record? {
        try store.past.record(record, at: version).map { try store.past.decoded($0, of: record) }
    }

    /// Returns the record of an event, before and after the event's commit.
    ///
    /// - Parameters:
    ///   - event: an event of the record, or the deletion of its zone.
    ///   - endedWithZone: the records that ended with their zone, by the version of its deletion.
    private func difference(
        at offset: UInt64, _ event: UInt32, _ endedWithZone: BisectionPart.Victims
    ) throws -> RecordDifference? {
        if let ended = endedWithZone[Version(offset: offset, eventIndex: event)] {
            guard let before = try record(ended.record, at: ended.version) else { return nil }
            return RecordDifference(before.id, in: before.database, before: before, after: nil)
        }
        guard let commit = try store.log.commit(at: offset), let found = try Self.versions(of: event, in: commit) else {
            return nil
        }
        let before = try found.before.map { try record(found.record, at: $0) }
        let after = try found.after.map { try record(found.record, at: $0) }
        // Records erased since then have versions, but no states.
        if case .some(nil) = before { return nil }
        if case .some(nil) = after { return nil }
        let place = try store.past.place(of: found.record)
        return RecordDifference(place.id, in: place.database, before: before ?? nil, after: after ?? nil)
    }

    /// Returns the record of an event, and its versions before and after the commit; nil if the event has no record.
    private static func versions(
        of event: UInt32, in commit: Commit
    ) throws -> (record: RecordKey, before: Version?, after: Version?)? {
        let envelope = try Envelope(decoding: commit.payload)
        let events = try envelope.events.enumerated().compactMap { index, event in
            try TimelineEvent(event, at: index, in: (commit.offset, commit.time), by: envelope.header)
        }
        guard let record = events.first(where: { $0.version.eventIndex == event })?.record else { return nil }
        let own = events.filter { $0.record == record }
        guard let first = own.first, let last = own.last else { return nil }
        return (record, first.isCreation ? nil : first.previous, last.isSave ? last.version : nil)
    }
}

/// The condition tested in each state: that a record matches a predicate.
///
/// ```swift
/// let overdue = try PredicateParser.parse("rank > 3")
/// var question = BisectionQuestion("Note", where: overdue, in: DatabaseID(.private), as: anna)
/// question.record = "note-1"
/// ```
public struct BisectionQuestion: Sendable {
    public var type: String
    public var predicate: PredicateTree
    public var database: DatabaseID
    public var actor: Actor
    /// Nil for all zones of the database, including deleted ones.
    public var zone: ZoneID?
    /// Limits the search to records of this name; nil for any record of the type.
    public var record: String?

    public init(
        _ type: String, where predicate: PredicateTree, in database: DatabaseID, zone: ZoneID? = nil,
        record: String? = nil, as actor: Actor
    ) {
        (self.type, self.predicate, self.database, self.zone) = (type, predicate, database, zone)
        (self.record, self.actor) = (record, actor)
    }
}
