import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataStore
import StrataSystem
import StrataTree

/// Finds the commits after which a predicate begins to hold, and those after which it ceases to hold.
///
/// ```swift
/// let bisection = try Bisection(of: store, question, from: 0, to: store.offset)
/// let answer = try bisection.answer(limit: 1)
/// if let flip = answer.flips.first { print(flip.offset, flip.holds, answer.flipCount) }
/// ```
/// The predicate holds in a state if at least one record matches it. It may begin and cease to hold any number of
/// times, so no commit is skipped: with a record's name, the commits that touched the record are read. Otherwise
/// several threads read the whole range, each for its share of the records.
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
    private let scene: QueryContext
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
        scene = try store.historicScene(of: query, in: question.database, as: question.actor)
        _ = try BisectionMatcher(question.predicate, scene)
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
        let records = BisectionRecords(store, part.victims)
        return Answer(
            holdsAtStart: part.countAtStart > 0, flipCount: flipCount,
            flips: try flips.map { change, holds in
                Flip(
                    offset: change.offset, holds: holds,
                    record: try records.difference(at: change.offset, holds ? change.gainedBy : change.lostBy))
            })
    }

    /// Returns the changes that each commit made to the records in question.
    ///
    /// - Throws: ``StepperInterruption`` if the pulse ends the search.
    func part() throws -> BisectionPart { try question.record.map { try walk($0) } ?? fold() }

    // MARK: One record

    /// Reads the commits that touched records of a name, or deleted their zones.
    private func walk(_ name: String) throws -> BisectionPart {
        let (log, zones) = (
            store.log, try scene.zone.map { [$0] } ?? scene.trees.zoneRows(of: scene.database).map(\.zone)
        )
        var fold = BisectionFold(try BisectionMatcher(question.predicate, scene), .named(Array(name.utf8)))
        var offsets: Set<UInt64> = []
        func add(_ subject: TouchedCommits.Subject, _ kind: Touch.Kind? = nil, through last: UInt64) throws -> Bool {
            var commits = TouchedCommits(subject, kind: kind, of: log, after: from, through: last)
            var isAny = false
            while let commit = try commits.next() {
                offsets.insert(commit.offset)
                isAny = true
            }
            return isAny
        }
        for zone in zones {
            let record = RecordKey(zone: zone, name: name)
            let state = try store.historicState(of: record, asOf: from)
            if let state { try fold.add(record, state) }
            guard try add(.record(name, zones: [zone]), through: to) || state != nil else { continue }
            _ = try add(.zones([zone]), .zoneDeleted, through: min(to, store.lastDeletion(ofZone: zone) ?? to))
        }
        var (reads, rest) = (CommitReads(log), offsets.sorted()[...])
        return try fold.run(pulse) {
            while let offset = rest.popFirst() { if let commit = try reads.commit(at: offset) { return commit } }
            return nil
        }
    }

    // MARK: All records

    private func fold() throws -> BisectionPart {
        let past = from == 0 ? nil : try store.asOf(from)
        defer { try? past?.close() }
        let beginning = past?.snapshot().trees
        let (log, scene, predicate, from, to) = (store.log, scene, question.predicate, from, to)
        let pulse = pulse
        let count = Processors.count
        let parts = Lock<[Int: Result<BisectionPart, any Error>]>([:])
        Processors.perform(count) { index in
            let part = Result<BisectionPart, any Error> {
                let matcher = try BisectionMatcher(predicate, scene)
                var fold = BisectionFold(matcher, from: beginning, .part(index, of: count))
                var (cursor, last) = (from < to ? try log.read(from: from + 1) : nil, from)
                return try fold.run(pulse) {
                    guard last < to, let commit = try cursor?.next(), commit.offset <= to else { return nil }
                    last = commit.offset
                    return commit
                }
            }
            parts.withLock { $0[index] = part }
        }
        let found = parts.withLock { $0 }
        return BisectionPart.joined(try found.sorted { $0.key < $1.key }.map { try $0.value.get() })
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
