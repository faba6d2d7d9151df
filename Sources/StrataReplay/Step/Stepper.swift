import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataStore

/// Goes through the commits of a store one by one, in both directions, and stops where somebody wants to look.
///
/// ```swift
/// var stepper = try Stepper(of: store)
/// try stepper.add(Watch(id, field: "rank", in: DatabaseID(.private), as: anna))
/// let stop = try stepper.go(.forward)
/// print(stop.offset, try stop.changes.first?.before, try stop.changes.first?.after)
/// try stepper.step(.back)
/// ```
/// It holds no state of the past: commits are read from the log and single records as of an offset, so that going back
/// costs what going on does. What is written after it was made is not seen.
public struct Stepper {
    public enum Direction: Sendable {
        case forward, back
    }

    public enum Reason: Sendable, Equatable {
        /// It came where it was sent.
        case arrived
        /// These breakpoints and watches have stopped it, by their numbers.
        case stopped([Int])
        /// What was waited for has begun to hold.
        case found
        /// There are no more commits in that direction.
        case ended
        case interrupted
    }

    /// Where it stands after a move.
    public struct Stop: Sendable {
        public let offset: UInt64
        public let reason: Reason
        /// What is watched and has become another: by the commit here, or after a step back or a jump, since there.
        public let changes: [WatchChange]
    }

    public enum Mark: Sendable {
        case breakpoint(Breakpoint)
        case watch(Watch)
    }

    public let store: Store
    /// In front of the first commit that there is.
    public let floor: UInt64
    /// The last commit.
    public let end: UInt64
    /// The last commit that counts, or the floor.
    public private(set) var offset: UInt64
    /// Breakpoints and watches, by their numbers.
    public private(set) var marks: [Int: Mark] = [:]
    private var points: [Int: StopPoint] = [:]
    private var lastNumber = 0
    private let names: HistoricNames
    private let neighbours: CommitNeighbours
    /// What predicates were found to begin with, since that costs a walk through everything.
    private var beginnings: [(question: BisectionQuestion, offsets: [UInt64])] = []

    /// Stands in front of the first commit.
    public init(of store: Store) throws {
        self.store = store
        (floor, end) = (store.log.floor.offset, store.offset)
        offset = floor
        names = try HistoricNames(store)
        neighbours = CommitNeighbours(log: store.log, floor: floor, end: end)
    }

    /// The commit here; nil in front of the first one.
    public func commit() throws -> Commit? { offset > floor ? try store.log.commit(at: offset) : nil }

    /// The offset of the commit in front of the one here, or of the floor.
    public func previousOffset() throws -> UInt64 { try neighbours.previous(before: offset)?.offset ?? floor }

    /// Offsets around a place: so many commits up to it and so many behind it.
    public func offsets(around place: UInt64, before: Int, behind: Int) throws -> [UInt64] {
        var offsets: [UInt64] = []
        var next = place + 1
        while offsets.count < before, let commit = try neighbours.previous(before: next) {
            offsets.insert(commit.offset, at: 0)
            next = commit.offset
        }
        next = place
        for _ in 0..<max(0, behind) {
            guard let commit = try neighbours.next(after: next) else { break }
            offsets.append(commit.offset)
            next = commit.offset
        }
        return offsets
    }

    // MARK: Moving

    /// To the next commit, or the one in front of this.
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

    /// To a commit, or where an offset has none to the last one in front of it.
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

    /// On, or back, until a breakpoint or a watch stops it, or what is waited for begins to hold.
    ///
    /// - Parameter pulse: is asked about every thousand commits, on any thread; false ends it where it has come to.
    /// - Throws: ``Refusal`` for a name that the store never had; ``StrataError`` if the log cannot be read, and
    ///   `invalidArgument` for a predicate that cannot be asked. It stays where it is then.
    public mutating func go(
        _ direction: Direction, until wanted: Breakpoint? = nil, pulse: @escaping StepperPulse = { _ in true }
    ) throws -> Stop {
        do {
            let extra = try wanted.map { try point(for: $0, pulse) }
            let wanted = Array(points.values) + (extra.map { [$0] } ?? [])
            let search = StopSearch(store, floor: floor, end: end, wanted, pulse)
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
        let search = StopSearch(store, floor: max(floor, place - 1), end: place, [point]) { _ in true }
        return try search.next(after: place - 1) == place
    }

    // MARK: Breakpoints and watches

    /// - Returns: its number; nil if the pulse ended it, and there is none.
    /// - Throws: ``Refusal`` for a name that the store never had; ``StrataError`` for a predicate that cannot be asked.
    @discardableResult
    public mutating func add(
        _ breakpoint: Breakpoint, pulse: @escaping StepperPulse = { _ in true }
    ) throws -> Int? {
        do { return add(.breakpoint(breakpoint), try point(for: breakpoint, pulse)) } catch is StepperInterruption {
            return nil
        }
    }

    /// - Returns: its number.
    @discardableResult
    public mutating func add(_ watch: Watch) throws -> Int {
        // Says now what keeps it from being read.
        _ = try store.snapshot().record(watch.record, asOf: offset, in: watch.database, as: watch.actor)
        let zone = names.zone(watch.record.zone, in: watch.database, as: watch.actor)
        let zones = zone.map { [$0] } ?? []
        let store = store
        var point = StopPoint(way: .touched(zones: zones, record: Array(watch.record.name.utf8))) { commit in
            try watch.change(in: store, from: commit.offset - 1, to: commit.offset) != nil
        }
        point.zonesThatEnd = zones
        return add(.watch(watch), point)
    }

    private mutating func add(_ mark: Mark, _ point: StopPoint) -> Int {
        lastNumber += 1
        marks[lastNumber] = mark
        points[lastNumber] = point
        return lastNumber
    }

    /// - Returns: whether there was one of that number.
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
        guard let zones = matcher.listedZones(names) else { return StopPoint(way: .scanned, fits: fits) }
        return StopPoint(
            way: .touched(zones: zones, record: matcher.listedRecord), fits: matcher.isToldByLists ? nil : fits)
    }

    /// The commits with which a record begins to fulfil a predicate.
    private mutating func beginnings(
        of question: BisectionQuestion, _ pulse: @escaping StepperPulse
    ) throws -> [UInt64] {
        if let known = beginnings.first(where: { $0.question.isSame(as: question) }) { return known.offsets }
        var bisection = try Bisection(of: store, question, from: floor, to: end)
        bisection.pulse = pulse
        let offsets = try bisection.part().changes.filter { $0.gains > 0 }.map(\.offset)
        if beginnings.count >= Self.keptBeginnings { beginnings.removeFirst() }
        beginnings.append((question, offsets))
        return offsets
    }

    private static let keptBeginnings = 8
}

extension BisectionQuestion {
    /// Asks the same of the same records.
    fileprivate func isSame(as other: BisectionQuestion) -> Bool {
        database == other.database && actor == other.actor && zone == other.zone && isSameText(type, other.type)
            && isSameText(record ?? "", other.record ?? "") && (record == nil) == (other.record == nil)
            && isSameText(PredicateWriter.text(of: predicate), PredicateWriter.text(of: other.predicate))
    }
}
