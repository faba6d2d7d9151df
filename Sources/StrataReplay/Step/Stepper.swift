import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataStore

/// Steps through the commits of a store in both directions, and stops at breakpoints and watches.
///
/// ```swift
/// var stepper = try Stepper(of: store)
/// try stepper.add(Watch(id, field: "rank", in: DatabaseID(.private), as: anna))
/// let stop = try stepper.go(.forward)
/// print(stop.offset, try stop.changes.first?.before, try stop.changes.first?.after)
/// try stepper.step(.back)
/// ```
/// It keeps no past state: commits are read from the log, and single records as of an offset, so that stepping back
/// costs as much as stepping forward. It does not see commits written after it was created.
public struct Stepper {
    public enum Direction: Sendable {
        case forward, back
    }

    public enum Reason: Sendable, Equatable {
        /// The stepper reached its target.
        case arrived
        /// These breakpoints and watches stopped it, by their numbers.
        case stopped([Int])
        /// The condition waited for began to hold.
        case found
        /// The direction has no further commits.
        case ended
        case interrupted
    }

    /// The position after a move.
    public struct Stop: Sendable {
        public let offset: UInt64
        public let reason: Reason
        /// The changes of watched records: by the commit here, or after a step or a jump, since the previous position.
        public let changes: [WatchChange]
    }

    public enum Mark: Sendable {
        case breakpoint(Breakpoint)
        case watch(Watch)
    }

    public let store: Store
    /// The offset before the first commit.
    public let floor: UInt64
    /// The last commit.
    public let end: UInt64
    /// The offset of the current commit, or the floor.
    public private(set) var offset: UInt64
    /// Breakpoints and watches, by their numbers.
    public private(set) var marks: [Int: Mark] = [:]
    private var points: [Int: StopPoint] = [:]
    private var lastNumber = 0
    private let names: NameTable
    private let neighbours: CommitNeighbours
    /// The commits found for each predicate, kept because finding them reads all commits.
    private var beginnings: [(question: BisectionQuestion, offsets: [UInt64])] = []

    /// Creates a stepper that is before the first commit.
    public init(of store: Store) throws {
        self.store = store
        (floor, end) = (store.log.floor.offset, store.offset)
        offset = floor
        names = try NameTable(of: store)
        neighbours = CommitNeighbours(log: store.log, floor: floor, end: end)
    }

    /// Returns the current commit; nil before the first one.
    package func commit() throws -> Commit? { offset > floor ? try store.log.commit(at: offset) : nil }

    /// Returns the offset of the commit before the current one, or the floor.
    public func previousOffset() throws -> UInt64 { try neighbours.previous(before: offset)?.offset ?? floor }

    /// Returns offsets around a place: at most `before` commits up to it, and at most `after` commits after it.
    public func offsets(around place: UInt64, before: Int, after: Int) throws -> [UInt64] {
        var offsets: [UInt64] = []
        var next = place + 1
        while offsets.count < before, let commit = try neighbours.previous(before: next) {
            offsets.insert(commit.offset, at: 0)
            next = commit.offset
        }
        next = place
        for _ in 0..<max(0, after) {
            guard let commit = try neighbours.next(after: next) else { break }
            offsets.append(commit.offset)
            next = commit.offset
        }
        return offsets
    }

    // MARK: Moving

    /// Moves a number of commits forward or back.
    public mutating func step(_ direction: Direction, count: Int = 1) throws -> Stop {
        let start = offset
        var place = offset
        var reason = Reason.arrived
        for _ in 0..<max(1, count) {
            let next: UInt64? =
                switch direction {
                case .forward: try neighbours.next(after: place)?.offset
                case .back: try neighbours.previous(before: place)?.offset ?? (place > floor ? floor : nil)
                }
            guard let next else {
                reason = .ended
                break
            }
            place = next
        }
        let changes = start == place ? [] : try changes(from: start, to: place)
        offset = place
        return Stop(offset: place, reason: reason, changes: changes)
    }

    /// Moves to a commit, or for an offset without one, to the last commit before it.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for an offset that the store does not have.
    public mutating func jump(to wanted: UInt64) throws -> Stop {
        guard (floor...end).contains(wanted) else {
            throw StrataError(
                .outOfRange, "The store has no state at that offset.",
                .init(expected: "\(floor) to \(end)", found: "\(wanted)"))
        }
        let place = wanted == floor ? floor : try neighbours.previous(before: wanted + 1)?.offset ?? floor
        let changes = place == offset ? [] : try changes(from: offset, to: place)
        offset = place
        return Stop(offset: place, reason: .arrived, changes: changes)
    }

    /// Moves until a breakpoint or a watch stops it, or until the condition waited for begins to hold.
    ///
    /// - Parameter pulse: called about every thousand commits, on any thread; if it returns false, the move ends there.
    /// - Throws: ``Refusal`` for a name that the store never had; ``StrataError`` if the log cannot be read, and
    ///   `invalidArgument` for a predicate that cannot be tested. The position is then unchanged.
    public mutating func go(
        _ direction: Direction, until wanted: Breakpoint? = nil, pulse: @escaping StepperPulse = { _ in true }
    ) throws -> Stop {
        do {
            let extra = try wanted.map { try point(for: $0, pulse) }
            let wanted = Array(points.values) + (extra.map { [$0] } ?? [])
            let search = StopSearch(store: store, floor: floor, end: end, points: wanted, pulse: pulse)
            let found = try direction == .forward ? search.next(after: offset) : search.previous(before: offset)
            guard let found else {
                return try stop(at: direction == .forward ? end : floor, .ended)
            }
            let numbers = try points.filter { try isHit($0.value, at: found) }.keys.sorted()
            return try stop(at: found, numbers.isEmpty ? .found : .stopped(numbers))
        } catch let interruption as StepperInterruption {
            let place = try interruption.offset.map { try neighbours.previous(before: $0 + 1)?.offset ?? floor }
            return try stop(at: place ?? offset, .interrupted)
        }
    }

    private mutating func stop(at place: UInt64, _ reason: Reason) throws -> Stop {
        let changes = place > floor ? try changes(from: place - 1, to: place) : []
        offset = place
        return Stop(offset: place, reason: reason, changes: changes)
    }

    private func changes(from old: UInt64, to new: UInt64) throws -> [WatchChange] {
        var changes: [WatchChange] = []
        for (number, mark) in marks.sorted(by: { $0.key < $1.key }) {
            guard case .watch(let watch) = mark else { continue }
            if let difference = try watch.change(in: store, from: old, to: new) {
                changes.append(WatchChange(number: number, watch: watch, difference: difference))
            }
        }
        return changes
    }

    private func isHit(_ point: StopPoint, at place: UInt64) throws -> Bool {
        let search = StopSearch(store: store, floor: max(floor, place - 1), end: place, points: [point]) { _ in true }
        return try search.next(after: place - 1) == place
    }

    // MARK: Breakpoints and watches

    /// Adds a breakpoint and returns its number; nil if the pulse ended the search for its commits.
    ///
    /// - Throws: ``Refusal`` for a name that the store never had; ``StrataError`` for a predicate that cannot be
    ///   tested.
    @discardableResult
    public mutating func add(
        _ breakpoint: Breakpoint, pulse: @escaping StepperPulse = { _ in true }
    ) throws -> Int? {
        do { return add(.breakpoint(breakpoint), try point(for: breakpoint, pulse)) } catch is StepperInterruption {
            return nil
        }
    }

    /// Adds a watch and returns its number.
    @discardableResult
    public mutating func add(_ watch: Watch) throws -> Int {
        // Throws now if the record cannot be read.
        _ = try store.snapshot().record(watch.record, asOf: offset, in: watch.database, as: watch.actor)
        let database = watch.database.named(for: watch.actor.user)
        let zone = try store.snapshot().trees.place(of: watch.record.zone, in: database, as: watch.actor)?.zone
        let zones = zone.map { [$0] } ?? []
        let store = store
        // The deletion of a zone ends its records without events of their own.
        let lists: [StopPoint.List] = [
            .init(subject: .record(watch.record.name, zones: zones)),
            .init(subject: .zones(zones), kind: .zoneDeleted),
        ]
        let point = StopPoint(way: .touched(lists)) { commit in
            try watch.change(in: store, from: commit.offset - 1, to: commit.offset) != nil
        }
        return add(.watch(watch), point)
    }

    private mutating func add(_ mark: Mark, _ point: StopPoint) -> Int {
        lastNumber += 1
        marks[lastNumber] = mark
        points[lastNumber] = point
        return lastNumber
    }

    /// Removes a breakpoint or a watch; returns false if there is none with that number.
    @discardableResult
    public mutating func remove(_ number: Int) -> Bool {
        points[number] = nil
        return marks.removeValue(forKey: number) != nil
    }

    private mutating func point(for breakpoint: Breakpoint, _ pulse: @escaping StepperPulse) throws -> StopPoint {
        let matcher = try BreakpointMatcher(breakpoint, store, names)
        let fits: (Commit) throws -> Bool = { try matcher.fits($0) }
        if let question = breakpoint.question {
            return StopPoint(way: .listed(try beginnings(of: question, pulse)), fits: fits)
        }
        guard let subject = matcher.subject(names) else { return StopPoint(way: .scanned, fits: fits) }
        return StopPoint(way: .touched([.init(subject: subject)]), fits: matcher.isDecidedByLists ? nil : fits)
    }

    /// Returns the commits with which a record begins to match a predicate.
    private mutating func beginnings(
        of question: BisectionQuestion, _ pulse: @escaping StepperPulse
    ) throws -> [UInt64] {
        if let known = beginnings.first(where: { $0.question.isSame(as: question) }) { return known.offsets }
        var bisection = try Bisection(of: store, question, from: floor, to: end)
        bisection.pulse = pulse
        var offsets: [UInt64] = []
        _ = try bisection.forEachChange { if $0.hasGains { offsets.append($0.offset) } }
        if beginnings.count >= Self.keptBeginnings { beginnings.removeFirst() }
        beginnings.append((question, offsets))
        return offsets
    }

    private static let keptBeginnings = 8
}

extension BisectionQuestion {
    /// Returns true if both ask the same about the same records.
    fileprivate func isSame(as other: BisectionQuestion) -> Bool {
        database == other.database && actor == other.actor && zone == other.zone && isSameText(type, other.type)
            && isSameText(record ?? "", other.record ?? "") && (record == nil) == (other.record == nil)
            && isSameText(PredicateWriter.text(of: predicate), PredicateWriter.text(of: other.predicate))
    }
}
