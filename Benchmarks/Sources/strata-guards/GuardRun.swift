import CCounters
import Glibc
import StrataLog
import TestSupport

/// Runs operations several times and counts what they cost.
struct GuardRun {
    private static let roundCount = 5

    let operations: [(operation: GuardedOperation, durability: Durability)]
    /// The argument of a process that runs the same and whose system calls are counted.
    let tracedWord: String

    static let all = GuardRun(
        operations: GuardedOperation.durable.map { ($0, .commit) } + GuardedOperation.others.map { ($0, .system) },
        tracedWord: "--traced")
    static let canary = GuardRun(
        operations: [(GuardedOperation.savingTwice, .commit), (GuardedOperation.fetchingTwice, .system)],
        tracedWord: "--traced-canary")

    /// Calls `body` with each round of each operation.
    private func forEachRound(_ body: (_ operation: Int, _ run: () throws -> Int) throws -> Void) throws {
        for (index, (operation, durability)) in operations.enumerated() {
            let directory = try TestDirectory()
            let store = try GuardedStore(at: directory.path("guarded.strata"), durability: durability)
            try store.fill()
            // The first run allocates what is kept.
            _ = try operation.run(store)
            for _ in 0..<Self.roundCount { try body(index) { try operation.run(store) } }
            try store.close()
        }
    }

    /// The medians of the rounds, for each operation: allocations, retains and, where there is a counter, instructions.
    func counted() throws -> (costs: [[Guard.Cost: Double]], unitCounts: [Int]) {
        let counter = strata_open_instructions()
        var rounds = operations.map { _ in [Guard.Cost: [Double]]() }
        var unitCounts = operations.map { _ in 0 }
        try forEachRound { operation, run in
            let instructions = counter < 0 ? 0 : strata_read_instructions(counter)
            let before = strata_counts_now()
            unitCounts[operation] = try run()
            let after = strata_counts_now()
            let count = Double(unitCounts[operation])
            rounds[operation][.allocations, default: []].append(Double(after.allocations - before.allocations) / count)
            rounds[operation][.retains, default: []].append(Double(after.retains - before.retains) / count)
            guard counter >= 0 else { return }
            let spent = Double(strata_read_instructions(counter)) - Double(instructions)
            rounds[operation][.instructions, default: []].append(spent / count)
        }
        return (rounds.map { $0.mapValues(Self.median) }, unitCounts)
    }

    /// Runs the rounds between marks for the tracer.
    func runTraced() throws {
        try forEachRound { _, run in
            strata_mark()
            _ = try run()
            strata_mark()
        }
    }

    /// The median number of system calls of each operation; nil where a program may not be traced.
    func systemCalls(of program: String, unitCounts: [Int]) throws -> [Double]? {
        var marks = [UInt64](repeating: 0, count: 2 * Self.roundCount * operations.count)
        var markCount: Int32 = 0
        var words: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(tracedWord), nil]
        defer { for word in words { free(word) } }
        let status = strata_trace_system_calls(&words, &marks, Int32(marks.count), &markCount)
        if status < 0 || status == 126 { return nil }
        guard status == 0, Int(markCount) == marks.count else {
            throw GuardError(message: "the traced program ended with \(status) after \(markCount) marks")
        }
        return operations.indices.map { operation in
            let rounds = (0..<Self.roundCount).map { round in
                Double(marks[2 * (operation * Self.roundCount + round) + 1]) / Double(unitCounts[operation])
            }
            return Self.median(rounds)
        }
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
