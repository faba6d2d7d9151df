import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// Looks at many records, one after the other, and keeps the first matches in order.
final class RecordWorker {
    /// What several workers have in common.
    struct Task: Sendable {
        let scene: QueryScene
        let residual: PredicateTree
        let order: QueryOrder
        /// Matches up to it are left out; empty for none.
        let after: [UInt8]
        /// How many matches are wanted at most.
        let count: Int
        /// Whether records come in order, so that the first ones are wanted as they come.
        let isInOrder: Bool
        /// Whether records may be missing, or of another type.
        let hasNamedRecords: Bool
        let isCancelled: @Sendable () -> Bool
    }

    /// What one of them found.
    struct Part: Sendable {
        var matches: [QueryMatch] = []
        var recordsRead = 0
    }

    private let task: Task
    private let encoder: SortEncoder
    private let judge: RecordJudge
    private var top: TopMatches
    private var inOrder: [QueryMatch] = []
    private var place = KeyWriter()
    private(set) var recordsRead = 0

    init(_ task: Task) throws {
        self.task = task
        encoder = try SortEncoder(task.order, task.scene)
        judge = try RecordJudge(task.residual, task.scene)
        top = TopMatches(task.count)
    }

    var part: Part { Part(matches: task.isInOrder ? inOrder : top.sorted(), recordsRead: recordsRead) }

    /// Keeps the record if it is one of those that are wanted; false once there are enough.
    private func take(_ key: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer, checksType: Bool) throws -> Bool {
        recordsRead += 1
        if recordsRead & 0x3FF == 0, task.isCancelled() { throw QueryError.cancelled }
        let view = try RecordStateView(state, in: 0..<state.count)
        if checksType, try view.type() != task.scene.type { return true }
        guard try judge.holds(key, view, state) else { return true }
        if task.isInOrder {
            inOrder.append(QueryMatch(place: [], key: [UInt8](key), state: [UInt8](state)))
            return inOrder.count < task.count
        }
        place.removeAll()
        try encoder.append(key, view, to: &place)
        guard task.after.lexicographicallyPrecedes(place.bytes), top.accepts(place.bytes) else { return true }
        top.add(QueryMatch(place: place.bytes, key: [UInt8](key), state: [UInt8](state)))
        return true
    }

    func scan(from lower: [UInt8], to upper: [UInt8]) throws {
        try lower.withUnsafeBytes { lower in
            try upper.withUnsafeBytes { upper in
                try task.scene.trees.scan(ViewTree.records, from: lower, to: upper) {
                    try take($0, $1, checksType: true)
                }
            }
        }
    }

    func read(_ keys: ArraySlice<[UInt8]>) throws {
        for start in stride(from: keys.startIndex, to: keys.endIndex, by: Snapshot.keysTogether) {
            let together = Array(keys[start..<min(keys.endIndex, start + Snapshot.keysTogether)])
            try task.scene.trees.getEach(ViewTree.records, together) { index, state in
                guard let state else {
                    if task.hasNamedRecords { return true }
                    throw StrataError(.malformed, "An index has a row of a record that is not there.")
                }
                return try together[index].withUnsafeBytes { key in
                    try take(key, state, checksType: task.hasNamedRecords)
                }
            }
        }
    }
}

/// Divides the looking at records between the processors.
struct RecordSweep {
    /// Fewer records are not worth the threads.
    static let fewRecords = 1_500
    /// So many keys are gathered before they are divided.
    static let keysGathered = 64 << 10

    let task: RecordWorker.Task

    /// Ranges of the tree of records, in order; their matches come in that order.
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

    func read(_ keys: [[UInt8]]) throws -> RecordWorker.Part {
        let share = keys.count > Self.fewRecords ? Processors.count : 1
        let count = share == 1 ? 1 : 4 * share
        return try perform(count, on: share) { worker, index in
            try worker.read(keys[index * keys.count / count..<(index + 1) * keys.count / count])
        }
    }

    private func perform(
        _ count: Int, on share: Int, _ body: @escaping @Sendable (RecordWorker, Int) throws -> Void
    ) throws -> RecordWorker.Part {
        let parts = Lock([Result<RecordWorker.Part, any Error>?](repeating: nil, count: count))
        let task = task
        let work: @Sendable (Int) -> Void = { index in
            let isDone = task.isInOrder && parts.withLock { Self.matchCount($0[..<index]) >= task.count }
            if isDone { return }
            let part = Result {
                let worker = try RecordWorker(task)
                try body(worker, index)
                return worker.part
            }
            parts.withLock { $0[index] = part }
        }
        if share == 1 {
            for index in 0..<count { work(index) }
        } else {
            Processors.perform(count, work)
        }
        var whole = RecordWorker.Part()
        for part in parts.withLock({ $0 }) {
            guard let part = try part?.get() else { continue }
            whole.matches += part.matches
            whole.recordsRead += part.recordsRead
        }
        return whole
    }

    /// Of parts that are done without a gap.
    private static func matchCount(_ parts: ArraySlice<Result<RecordWorker.Part, any Error>?>) -> Int {
        var count = 0
        for part in parts {
            guard case .success(let part)? = part else { return count }
            count += part.matches.count
        }
        return count
    }
}
