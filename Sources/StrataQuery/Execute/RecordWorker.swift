import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// Examines a sequence of records, and keeps the first matches in order.
final class RecordWorker {
    /// The inputs that workers share.
    struct Task: Sendable {
        let scene: QueryContext
        let residual: PredicateTree
        let order: QueryOrder
        /// The place after which matches are kept; empty for none.
        let after: [UInt8]
        /// The maximum number of matches.
        let count: Int
        /// True if records arrive in order, so that the first matches are the result.
        let isInOrder: Bool
        /// True if records may be missing or of another type.
        let hasNamedRecords: Bool
        let budget: ExpressionBudget
        let isCancelled: @Sendable () -> Bool
    }

    /// The result of a worker.
    struct Part: Sendable {
        /// The matches if records arrive in order.
        var matches: [QueryMatch] = []
        /// The first places otherwise: only final matches are worth copying.
        var top: TopPlaces
        var recordsRead = 0
    }

    private let task: Task
    private let encoder: SortEncoder
    private let judge: RecordJudge
    // Unchecked: one thread works, none of whose calls comes back while one of these changes.
    @exclusivity(unchecked) private var probe: RecordProbe
    @exclusivity(unchecked) private var top: TopPlaces
    private var inOrder: [QueryMatch] = []
    @exclusivity(unchecked) private var batches = StateBatches()
    @exclusivity(unchecked) private var place = KeyWriter()
    @exclusivity(unchecked) private(set) var recordsRead = 0

    init(_ task: Task) throws {
        self.task = task
        encoder = try SortEncoder(task.order, task.scene)
        judge = try RecordJudge(task.residual, task.scene, task.budget)
        probe = RecordProbe(judge.filter, type: task.scene.type)
        top = TopPlaces(task.count)
    }

    var part: Part { Part(matches: inOrder, top: top, recordsRead: recordsRead) }

    private func countRecord() throws {
        recordsRead += 1
        if recordsRead & 0x3FF == 0, task.isCancelled() { throw QueryError.cancelled }
    }

    /// Keeps the record if it is a wanted match; returns false once there are enough.
    private func take(_ key: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer, checksType: Bool) throws -> Bool {
        let view = try RecordStateView(state, in: 0..<state.count)
        if checksType, try view.type() != task.scene.type { return true }
        guard try judge.holds(key, view, state) else { return true }
        if task.isInOrder {
            inOrder.append(try QueryMatch(place: [], key, state, in: &batches))
            return inOrder.count < task.count
        }
        place.removeAll()
        try encoder.appendKeys(view, to: &place)
        guard top.mayAccept(place.bytes) else { return true }
        let tie = place.bytes.count
        try encoder.appendTie(key, to: &place)
        if task.after.lexicographicallyPrecedes(place.bytes) { top.add(place.bytes[...], tie: tie) }
        return true
    }

    func scan(from lower: [UInt8], to upper: [UInt8]) throws {
        try lower.withUnsafeBytes { lower in
            try upper.withUnsafeBytes { upper in
                try task.scene.trees.scan(ViewTree.records, from: lower, to: upper) { key, state in
                    try countRecord()
                    guard try probe.mayHold(state) else { return true }
                    return try take(key, state, checksType: false)
                }
            }
        }
    }

    func read(_ keys: KeyList, _ range: Range<Int>) throws {
        try task.scene.trees.getEach(ViewTree.records, keys, in: range) { index, state in
            try countRecord()
            guard let state else {
                if task.hasNamedRecords { return true }
                throw StrataError(.malformed, "An index has a row of a record that does not exist.")
            }
            return try keys.withKey(index) { try take($0, state, checksType: task.hasNamedRecords) }
        }
    }
}

/// Divides the records to examine among the processors.
struct RecordSweep {
    /// The number of records up to which threads are not worthwhile.
    static let fewRecords = 1_500
    /// The number of keys that are gathered before they are divided.
    static let keysGathered = 64 << 10

    let task: RecordWorker.Task

    /// Scans ranges of the tree of records, in order; their matches keep that order.
    func scan(_ ranges: [(lower: [UInt8], upper: [UInt8])], about recordCount: Double) throws -> RecordWorker.Part {
        var parts: [(lower: [UInt8], upper: [UInt8])] = []
        let share = recordCount > Double(Self.fewRecords) ? Processors.count : 1
        for range in ranges {
            let keys = try range.lower.withUnsafeBytes { lower in
                try range.upper.withUnsafeBytes { upper in
                    share == 1 || ranges.count > 4 * share
                        ? []
                        : try task.scene.trees.dividingKeys(
                            ViewTree.records, from: lower, to: upper, count: 4 * share)
                }
            }
            parts += zip([range.lower] + keys, keys + [range.upper]).map { (lower: $0, upper: $1) }
        }
        let divided = parts
        return try perform(divided.count, on: share) { worker, index in
            try worker.scan(from: divided[index].lower, to: divided[index].upper)
        }
    }

    func read(_ keys: KeyList) throws -> RecordWorker.Part {
        let share = keys.count > Self.fewRecords ? Processors.count : 1
        let count = share == 1 ? 1 : 4 * share
        return try perform(count, on: share) { worker, index in
            try worker.read(keys, index * keys.count / count..<(index + 1) * keys.count / count)
        }
    }

    private func perform(
        _ count: Int, on share: Int, _ body: @escaping @Sendable (RecordWorker, Int) throws -> Void
    ) throws -> RecordWorker.Part {
        let sweep = Lock(Progress(count))
        let task = task
        let work: @Sendable (Int) -> Void = { index in
            let isDone = sweep.withLock { task.isInOrder && $0.leadingMatches >= task.count || $0.hasFailed }
            if isDone { return }
            let part = Result {
                if task.isCancelled() { throw QueryError.cancelled }
                let worker = try RecordWorker(task)
                try body(worker, index)
                return worker.part
            }
            sweep.withLock { $0.take(part, at: index) }
        }
        if share == 1 {
            for index in 0..<count { work(index) }
        } else {
            Processors.perform(count, work)
        }
        var whole = RecordWorker.Part(top: TopPlaces(task.count))
        for part in sweep.withLock({ $0.parts }) {
            guard let part = try part?.get() else { continue }
            whole.matches += part.matches
            whole.top.add(part.top)
            whole.recordsRead += part.recordsRead
        }
        return whole
    }

    /// The finished parts.
    private struct Progress: Sendable {
        private(set) var parts: [Result<RecordWorker.Part, any Error>?]
        private(set) var hasFailed = false
        /// The number of leading parts that are finished without a gap; `leadingMatches` counts their matches.
        private var leadingParts = 0
        private(set) var leadingMatches = 0

        init(_ count: Int) { parts = Array(repeating: nil, count: count) }

        mutating func take(_ part: Result<RecordWorker.Part, any Error>, at index: Int) {
            parts[index] = part
            if case .failure = part { hasFailed = true }
            while leadingParts < parts.count, case .success(let part)? = parts[leadingParts] {
                leadingParts += 1
                leadingMatches += part.matches.count
            }
        }
    }
}
