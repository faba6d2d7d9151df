import Foundation
import StrataLog
import StrataModel
import StrataStore
import StrataSystem

/// A small closed store, and what must be read from it.
struct SampleStore {
    let path: String
    let options: StoreOptions
    private var plans: [WriterPlan] = []
    private var commits: [UInt64: Commit] = [:]
    private var floor: UInt64 = 0
    private(set) var end: UInt64 = 0

    /// What reading a store gave.
    enum Reading {
        case same
        /// Something says that the store is damaged.
        case reported(any Error)
        /// Acknowledged commits are not there, and nothing said so.
        case lost(String)
        /// Something else is there than what was acknowledged, and nothing said so.
        case wrong(String)
    }

    static let kinds = ["one segment", "several segments", "compacted", "erased", "sealed"]

    init(_ kind: Int, at path: String, scratch: String, seed: UInt64) throws {
        self.path = path
        var options = StoreOptions.service
        options.segmentBytes = kind == 0 ? 1 << 20 : 64 << 10
        options.trees.generationBytes = 128 << 10
        self.options = options
        plans = (0..<2).map { WriterPlan(seed: seed &+ UInt64(kind), writer: $0, maintains: false) }
        var store = try Store.open(at: path, options: options)
        try fill(store, kind == 0 ? 12 : 80, scratch)
        if kind == 2 {
            // If FLOOR is lost and the first segment still exists, the compacted history can be read again.
            try note(store)
            try store.compact(before: store.offset - 40)
        }
        if kind == 3 { try erase(store) }
        if kind == 4 {
            try store.close()
            let log = try SegmentedLog.open(at: path, options: LogOptions(segmentBytes: options.segmentBytes))
            while try log.sealNext() {}
            try log.close()
            store = try Store.open(at: path, options: options)
        }
        try note(store)
        try store.close()
    }

    private mutating func fill(_ store: Store, _ count: Int, _ scratch: String) throws {
        for _ in 0..<count {
            for index in plans.indices {
                let step = plans[index].next()
                let hands = EngineWriter(store: store, content: plans[index].content, folder: scratch)
                _ = try hands.perform(step, number: plans[index].number)
            }
        }
    }

    private mutating func erase(_ store: Store) throws {
        var maintainer = WriterPlan(seed: 1, writer: 4, maintains: true)
        while maintainer.number < 60 {
            let step = maintainer.next()
            // The rest would make the store another kind.
            switch step {
            case .compact, .rebuildViews, .declareIndex: continue
            default: break
            }
            let hands = EngineWriter(store: store, content: maintainer.content, folder: path + "/..")
            _ = try hands.perform(step, number: maintainer.number)
        }
        plans.append(maintainer)
    }

    private mutating func note(_ store: Store) throws {
        floor = store.log.floor.offset
        end = store.offset
        var cursor = try store.log.read(from: floor + 1)
        while let commit = try cursor.next() { commits[commit.offset] = commit }
    }

    // MARK: Reading

    /// Opens a copy of the store and reads everything from it.
    ///
    /// - Parameter mayBeShorter: after a repair, which says what it cut off.
    func read(_ copy: String, _ access: AccessMode, mayBeShorter: Bool = false) -> Reading {
        do {
            var options = options
            options.createsStore = false
            let store = try Store.open(at: copy, options: options, access: access)
            defer { try? store.close() }
            if let difference = try difference(of: store.log, mayBeShorter) { return difference }
            if mayBeShorter { return .same }
            for plan in plans {
                if let text = try FoundState(store, plan.content).firstDifference(from: plan) {
                    return .lost("\(plan.user): \(text)")
                }
            }
            return .same
        } catch { return .reported(error) }
    }

    private func difference(of log: any EventLog, _ mayBeShorter: Bool) throws -> Reading? {
        if log.end.offset < end, !mayBeShorter { return .lost("the log ends at \(log.end.offset), not at \(end)") }
        if log.floor.offset > floor, !mayBeShorter { return .lost("the log begins behind \(log.floor.offset)") }
        var cursor = try log.read(from: log.floor.offset + 1)
        var expected = log.floor.offset + 1
        while let commit = try cursor.next() {
            guard let known = commits[commit.offset] else {
                // A commit of this trial, or one that cannot be.
                if commit.offset <= end { return .wrong("commit \(commit.offset) was never made") }
                continue
            }
            if commit.offset != expected { return .lost("commit \(expected) is passed over") }
            expected += 1
            if commit != known { return .wrong("commit \(commit.offset) is another one") }
        }
        return expected > end || mayBeShorter ? nil : .lost("commits from \(expected) on")
    }

    /// What a mutated reference must make the trials find: another state than was acknowledged.
    mutating func falsify() { plans[0].advance(to: plans[0].number + 3) }
}
