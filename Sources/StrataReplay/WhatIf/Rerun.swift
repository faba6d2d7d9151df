import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataSystem
import StrataTree
import StrataViews

/// Shows what a store would hold if something had been requested otherwise: judges all requests of its log again by the
/// rules, in order (docs/architecture.md §8).
///
/// ```swift
/// var rerun = Rerun(of: store)
/// rerun.changes = [.drop(4)]
/// let report = try rerun.run { print($0.offset ?? 0, $0.before?.kind, $0.after.kind, $0.cause?.offset) }
/// try report.forEachDifference { print($0.kind, $0.id.name); return true }
/// ```
/// A change tag in a request stands for the same version in the new timeline. If that version does not exist there, the
/// tag stands for the one before it, as if the client had fetched that: if the winning save of a conflict is dropped,
/// the losing save succeeds. Requests that wrote nothing are judged again if the log has them in full.
public struct Rerun {
    public var changes: [RerunChange]
    /// The bytes of changes to a state that are kept in memory.
    static let memoryBytes = 48 << 20

    /// The rules that judge the requests; nil for those that the log records, or else the store's own.
    package var rules: Rules?
    /// The schema mode in place of the recorded ones; nil to keep these.
    package var schema: SchemaMode?
    /// The first commit to judge if nothing is changed before it.
    package var first: UInt64 = 1
    /// Called repeatedly with the number of commits that have been judged and the number of all.
    package var progress: (_ judged: UInt64, _ all: UInt64) -> Void = { _, _ in }
    private let store: Store

    /// - Parameter store: is only read. It may be written to while this runs; later commits are ignored.
    public init(of store: Store, changes: [RerunChange] = []) {
        self.store = store
        self.changes = changes
    }

    /// Judges all requests again, from the first change on, and keeps only the state at the end.
    ///
    /// - Parameter body: called in order with each request that was changed or has another outcome.
    /// - Throws: ``StrataError`` `outOfRange` for an offset that the log does not have, `invalidArgument` for a change
    ///   that does not fit its commit.
    public func run(each body: (RerunCommit) throws -> Void = { _ in }) throws -> RerunReport {
        try run(into: nil, each: body)
    }

    /// Judges all requests again, from the first change on.
    ///
    /// - Parameters:
    ///   - log: receives the commits of the new timeline, including those before the first change. It must be empty or
    ///     begin with the store's base. If nil, only the state at the end is kept.
    ///   - untilDifference: true to end with the first commit that differs.
    ///   - body: called in order with each request that was changed or has another outcome.
    /// - Throws: ``StrataError`` `outOfRange` for an offset that the log does not have, `invalidArgument` for a change
    ///   that does not fit its commit.
    package func run(
        into log: (any EventLog)?, untilDifference: Bool = false, each body: (RerunCommit) throws -> Void = { _ in }
    ) throws -> RerunReport {
        let before = store.snapshot()
        let floor = store.log.floor.offset
        try check(from: floor, through: before.offset)
        let first = try changes.map { try firstOffset(of: $0) }.min() ?? max(first, floor + 1)
        if let log { try copyCommits(from: floor, through: first - 1, to: log) }
        let shown = try store.past.state(at: first - 1, aloneIn: Self.memoryBytes)
        do {
            let time = try store.log.timeInFront(of: first)
            let timeline = try AlternateTimeline(
                on: shown.trees, time: time ?? .min, rules: chosen(rules ?? store.rules), into: log)
            let rerun = try RequestRerun(
                of: store, from: first, through: before.offset, timeline, time: time ?? 0,
                recordedRules: rules == nil ? RecordedRules(of: store, through: before.offset, chosen) : nil,
                changes: changes)
            rerun.progress = progress
            if let differing = try changes.isEmpty ? rerun.runUnchanged() : first {
                try rerun.run(through: untilDifference ? differing : before.offset, each: body)
            }
            try rerun.finish()
            return RerunReport(rerun, before: before, shown: shown)
        } catch {
            try? shown.close()
            throw error
        }
    }

    private func chosen(_ recorded: Rules) -> Rules {
        var rules = recorded
        if let schema { rules.schema = schema }
        return rules
    }

    /// Returns the first commit that a change may affect: a request that wrote nothing was judged before its audit.
    private func firstOffset(of change: RerunChange) throws -> UInt64 {
        let first = change.firstOffset
        if case .insert = change { return first }
        guard let header = try store.log.commit(at: first)?.header, header.isLazy, let judgedOn = header.judgedOn else {
            return first
        }
        return max(store.log.floor.offset, judgedOn) + 1
    }

    /// Returns the number of commits after the first change, and how many of them lack a request to judge. Notes, such
    /// as those of fetches, are not counted.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for a change at an offset that the log does not have.
    public func countFollowing() throws -> (commits: UInt64, unjudged: UInt64) {
        try countFollowing { _, _ in false }.count
    }

    /// Returns what ``countFollowing()`` does if most of these commits cannot be judged; nil if most can, as soon as
    /// that is certain.
    package func countFollowingIfMostUnjudged() throws -> (commits: UInt64, unjudged: UInt64)? {
        let (count, isComplete) = try countFollowing { count, rest in
            count.commits - count.unjudged >= count.unjudged + rest
        }
        return isComplete && count.unjudged > count.commits / 2 ? count : nil
    }

    /// - Parameter isEnough: called with what was counted and the number of commits that are left; true to end.
    private func countFollowing(
        until isEnough: ((commits: UInt64, unjudged: UInt64), _ rest: UInt64) -> Bool
    ) throws -> (count: (commits: UInt64, unjudged: UInt64), isComplete: Bool) {
        let (floor, end) = (store.log.floor.offset, store.snapshot().offset)
        try check(from: floor, through: end)
        let first = (changes.map(\.offset).min() ?? floor) + 1
        var count: (commits: UInt64, unjudged: UInt64) = (0, 0)
        guard first <= end else { return (count, true) }
        var cursor = try store.log.read(from: first)
        while let commit = try cursor.next(), commit.offset <= end {
            var canBeJudged: Bool? = false
            // Judging reports a payload that cannot be decoded.
            do { canBeJudged = try Self.canBeJudged(commit) } catch is StrataError {}
            guard let canBeJudged else { continue }
            count.commits += 1
            if !canBeJudged { count.unjudged += 1 }
            if isEnough(count, end - commit.offset) { return (count, false) }
        }
        return (count, true)
    }

    /// Returns true if a commit still has its request and everything it saved; nil for a note.
    private static func canBeJudged(_ commit: Commit) throws -> Bool? {
        let bytes = try commit.header.requestShape
        if bytes.isEmpty { return try Envelope(decoding: commit.payload).plainAudit == nil ? false : nil }
        let shape = try RequestShape(decoding: bytes)
        if shape.kind != .modifyRecords, shape.wholeRequest == nil { return false }
        return try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            while let event = try walker.next() {
                guard event.kind == .recordSaved else { continue }
                if try RecordSavedView(payload, in: event.body).isErased { return false }
            }
            return true
        }
    }

    private func check(from floor: UInt64, through end: UInt64) throws {
        guard first <= end + 1 else {
            throw StrataError(
                .outOfRange, "The log has no commit at that offset.",
                .init(expected: "\(floor + 1) to \(end)", found: "\(first)"))
        }
        for change in changes {
            var lowest = floor + 1
            if case .insert = change { lowest = floor }
            guard lowest <= change.offset, change.offset <= end else {
                throw StrataError(
                    .outOfRange, "The log has no commit at that offset to change.",
                    .init(expected: lowest <= end ? "\(lowest) to \(end)" : "none", found: "\(change.offset)"))
            }
        }
    }

    private func copyCommits(from floor: UInt64, through last: UInt64, to log: any EventLog) throws {
        try log.requireEnd(at: floor)
        try store.log.forEachBatch(after: floor, through: last) { try log.appendAll($0) }
    }
}

/// A request that was changed, or that has another outcome than in the log.
public struct RerunCommit: Sendable {
    /// The offset in the log; nil for an inserted request.
    public var offset: UInt64?
    /// The offset in the new timeline; nil if the request wrote nothing.
    public var newOffset: UInt64?
    public var actor: Actor
    /// Nil for an inserted request.
    public var before: RequestOutcome?
    public var after: RequestOutcome
    /// True if the request itself was changed.
    public var isDirect: Bool
    /// The changed commit that this one follows from, and the one where that began; nil for a request that was changed
    /// itself, or if no cause is known.
    public var cause: (offset: UInt64, root: UInt64)?

    public var hasOtherOutcome: Bool { before.map { !$0.isSame(as: after) } ?? true }
}

/// The result of judging a history again.
public struct RerunReport: Sendable {
    /// A run of consecutive commits that could not be judged again for the same reason.
    public struct Unjudged: Sendable {
        public var offsets: ClosedRange<UInt64>
        public var reason: String
        /// True if the new timeline keeps them unchanged.
        public var isKept: Bool
    }

    static let reasonWithoutRequest = "The log has no request."

    public let commitCount: Int
    /// The number of requests that have another outcome without being changed themselves.
    public let changedCount: Int
    /// The number of requests that were changed, dropped or inserted.
    public let directCount: Int
    /// The number of commits that only record a note, such as a fetch, and have no request.
    public let noteCount: Int
    /// True if the range has requests and none of them could be judged.
    public var hasJudgedNothing: Bool {
        directCount == 0 && unjudgedCount > 0 && commitCount == noteCount + unjudgedCount
    }
    /// The runs of commits that could not be judged again, in order, up to a limit.
    public let unjudged: [Unjudged]
    /// The number of commits that could not be judged again.
    public let unjudgedCount: Int
    /// The last commit of the new timeline.
    public let end: UInt64
    /// True if all its commits are those of the log, byte by byte.
    public var isIdentical: Bool { divergence == nil }
    /// The first commit of the log that differs in the new timeline, and how it differs.
    public let divergence: (offset: UInt64, reason: String)?
    public let before: StoreSnapshot
    public let after: StoreSnapshot
    private let shown: Store

    init(_ rerun: RequestRerun, before: StoreSnapshot, shown: Store) {
        let tally = rerun.tally
        (commitCount, changedCount, directCount) = (tally.commitCount, tally.changedCount, tally.directCount)
        noteCount = tally.noteCount
        (unjudged, unjudgedCount) = (tally.unjudged, tally.unjudgedCount)
        end = rerun.end
        divergence = tally.divergence
        self.before = before
        self.shown = shown
        after = shown.snapshot()
    }

    /// Calls `body` with each record that differs at the end of the two timelines, until it returns false. When and
    /// under which change tag a record was saved makes no difference.
    public func forEachDifference(_ body: (RecordDifference) throws -> Bool) throws {
        if isIdentical { return }
        try after.forEachDifference(fromOther: before, body)
    }

    /// Releases the new state.
    public func close() throws { try shown.close() }
}
