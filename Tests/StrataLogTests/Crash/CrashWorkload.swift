import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

/// What a program does with a store while everything goes wrong: it opens it, appends, syncs, trims, closes, and opens
/// it again.
struct CrashWorkload: Sendable {
    /// What the program has been told so far; whatever it was told must be true after any crash.
    struct Told: Sendable {
        var storeID: Identifier?
        /// Up to here all is durable.
        var durable: UInt64 = 0
        /// Up to here all is readable.
        var end: UInt64 = 0
    }

    let options: LogOptions
    let batches: [[NewCommit]]
    /// All commits as a log without crashes has them.
    let reference: [Commit]
    private static let trimmedAt = 9

    init(_ durability: Durability, spaceStepBytes: Int = 0) {
        options = LogOptions(durability: durability, segmentBytes: 64 << 10, spaceStepBytes: spaceStepBytes)
        var sequence = CommitSequence(seed: 1, noise: 1)
        batches = [1, 1, 2, 1, 3, 1, 1, 2, 1, 2, 1, 1].map { count in
            sequence.next(count, events: 2, bytesPerEvent: 5_000 / count + 400)
        }
        reference = expectedCommits(batches.flatMap(\.self))
    }

    /// Runs to the end, or throws what goes wrong; `told` is brought up to date after each answer.
    func run(on store: TinyStore, told: Monitor<Told>) throws {
        var log = try store.open(options)
        note(log, told)
        for (index, batch) in batches.enumerated() {
            if index == 8 {
                try log.close()
                told.withLock { $0.durable = $0.end }
                log = try store.open(options)
            }
            _ = try log.append(batch, expecting: log.end)
            note(log, told)
            if index % 4 == 2 {
                try log.sync()
                note(log, told)
            }
            if index == Self.trimmedAt { _ = try log.trim(to: log.end.offset / 2 + 2) }
        }
        try log.close()
        told.withLock { $0.durable = $0.end }
    }

    private func note(_ log: SegmentedLog, _ told: Monitor<Told>) {
        let (end, durable, id) = (log.end.offset, log.durableEnd.offset, log.identity.storeID)
        told.withLock { $0 = Told(storeID: id, durable: max($0.durable, durable), end: end) }
    }

    /// Opens what a crash left and sees whether all that was told is true, and whether the store can be used.
    func checkSurvivor(_ store: TinyStore, _ told: Told) throws {
        let log = try store.open(options)
        if let storeID = told.storeID { try check(log.identity.storeID == storeID, "this is another store") }
        let end = log.end.offset
        try check(end >= told.durable, "commits \(end + 1) to \(told.durable) were durable and are lost")
        try check(end <= UInt64(reference.count), "\(end) commits are more than were ever appended")
        let floor = log.floor
        try check(floor == .start || reference.contains { $0.position == floor }, "a floor that never was: \(floor)")
        let difference = firstDifference(try log.allCommits(), Array(reference[Int(floor.offset)..<Int(end)]))
        try check(difference == nil, "what is left is not what was appended: \(difference ?? "")")
        try checkUse(of: log, in: store)
    }

    private func checkUse(of log: SegmentedLog, in store: TinyStore) throws {
        let end = log.end
        var sequence = CommitSequence(seed: 99)
        var commit = sequence.next()
        commit.time += log.endTime ?? 0
        _ = try log.append([commit], expecting: end)
        try log.close()
        let again = try store.open(options)
        try check(again.recovery.tornTail == nil && again.recovery.removedFiles.isEmpty, "\(again.recovery)")
        let expected = expectedCommits([commit], after: end)
        try check(try again.commits(from: end.offset + 1) == expected, "what was appended after the crash is not there")
    }
}

extension Durability: CustomTestStringConvertible {
    public var testDescription: String {
        switch self {
        case .commit: "durable by commit"
        case .interval(let interval): "durable every \(interval / .milliseconds(1)) ms"
        case .system: "durable when the system likes"
        }
    }
}
