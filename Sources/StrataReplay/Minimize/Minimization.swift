import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataTree
import StrataViews

/// Finds a minimal set of requests of a log after which a record matches a predicate, as one does at the log's end. No
/// request, and no item of one, can be left out.
///
/// ```swift
/// let minimization = try Minimization(of: store, question)
/// let history = try minimization.run { print($0.trialCount, $0.requestCount) }
/// print(history.requests.map(\.offset), try history.test(named: "LostUpdate").text)
/// ```
/// Each trial judges the remaining requests by the rules, on an empty state or on the base that the log begins with. A
/// change tag whose save was left out stands for the version before it, as with ``Rerun``. The search first
/// considers only commits that touched the record or what it refers to, and only what they did to those. If these do
/// not lead to a match, it considers more, up to the whole log. Refused requests changed nothing, and are not
/// considered.
public struct Minimization {
    public struct Progress: Sendable {
        /// The offset up to which the log has been read; nil while histories are tried.
        public var readThrough: UInt64?
        public var trialCount: Int
        /// The number of requests left.
        public var requestCount: Int
    }

    /// The rules that judge the requests; by default those that the log stated last, or else the store's own.
    package var rules: Rules
    /// True if saves also lose keys that the match does not need. The result may then match for another reason than in
    /// the log: two saves that each keep a different key no longer overwrite each other.
    public var reducesKeys = false
    /// Called before each trial; if it returns true, the smallest history found by then is the result.
    public var isStopped: () -> Bool = { false }
    fileprivate let store: Store
    fileprivate let question: BisectionQuestion

    /// - Parameter store: is only read, and must not be compacted while this runs.
    public init(of store: Store, _ question: BisectionQuestion) {
        (self.store, self.question) = (store, question)
        rules = (try? RulesHistory(of: store).rules(at: store.offset)) ?? store.rules
    }

    /// - Throws: ``StrataError`` `notFound` if no record matches the predicate at the end, or if the log's requests,
    ///   judged again, do not lead to a match; `invalidArgument` for a predicate that cannot be tested; `interrupted`
    ///   if the search was stopped before it found anything; ``Refusal`` for a database, a zone or a type that never
    ///   existed.
    public func run(_ progress: (Progress) -> Void = { _ in }) throws -> MinimalHistory {
        try withoutActuallyEscaping(progress) { progress in
            try MinimizationRun(self, progress).run()
        }
    }
}

/// One search for a minimal history.
final class MinimizationRun {
    private let search: Minimization
    private let progress: (Minimization.Progress) -> Void
    private let matcher: MinimizationMatcher
    /// The state that all histories begin with if the log begins with a base; nil for the empty state.
    private let base: Store?
    private let startTime: Int64
    /// The record that matches the predicate at the store's end. No request need name it: a user's first one creates a
    /// record.
    private var witness: Set<RecordName> = []
    private var trialCount = 0
    private var requestCount = 0

    private var store: Store { search.store }
    private var isStopped: () -> Bool { search.isStopped }

    init(_ search: Minimization, _ progress: @escaping (Minimization.Progress) -> Void) throws {
        (self.search, self.progress) = (search, progress)
        let store = search.store
        matcher = try MinimizationMatcher(search.question, in: store)
        let floor = store.log.floor.offset
        base = floor == 0 ? nil : try store.asOf(floor)
        startTime = floor == 0 ? 0 : try store.log.readBase()?.time ?? 0
    }

    deinit { try? base?.close() }

    func run() throws -> MinimalHistory {
        let end = store.snapshot()
        guard let witness = try matcher.witness(in: end.trees) else {
            throw StrataError(
                .notFound, "No record matches the predicate at the end of the store.",
                .init(
                    offset: end.offset, expected: search.question.record ?? "a record of type \(search.question.type)"))
        }
        let place = try store.past.place(of: witness)
        self.witness = [RecordName(place.database, zone: place.id.zone, place.id.name)]
        if let base, try matcher.witness(in: base.snapshot().trees) != nil {
            return try history(of: [], MinimizationVersions(floor: store.log.floor.offset), isComplete: true)
        }
        for takesWhole in [false, true, nil] {
            guard let (source, zoneOffsets) = try field(about: witness, takesWhole), !isStopped() else { continue }
            report(source.offsets.count)
            guard let offsets = try shortEnd(of: source, zoneOffsets) else { continue }
            return try reduce(offsets, source)
        }
        if isStopped() { throw StrataError(.interrupted, "The search was stopped before a smaller history was found.") }
        throw StrataError(
            .notFound,
            "Judging the log's requests again does not produce a record that matches the predicate.",
            .init(
                offset: end.offset, expected: "complete requests in the log, and the rules by which they were judged"))
    }

    // MARK: Candidates

    /// The requests to search, and the commits among them that created or deleted zones.
    private typealias Field = (source: MinimizationSource, zoneOffsets: Set<UInt64>)

    /// Returns the last request with all zone commits if that leads to a match, else the last two, four and so on; nil
    /// if all of them do not. In most cases the last saves decide.
    private func shortEnd(of source: MinimizationSource, _ zoneOffsets: Set<UInt64>) throws -> [UInt64]? {
        var count = zoneOffsets.isEmpty ? source.offsets.count : 1
        while !isStopped() {
            let first = max(0, source.offsets.count - count)
            let offsets = source.offsets[..<first].filter { zoneOffsets.contains($0) } + source.offsets[first...]
            if try holds(offsets, source, { try source.request(at: $0) }) { return offsets }
            if first == 0 { return nil }
            count *= 2
        }
        return nil
    }

    /// - Parameter takesWhole: false for only what the commits did to the record and what it refers to, true for all
    ///   that these commits did, and nil for the whole log.
    private func field(about record: RecordKey, _ takesWhole: Bool?) throws -> Field? {
        guard let takesWhole else { return (try source(store.log.floor.offset + 1..<store.offset + 1), []) }
        let closure = try DependencyClosure(of: record, in: store, takesWhole: takesWhole)
        if closure.isCut { return nil }
        let end = store.offset
        let offsets = closure.offsets.filter { $0 <= end }.sorted()
        return (try source(offsets, about: takesWhole ? nil : closure.records), closure.zoneOffsets)
    }

    private func source(
        _ offsets: some Sequence<UInt64>, about records: Set<RecordName>? = nil
    ) throws -> MinimizationSource {
        try MinimizationSource(store, offsets, about: records, isStopped: isStopped) {
            report(requestCount, readThrough: $0)
        }
    }

    private func report(_ count: Int, readThrough: UInt64? = nil) {
        requestCount = count
        progress(.init(readThrough: readThrough, trialCount: trialCount, requestCount: count))
    }

    // MARK: Reduction

    private func reduce(_ all: [UInt64], _ source: MinimizationSource) throws -> MinimalHistory {
        let offsets = try DeltaDebugging.minimal(all, isStopped: isStopped) { offsets in
            let holds = try holds(offsets, source) { try source.request(at: $0) }
            if holds { report(offsets.count) }
            return holds
        }
        var requests = try offsets.compactMap { try source.request(at: $0) }
        // A smaller request may make another one unnecessary.
        while !isStopped() {
            let before = requests.map(\.asked.request)
            requests = try reduceParts(of: requests, source) { $0.itemParts }
            if search.reducesKeys { requests = try reduceParts(of: requests, source) { $0.fieldParts } }
            requests = try DeltaDebugging.minimal(requests, isStopped: isStopped) { try holds($0, source) { $0 } }
            report(requests.count)
            if requests.map(\.asked.request) == before { break }
        }
        return try history(of: requests, source.versions, isComplete: !isStopped())
    }

    private func reduceParts(
        of requests: [MinimizationRequest], _ source: MinimizationSource,
        _ parts: (MinimizationRequest) -> [MinimizationRequest.Part]
    ) throws -> [MinimizationRequest] {
        let all = requests.map(parts)
        func keeping(_ kept: [(request: Int, part: MinimizationRequest.Part)]) -> [MinimizationRequest] {
            var left: [Set<MinimizationRequest.Part>] = Array(repeating: [], count: requests.count)
            for (request, part) in kept { left[request].insert(part) }
            return requests.indices.compactMap { requests[$0].keeping(left[$0], of: all[$0]) }
        }
        let units = all.enumerated().flatMap { index, parts in parts.map { (request: index, part: $0) } }
        return keeping(
            try DeltaDebugging.minimal(units, isStopped: isStopped) { try holds(keeping($0), source) { $0 } })
    }

    // MARK: Trials

    /// Returns true if requests lead to a match; false if the search was stopped.
    private func holds<Item>(
        _ items: [Item], _ source: MinimizationSource, _ request: (Item) throws -> MinimizationRequest?
    ) throws -> Bool {
        trialCount += 1
        let trial = try makeTrial(source.versions)
        for (index, item) in items.enumerated() {
            if index % 4_096 == 4_095 {
                report(requestCount)
                if isStopped() { return false }
            }
            if let request = try request(item) { try trial.replay(request) }
        }
        return try matcher.holds(for: witness, in: trial.timeline)
            || matcher.holds(for: trial.records, in: trial.timeline)
    }

    /// Begins a history on the base, whose own state does not change, or on the empty state.
    private func makeTrial(_ versions: MinimizationVersions) throws -> TrialRerun {
        let trees = try base.map { try $0.trees.branch(on: $0.trees.snapshot()) } ?? Views.emptyTrees()
        let time = base == nil ? Int64.min : startTime
        return TrialRerun(try AlternateTimeline(on: trees, time: time, rules: search.rules, into: nil), versions)
    }

    // MARK: Result

    private func history(
        of requests: [MinimizationRequest], _ versions: MinimizationVersions, isComplete: Bool
    ) throws -> MinimalHistory {
        let trial = try makeTrial(versions)
        let replayed = try requests.map { request in
            let (judged, answer) = try trial.replay(request)
            return try MinimalRequest(
                request.asked, judgedAs: judged, answer, whole: request.wholeCounts,
                shares: try trial.shares(of: judged))
        }
        let names = store.snapshot()
        var recordNames: [ExactName: String] = [:]
        let people = replayed.compactMap { request -> String? in
            guard case .administer(let body) = request.request.content else { return nil }
            return switch body {
            case .setPerson(_, let user, _), .addAddress(_, let user): user
            default: nil
            }
        }
        for user in replayed.map(\.actor.user) + people where !user.isEmpty {
            recordNames[ExactName(text: user)] = try names.recordName(of: user)
        }
        return MinimalHistory(
            requests: replayed, question: search.question, floor: store.log.floor.offset, startTime: startTime,
            rules: search.rules, recordNames: recordNames, trialCount: trialCount, isComplete: isComplete)
    }
}
