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
        var flips: [BisectionChange] = []
        var flipCount = 0
        let countAtStart = try forEachChange { change in
            guard change.isFlip else { return }
            flipCount += 1
            if flipCount <= limit { flips.append(change) }
        }
        return Answer(
            holdsAtStart: countAtStart > 0, flipCount: flipCount,
            flips: try flips.map { change in
                let record = change.after > 0 ? change.gain?.record : change.loss?.record
                return Flip(
                    offset: change.offset, holds: change.after > 0,
                    record: try record.flatMap { try difference(of: $0, at: change.offset) })
            })
    }

    /// Calls `body` with the change that each commit made to the records in question, and returns the number of records
    /// that match at the beginning.
    ///
    /// - Throws: ``StepperInterruption`` if the pulse ends the search.
    func forEachChange(_ body: (BisectionChange) throws -> Void) throws -> Int {
        try question.record.map { try walk($0, body) } ?? fold(body)
    }

    // MARK: One record

    /// Reads the commits that touched records of a name, or deleted their zones.
    private func walk(_ name: String, _ body: (BisectionChange) throws -> Void) throws -> Int {
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
        func next() throws -> Commit? {
            while let offset = rest.popFirst() { if let commit = try reads.commit(at: offset) { return commit } }
            return nil
        }
        try fold.run(pulse, next, body)
        return fold.countAtStart
    }

    // MARK: All records

    private func fold(_ body: (BisectionChange) throws -> Void) throws -> Int {
        let beginning = from == 0 ? nil : try store.past.state(at: from)
        defer { try? beginning?.close() }
        var fold = BisectionFold(
            try BisectionMatcher(question.predicate, context), in: try zones(), from: beginning?.snapshot().trees)
        var (cursor, last) = (from < to ? try store.log.read(from: from + 1) : nil, from)
        func next() throws -> Commit? {
            guard last < to, let commit = try cursor?.next(), commit.offset <= to else { return nil }
            last = commit.offset
            return commit
        }
        try fold.run(pulse, next, body)
        return fold.countAtStart
    }

    /// Returns the zones whose records are tested, including deleted ones.
    private func zones() throws -> Set<UInt64> {
        Set(try context.zone.map { [$0] } ?? context.trees.zoneRows(of: context.database).map(\.zone))
    }

    // MARK: The records of flips

    /// Returns a record before and after a commit; nil if it was erased since.
    private func difference(of record: RecordKey, at offset: UInt64) throws -> RecordDifference? {
        if try store.isErased(record, after: offset) { return nil }
        let past = store.past
        let before = try past.record(record, at: offset - 1).map { try past.decoded($0, of: record) }
        let after = try past.record(record, at: offset).map { try past.decoded($0, of: record) }
        let place = try past.place(of: record)
        return RecordDifference(place.id, in: place.database, before: before, after: after)
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
