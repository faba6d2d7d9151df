import StrataModel
import StrataSystem
import TestSupport

@testable import StrataLog

/// The workload of a program that does not give up: it checks what each failure promises, and tries again.
struct FaultyRun {
    let workload: CrashWorkload
    let store: TinyStore
    private(set) var told = CrashWorkload.Told()
    private(set) var failures = 0
    private var log: SegmentedLog?

    init(_ workload: CrashWorkload, _ store: TinyStore) {
        self.workload = workload
        self.store = store
    }

    mutating func finish() throws {
        for (index, batch) in workload.batches.enumerated() {
            try append(batch)
            if index % 4 == 2 { try sync() }
            if index == 8 { try reopen() }
            if index == 9 { try trim() }
        }
        try reopen()
        let log = try opened()
        let floor = Int(log.floor.offset)
        let difference = firstDifference(try reading { try log.allCommits() }, Array(workload.reference[floor...]))
        try check(difference == nil, "the end: \(difference ?? "")")
        told.durable = log.durableEnd.offset
        try check(told.durable == UInt64(workload.reference.count), "not all is durable")
        try? log.close()
    }

    /// Retries once: a fault comes once.
    private mutating func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            failures += 1
            return try body()
        }
    }

    private mutating func opened() throws -> SegmentedLog {
        if let log { return log }
        let (store, options) = (store, workload.options)
        let opened = try reading { try store.open(options) }
        try check(opened.end.offset >= told.durable, "opening finds \(opened.end), durable was \(told.durable)")
        if let id = told.storeID { try check(id == opened.identity.storeID, "another store") }
        told.storeID = opened.identity.storeID
        log = opened
        return opened
    }

    private mutating func reopen() throws {
        guard let open = log else { return }
        do { try open.close() } catch { failures += 1 }
        log = nil
        _ = try opened()
    }

    private mutating func append(_ batch: [NewCommit]) throws {
        var log = try opened()
        let before = log.end
        var done = 0
        while done < batch.count {
            let expecting = log.end
            do throws(AppendFailure) {
                done += try log.append(Array(batch[done...]), expecting: done == 0 ? before : expecting).count
            } catch {
                failures += 1
                try checkFailure(error, log, expecting)
                if case .unknown = error {
                    try reopen()
                    log = try opened()
                    // Repeating the append with what was expected then is how its outcome is found out.
                    done = 0
                }
            }
            told.end = log.end.offset
            told.durable = max(told.durable, log.durableEnd.offset)
        }
    }

    private mutating func checkFailure(_ failure: AppendFailure, _ log: SegmentedLog, _ end: Position) throws {
        try check(log.end == end, "a failed append moved the end")
        switch failure {
        case .notWritten:
            let readable = try reading { try log.allCommits() }
            let expected = Array(workload.reference[Int(log.floor.offset)..<Int(end.offset)])
            try check(firstDifference(readable, expected) == nil, "reading after a failed append")
        case .unknown:
            let outcome = appendOutcome { _ = try log.append([workload.batches[0][0]], expecting: end) }
            try check(outcome == "unknown", "writing after an unknown outcome: \(outcome ?? "succeeded")")
            let readable = try reading { try log.allCommits() }
            try check(readable.last?.position ?? log.floor == end, "reading after an unknown outcome")
        default: throw failure
        }
    }

    private mutating func sync() throws {
        let log = try opened()
        do {
            try log.sync()
            told.durable = log.durableEnd.offset
            try check(log.durableEnd == log.end, "a sync left something out")
        } catch let error as StrataError {
            failures += 1
            try check(error.code == .outcomeUnknown, "\(error)")
            try reopen()
        }
    }

    private mutating func trim() throws {
        let log = try opened()
        let (offset, before) = (log.end.offset / 2 + 2, log.floor)
        let floor = try reading { try log.trim(to: offset) }
        try check(floor == log.floor && floor.offset > before.offset, "a trim left \(log.floor)")
    }
}
