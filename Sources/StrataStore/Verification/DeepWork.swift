import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// One pass over a store, from beginning to end.
final class DeepWork {
    /// The number of attempts with the newest checkpoint, and in total. The later ones use one that will exist longer.
    private static let attempts = (newest: 4, all: 8)

    private let path: String
    private let platform: Platform
    private let progress: (DeepReport.Progress) -> Void
    private let log: FollowerLog
    private let truth: TruthFold
    private let files: any FileSystem
    private var report = DeepReport()
    private let beginning: (end: UInt64, floor: UInt64)

    init(at path: String, _ platform: Platform, _ progress: @escaping (DeepReport.Progress) -> Void) throws {
        self.path = path
        self.platform = platform
        self.progress = progress
        files = platform.files
        let log = try FollowerLog { try LogReader.open(at: path, platform: platform) }
        self.log = log
        beginning = (log.end.offset, log.floor.offset)
        truth = try TruthFold(log) { progress(.folding(done: $0, total: $1)) }
    }

    /// Returns true if another process has written since this began.
    func hasChanged() throws -> Bool {
        _ = try? log.refresh()
        return log.end.offset != beginning.end || log.floor.offset != beginning.floor
    }

    func run() throws -> DeepReport {
        report.isErasing = try files.exists(StorePaths(path).log + "/ERASING")
        do {
            try checkViews()
            // The commits after the checkpoint are folded too.
            try truth.fold(upTo: max(beginning.end, truth.offset))
        } catch let error as StrataError where truth.hasFailed && error.isDamage && error.context.page == nil {
            report.logDamage = error
            report.end = truth.offset
            return report
        }
        report.end = truth.offset
        // The assets of a copy are in a directory that several processes share.
        if try files.exists(StorePaths(path).replica) { return report }
        try AssetAudit(path, files).run(truth.state(), &report) { [progress] in
            progress(.readingAssets(done: $0, total: $1))
        }
        return report
    }

    // MARK: Views

    private func checkViews() throws {
        let isValid = { [log] (position: Position) in try log.has(position) }
        let summary = try PageStore.summary(in: path, store: log.storeID, files: files, isValid: isValid)
        guard let summary else { return }
        (report.finding, report.reasons) = (summary.finding, summary.reasons)
        for attempt in 0..<Self.attempts.all {
            guard
                let file = try CheckedPageFile.open(in: path, store: log.storeID, files: files, isValid: isValid)
            else { break }
            guard hasReadableNote(file) else { return }
            if try check(file, wantsNewest: attempt < Self.attempts.newest) {
                report.wasOutrun = attempt >= Self.attempts.newest
                return
            }
        }
        report.wasOutrun = summary.checkpoint != nil
    }

    /// Returns true if this release can read the note of the newest checkpoint.
    private func hasReadableNote(_ file: CheckedPageFile) -> Bool {
        do {
            for entry in file.entries.suffix(1) { _ = try Views.digests(notedWith: entry.checkpoint) }
            return true
        } catch {
            let reason = error as? StrataError ?? StrataError(.malformed, "A checkpoint's note cannot be read.")
            report.finding = reason.code == .newerFormat ? .newer : .damaged
            report.reasons.append(reason)
            return false
        }
    }

    /// Returns false if a writer has replaced the checkpoint that was read.
    private func check(_ file: CheckedPageFile, wantsNewest: Bool) throws -> Bool {
        let reachable = file.entries.filter { $0.checkpoint.position.offset >= max(truth.offset, log.floor.offset) }
        guard let last = wantsNewest ? reachable.last : reachable.first else { return false }
        var checked: [(entry: CheckedPageFile.Entry, found: DeepReport.Checkpoint)] = []
        for entry in reachable where entry.checkpoint.position.offset <= last.checkpoint.position.offset {
            try truth.fold(upTo: entry.checkpoint.position.offset)
            checked.append((entry, try compareDigests(entry)))
        }
        progress(.comparing)
        let pages = try file.checkPages(limit: ScrubReport.maximumDifferences)
        var damage = try pages.damage.filter { try file.isThere($0.checkpoint) }.map(\.error)
        let scrubbed = damage.isEmpty ? try scrub(last, &damage) : ScrubReport()
        guard try file.isThere(last.checkpoint) else { return false }
        report.checkpoints = try checked.filter { try file.isThere($0.entry.checkpoint) }.map(\.found)
        (report.pageCount, report.pageDamage) = (pages.count, damage)
        report.entryCount = scrubbed.entryCount
        try name(scrubbed.differences)
        return true
    }

    private func compareDigests(_ entry: CheckedPageFile.Entry) throws -> DeepReport.Checkpoint {
        // The note of another release has another form, and damaged pages have no digests.
        DeepReport.Checkpoint(
            position: entry.checkpoint.position, noted: try? Views.digests(notedWith: entry.checkpoint),
            found: try? entry.trees.digests(), expected: try truth.state().digests())
    }

    /// Compares the entries of a checkpoint with those of the log. Malformed rows count as damage.
    private func scrub(_ entry: CheckedPageFile.Entry, _ damage: inout [StrataError]) throws -> ScrubReport {
        var report = ScrubReport()
        let error = try Views.damage { report = try Views.compare(entry.trees, with: truth.state()) }
        if let error { damage.append(error) }
        return report
    }

    private func name(_ differences: [ScrubReport.Difference]) throws {
        let origins = try truth.origins(of: Set(differences.compactMap(\.name)))
        let words = ViewEntryText(truth.state())
        report.differences = differences.map { difference in
            DeepReport.Difference(
                offset: difference.offset ?? difference.name.flatMap { origins[$0] },
                tree: ViewTree.name(of: difference.tree), key: difference.key,
                entry: words.text(difference.tree, difference.key), kind: difference.kind)
        }
    }
}

extension FollowerLog {
    /// Returns true if the log has that chain value at that offset, also if a writer has only just appended it.
    fileprivate func has(_ position: Position) throws -> Bool {
        if position.offset == 0 { return position.chain == 0 }
        if position.offset > end.offset { _ = try refresh() }
        guard (floor.offset...end.offset).contains(position.offset) else { return false }
        return try chain(at: position.offset) == position.chain
    }
}
