import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataStore
import StrataSystem
import StrataTree

/// Finds the commits after which a predicate begins to hold, and those after which it ceases to.
///
/// ```swift
/// let bisection = try Bisection(of: store, question, from: 0, to: store.offset)
/// let answer = try bisection.answer(limit: 1)
/// if let flip = answer.flips.first { print(flip.offset, flip.holds, answer.flipCount) }
/// ```
/// A state holds if at least one record fulfils the predicate. It may begin and cease to any number of times, so
/// nothing is skipped: with a record's name the commits that touched it are read, else all of the range, once.
public struct Bisection {
    /// A commit after which the predicate holds and did not before it, or the other way round.
    public struct Flip: Sendable {
        public let offset: UInt64
        /// Whether it holds from there on.
        public let holds: Bool
        /// The first record with which it began to hold, or the last with which it ceased to, before and after the
        /// commit. Nil if what the record was is not known any more.
        public let record: RecordDifference?
    }

    public struct Answer: Sendable {
        /// Whether it holds in the state that the range begins with.
        public let holdsAtStart: Bool
        /// How often it begins or ceases to hold.
        public let flipCount: Int
        /// The first of them, oldest first.
        public let flips: [Flip]
    }

    private let store: Store
    private let question: BisectionQuestion
    /// Offset of the state in front of the first commit that counts.
    public let from: UInt64
    /// The last commit that counts.
    public let to: UInt64
    private let scene: QueryScene
    /// Is asked while all commits are gone through.
    var pulse: StepperPulse = { _ in true }

    /// - Throws: ``Refusal`` for a database, a zone or a type that there never was; ``StrataError``: `invalidArgument`
    ///   for a predicate that cannot be asked; `outOfRange` for offsets that the log does not have.
    public init(of store: Store, _ question: BisectionQuestion, from: UInt64, to: UInt64) throws {
        let (floor, end) = (store.log.floor.offset, store.offset)
        guard floor <= from, from <= to, to <= end else {
            throw StrataError(
                .outOfRange, "There is no such range of commits.",
                .init(expected: "offsets from \(floor) to \(end), the first one first", found: "\(from) to \(to)"))
        }
        (self.store, self.question, self.from, self.to) = (store, question, from, to)
        let query = Query(question.type, where: question.predicate, zone: question.zone)
        scene = try store.historicScene(of: query, in: question.database, as: question.actor)
        _ = try BisectionMatcher(question.predicate, scene)
    }

    /// - Parameter limit: of the flips that are given with their records; all are counted.
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

    /// What each commit did to the records that are asked about.
    ///
    /// - Throws: ``StepperInterruption`` besides.
    func part() throws -> BisectionPart { try question.record.map { try walk($0) } ?? fold() }

    // MARK: One record

    private func walk(_ name: String) throws -> BisectionPart {
        let zones = try scene.zone.map { [$0] } ?? scene.trees.zoneRows(of: scene.database).map(\.zone)
        let matcher = try BisectionMatcher(question.predicate, scene)
        return BisectionPart.joined(
            try zones.map { zone in
                var walk = BisectionWalk(
                    RecordKey(zone: zone, name: name), in: store, matcher, from: from, through: to)
                return try walk.run()
            })
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
                var fold = BisectionFold(matcher, from: beginning, share: (index, count))
                return try fold.run(log, from: from, through: to, pulse)
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
    /// Nil for all zones of the database, with those that are gone.
    public var zone: ZoneID?
    /// Only the record of this name, or in several zones those of this name; nil for any record of the type.
    public var record: String?

    public init(
        _ type: String, where predicate: PredicateTree, in database: DatabaseID, zone: ZoneID? = nil,
        record: String? = nil, as actor: Actor
    ) {
        (self.type, self.predicate, self.database, self.zone) = (type, predicate, database, zone)
        (self.record, self.actor) = (record, actor)
    }
}
