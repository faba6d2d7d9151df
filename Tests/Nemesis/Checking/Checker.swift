import Foundation
import StrataJetStream
import StrataLog
import StrataModel
import StrataReplay
import StrataReplication
import StrataStore
import StrataSystem

/// Checks a history against the copies of the store, in time that grows with their length
/// (docs/replication-internals.md §9).
struct Checker {
    /// A change of what is checked, which must be noticed.
    enum Doctoring: CaseIterable {
        case lost, doubled, moved
    }

    struct Counts {
        /// The number of faults of each kind.
        var faults: [String: Int] = [:]
        var operations = 0
        var reads = 0
        var unansweredReads = 0
        var acknowledged = 0
        var refused = 0
        var unwritten = 0
        var commits = 0
        var lost = 0
        var doubled = 0
        var reordered = 0
        var unknownIn = 0
        var unknownOut = 0
        var judged = 0
    }

    let folder: String
    let tally: Tally
    var doctoring: Doctoring?
    private(set) var counts = Counts()

    /// The number of commits that are judged again: the last ones.
    private static let judgedCommits: UInt64 = 300_000
    static let copyCount = 4

    init(_ folder: String, _ tally: Tally, _ doctoring: Doctoring? = nil) {
        (self.folder, self.tally, self.doctoring) = (folder, tally, doctoring)
    }

    static func copy(_ index: Int, in folder: String) -> String { "\(folder)/copy\(index)" }
    private var copies: [String] { (0..<Self.copyCount).map { Self.copy($0, in: folder) } }

    mutating func run() throws {
        let history = try RecordedOperations(reading: "\(folder)/\(History.name)")
        for problem in history.problems { tally.violation(problem) }
        count(history)
        var numbers = try commits()
        counts.commits = numbers.count
        doctor(&numbers)
        let places = check(history, numbers)
        let states = RecordedStates(history, numbers)
        states.checkExpectations(tally)
        states.checkReads(tally)
        checkReads(history)
        checkEnd(history, places)
        guard doctoring == nil else { return }
        try checkCopies(states)
        try judgeAgain()
    }

    private mutating func count(_ history: RecordedOperations) {
        (counts.faults, counts.operations) = (history.faults, history.operations.count)
        for operation in history.operations {
            switch operation.status {
            case .found, .changes: counts.reads += 1
            case .ok: counts.acknowledged += 1
            case .none, .changed, .missing: counts.refused += 1
            case .unwritten: counts.unwritten += 1
            case .unanswered, .unknown: counts.unansweredReads += operation.kind.isWrite ? 0 : 1
            case .error: break
            }
        }
    }

    // MARK: The log

    /// Returns the number of the operation of each commit; 0 for the one that made the zones.
    private func commits() throws -> [Int] {
        let reader = try LogReader.open(at: copies[0], extent: .written)
        var cursor = try reader.read(from: 1)
        var numbers: [Int] = []
        while let commit = try cursor.next() {
            let operation = try commit.payload.withUnsafeBytes { try EventWalker($0).header().operationID }
            guard let number = operation == "setup" ? 0 : Int(operation), commit.offset == numbers.count + 1 else {
                tally.violation("commit \(commit.offset) is of operation '\(operation)'")
                continue
            }
            numbers.append(number)
        }
        return numbers
    }

    private func doctor(_ numbers: inout [Int]) {
        let middle = numbers.count / 2
        switch doctoring {
        case .lost: numbers.remove(at: middle)
        case .doubled: numbers.insert(numbers[middle], at: numbers.count - 1)
        case .moved: numbers.swapAt(middle, numbers.count - 1)
        case nil: break
        }
    }

    /// Checks that what was acknowledged is in the log once, at its place and behind what was acknowledged before it
    /// was asked for, and that nothing else is there that cannot be. Returns the offset of each operation.
    private mutating func check(_ history: RecordedOperations, _ numbers: [Int]) -> [UInt64] {
        var places = [UInt64](repeating: 0, count: history.operations.count)
        for (index, number) in numbers.enumerated() where number != 0 {
            let offset = UInt64(index) + 1
            guard let operation = history.index(of: number) else {
                tally.violation("commit \(offset) is of operation \(number), which was never asked for")
                continue
            }
            if places[operation] != 0 {
                counts.doubled += 1
                tally.violation("operation \(number) is commit \(places[operation]) and commit \(offset)")
            }
            places[operation] = offset
            if offset <= history.operations[operation].bound {
                counts.reordered += 1
                let bound = history.operations[operation].bound
                tally.violation(
                    "operation \(number) is commit \(offset), but was asked for after \(bound) was acknowledged")
            }
        }
        for (index, operation) in history.operations.enumerated() where operation.kind.isWrite {
            let (number, place) = (operation.number, places[index])
            switch operation.status {
            case .ok where place == 0:
                counts.lost += 1
                tally.violation("operation \(number) was acknowledged as commit \(operation.offset), and is lost")
            case .ok where place != operation.offset:
                counts.reordered += 1
                tally.violation("operation \(number) was acknowledged as commit \(operation.offset), and is \(place)")
            case .ok: break
            case .unknown, .unanswered:
                if place == 0 { counts.unknownOut += 1 } else { counts.unknownIn += 1 }
            case .none, .changed, .missing, .unwritten, .found, .changes, .error:
                if place != 0 {
                    tally.violation("operation \(number) was not written (\(operation.status)), and is commit \(place)")
                }
            }
        }
        return places
    }

    // MARK: States

    /// Checks that the states that a process shows never go back, and that a confirmed one has everything that was
    /// acknowledged before.
    private func checkReads(_ history: RecordedOperations) {
        for operation in history.operations where [.found, .changes].contains(operation.status) {
            let number = operation.number
            if operation.offset < operation.shown {
                tally.violation("read \(number) shows state \(operation.offset) after \(operation.shown)")
            }
            if operation.kind == .fetch, operation.offset < operation.bound {
                tally.violation(
                    "read \(number) was confirmed, and shows state \(operation.offset) after \(operation.bound)")
            }
            if operation.hasBadPhoto { tally.violation("read \(number) found an asset with other bytes") }
        }
    }

    /// Checks that every process takes writes again soon after the last fault.
    private func checkEnd(_ history: RecordedOperations, _ places: [UInt64]) {
        guard history.hasQuietTime else { return tally.violation("the history has no end") }
        if history.acknowledging.count < Campaign.processCount {
            tally.violation(
                "\(Campaign.processCount - history.acknowledging.count) processes acknowledged nothing in the "
                    + "\(Campaign.quietSeconds) seconds after the last fault")
        }
    }

    /// Checks that all copies have the same commits and states, and the assets of all records.
    private func checkCopies(_ states: RecordedStates) throws {
        let first = try LogReader.open(at: copies[0], extent: .written)
        for copy in copies.dropFirst() {
            let other = try LogReader.open(at: copy, extent: .written)
            if other.end != first.end { tally.violation("\(copy) ends with \(other.end), not \(first.end)") }
            if let offset = try HistoryComparison(first, other).difference {
                tally.violation("\(copy) has another commit \(offset)")
            }
        }
        var options = StoreOptions.service
        // A store whose assets the servers keep has no such directory, and each copy has the files that it names.
        if FileManager.default.fileExists(atPath: "\(folder)/files") {
            options.place = options.place.withFiles(in: "\(folder)/files")
        } else {
            options.place = try LogPlace.jetStream("nats://127.0.0.1:1/gone?assets=cluster")
        }
        let stores = try copies.map { try Store.open(at: $0, options: options, access: .readOnly) }
        defer { for store in stores { try? store.close() } }
        let digests = try stores[0].snapshot().digests()
        for (store, copy) in zip(stores, copies) where try store.snapshot().digests() != digests {
            tally.violation("\(copy) has another state than \(copies[0])")
        }
        for store in stores { try states.checkRecords(of: store, tally) }
    }

    /// Judges requests again where they are in the log, which must give the same commits.
    private mutating func judgeAgain() throws {
        let store = try Store.open(at: copies[0], access: .readOnly)
        defer { try? store.close() }
        let end = store.offset
        let report = try JudgedLog.of(store, from: end > Self.judgedCommits ? end - Self.judgedCommits + 1 : 1)
        counts.judged = report.judgedCount
        if let difference = report.difference {
            tally.violation("commit \(difference.offset) judged again: \(difference.reason)")
        }
        if report.unjudgedCount > 0 { tally.violation("\(report.unjudgedCount) commits cannot be judged again") }
    }
}
