import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataSystem
import StrataTree
import StrataViews

/// Checks that a log gives the same state however it is replayed: folded from its beginning, from each kept checkpoint,
/// and with every request judged again.
///
/// ```swift
/// let report = try DeterminismCheck(of: store).run()
/// if let first = report.differences.first { print(first.offset, first.reason) }
/// ```
/// When requests are judged again, every commit must be the same byte by byte, and so the state after it. Digests of
/// both states are compared at every offset of a log of up to 4,096 commits, at 4,096 offsets or more of a longer one,
/// and at each checkpoint.
package struct DeterminismCheck {
    /// Digests are compared at no fewer offsets than this if the log has as many.
    private static let comparedOffsets: UInt64 = 4_096

    /// The rules that judge the requests; those of the store by default.
    package var rules: Rules
    /// The first commit that is compared.
    package var first: UInt64 = 1
    private let store: Store
    private let platform: Platform

    /// - Parameters:
    ///   - store: is only read.
    ///   - platform: the platform that reads the store's page file.
    package init(of store: Store, platform: Platform = Platform()) {
        self.store = store
        self.platform = platform
        rules = store.rules
    }

    /// - Throws: ``StrataError`` if the log cannot be read, `outOfRange` if it does not have the first commit.
    package func run() throws -> DeterminismReport {
        let (floor, end) = (store.log.floor.offset, store.snapshot().offset)
        let first = max(first, floor + 1)
        guard first <= end + 1 else {
            throw StrataError(
                .outOfRange, "The log has no commit at that offset.",
                .init(expected: "\(floor + 1) to \(end)", found: "\(first)"))
        }
        var report = DeterminismReport(first: first, end: end)
        let file = try KeptCheckpoints(of: store, platform)
        let (old, new) = (try pages(through: first - 1), try pages(through: first - 1))
        let time = try store.log.timeInFront(of: first)
        let timeline = AlternateTimeline(on: new, time: time ?? .min, rules: rules, into: nil)
        let window = try RerunWindow(store.log, from: first, through: end)
        let rerun = RequestRerun(window, timeline, rules, time: time ?? 0)
        try rerun.run(through: first - 1, old: old)
        try compare(rerun, file, &report)
        if let divergence = rerun.tally.divergence {
            report.add(.judgedAgain, divergence.offset, divergence.reason)
        }
        (report.unjudged, report.unjudgedCount) = (rerun.tally.unjudged, rerun.tally.unjudgedCount)
        report.noteCount = rerun.tally.noteCount
        report.differences.sort { $0.offset < $1.offset }
        return report
    }

    private func pages(through offset: UInt64) throws -> PageStore {
        let name = "strata-replay-\(SystemRandom().nextIdentifier()).pages"
        var options = PageStoreOptions()
        options.maximumMemoryPages = 8_192
        let pages = try PageStore.temporary(
            in: TemporaryDirectory.path, files: RealFileSystem(), options: options, name: name)
        try Replay(log: store.log, pages: pages).run(upTo: offset)
        return pages
    }

    private func compare(
        _ rerun: RequestRerun, _ file: KeptCheckpoints, _ report: inout DeterminismReport
    ) throws {
        let step = max(1, (report.end + 1 - report.first) / Self.comparedOffsets)
        /// The offset before each following checkpoint, and the end, with the digests expected there.
        var ends: [(offset: UInt64, digests: Digests)] = []
        let offsets = file.offsets(through: report.end)
        let wanted = Set(offsets.dropFirst().map { $0 - 1 } + (offsets.isEmpty ? [] : [report.end]))
        for offset in report.first..<report.end + 1 {
            try rerun.run(through: offset)
            let isCheckpoint = offsets.contains(offset)
            guard (offset - report.first) % step == 0 || offset == report.end || isCheckpoint || wanted.contains(offset)
            else { continue }
            let digests = try rerun.digests()
            report.comparedCount += 1
            report.digests = digests.old
            if rerun.tally.divergence == nil, digests.old != digests.new {
                report.addOnce(.judgedAgain, offset, "The same commits led to a different state.")
            }
            if wanted.contains(offset) { ends.append((offset, digests.old)) }
            if isCheckpoint, let state = try rerun.publishOld() {
                try file.compare(at: offset, with: state, digests.old, &report)
            }
        }
        try rerun.finish()
        for (offset, digests) in ends where offsets.contains(where: { $0 < offset }) {
            try foldOn(to: offset, expecting: digests, offsets, &report)
        }
    }

    /// Checks the state that the newest checkpoint before a commit leads to.
    private func foldOn(
        to offset: UInt64, expecting digests: Digests, _ offsets: [UInt64], _ report: inout DeterminismReport
    ) throws {
        guard let start = offsets.last(where: { $0 <= offset }), start < offset else { return }
        // The checkpoint has already been reported.
        guard !report.differences.contains(where: { $0.way == .checkpoint(start) }) else { return }
        if try isSame(offset, digests) { return }
        var (same, other) = (start, offset)
        while other - same > 1 {
            let middle = same + (other - same) / 2
            let truth = try Views.state(of: store.log, at: middle, in: TemporaryDirectory.path).digests()
            if try isSame(middle, truth) { same = middle } else { other = middle }
        }
        report.add(.checkpoint(start), other, "Folding from the checkpoint leads to a different state.")
    }

    private func isSame(_ offset: UInt64, _ digests: Digests) throws -> Bool {
        let past = try store.asOf(offset)
        defer { try? past.close() }
        return try past.snapshot().digests() == digests
    }
}

/// The result of a determinism check.
package struct DeterminismReport: Sendable {
    /// The way of replaying that gave another result than folding the log from its beginning.
    package enum Way: Sendable, Hashable {
        case judgedAgain
        /// Folding on from the checkpoint at this offset.
        case checkpoint(UInt64)
    }

    package struct Difference: Sendable {
        package var way: Way
        /// The first commit after which the states differ, or that made the first differing entry.
        package var offset: UInt64
        package var reason: String
    }

    private static let maximumDifferences = 100

    package let first: UInt64
    package let end: UInt64
    /// The number of offsets at which digests were compared.
    package internal(set) var comparedCount = 0
    /// The offsets of the checkpoints that were compared entry by entry.
    package internal(set) var checkpoints: [UInt64] = []
    /// The differences in the order of offsets, up to a limit.
    package internal(set) var differences: [Difference] = []
    /// The commits that could not be judged again, in order, up to a limit.
    package internal(set) var unjudged: [RerunReport.Unjudged] = []
    /// The number of commits that could not be judged again.
    package internal(set) var unjudgedCount = 0
    /// The number of commits that only record a note, such as a fetch, and have no request.
    package internal(set) var noteCount = 0
    /// The number of commits to judge again.
    package var commitCount: Int { Int(end + 1 - first) }
    package var judgedCount: Int { commitCount - unjudgedCount }
    /// The digests of the state at the end.
    package internal(set) var digests: Digests?

    /// True if no difference was found, or if nothing could be judged.
    package var isSame: Bool { differences.isEmpty }

    package enum Verdict: String, Sendable {
        case same
        case differs
        /// The range has requests, but none of them could be judged.
        case nothingJudged = "nothing judged"
        /// The range has no commits.
        case empty
    }

    package var verdict: Verdict {
        if !isSame { return .differs }
        if commitCount == 0 { return .empty }
        return unjudgedCount > 0 && judgedCount == noteCount ? .nothingJudged : .same
    }

    /// True if fewer than half of the commits with requests could be judged again.
    package var hasJudgedFew: Bool { (judgedCount - noteCount) * 2 < commitCount - noteCount }

    init(first: UInt64, end: UInt64) { (self.first, self.end) = (first, end) }

    mutating func add(_ way: Way, _ offset: UInt64, _ reason: String) {
        if differences.count < Self.maximumDifferences {
            differences.append(Difference(way: way, offset: offset, reason: reason))
        }
    }

    mutating func addOnce(_ way: Way, _ offset: UInt64, _ reason: String) {
        if !differences.contains(where: { $0.way == way }) { add(way, offset, reason) }
    }
}

/// The checkpoints of a store's page file at the time of opening it.
struct KeptCheckpoints {
    private let file: CheckedPageFile?

    init(of store: Store, _ platform: Platform) throws {
        guard let path = store.path else {
            file = nil
            return
        }
        let reader = try LogReader.open(at: path, platform: platform)
        file = try CheckedPageFile.open(
            in: path, store: reader.identity.storeID, files: platform.files, isValid: reader.has)
    }

    func offsets(through end: UInt64) -> [UInt64] {
        (file?.entries ?? []).map(\.checkpoint.position.offset).filter { $0 <= end }
    }

    /// Reports the entries of a checkpoint that differ from the state of the log.
    func compare(
        at offset: UInt64, with truth: Snapshot, _ digests: Digests, _ report: inout DeterminismReport
    ) throws {
        for entry in file?.entries ?? [] where entry.checkpoint.position.offset == offset {
            var found: [(offset: UInt64, reason: String)] = []
            do {
                if try entry.trees.digests() != digests { found.append((offset, "Its digests differ.")) }
                for difference in try Views.compare(entry.trees, with: truth).differences {
                    let tree = ViewTree.name(of: difference.tree)
                    found.append((difference.offset ?? offset, "An entry of \(tree) is \(difference.kind.rawValue)."))
                }
            } catch let error as StrataError where Views.isDamage(error) {
                found.append((offset, "It cannot be read: \(error)"))
            }
            // A writer may have reused the checkpoint's pages in the meantime.
            guard let file, try file.isThere(entry.checkpoint) else { return }
            report.checkpoints.append(offset)
            for difference in found { report.add(.checkpoint(offset), difference.offset, difference.reason) }
        }
    }
}
