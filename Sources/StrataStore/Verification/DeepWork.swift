import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// One pass over a store, from beginning to end.
final class DeepWork {
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
            // The commits after the newest state are folded too.
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
        let owner = Views.owner(log.storeID)
        let checked = try CheckedStates.open(in: path, owner, files: files) { [log] in try log.has($0) }
        guard let checked else { return }
        (report.finding, report.reasons) = (checked.finding, checked.reasons)
        let states = checked.states.filter { $0.state.position.offset >= log.floor.offset }
        guard let newest = states.last else { return }
        for state in states {
            try truth.fold(upTo: state.state.position.offset)
            report.states.append(try compareDigests(state.state, state.trees))
        }
        progress(.comparing)
        var (count, damage) = try checked.checkFrames(limit: ScrubReport.maximumDifferences)
        let scrubbed = damage.isEmpty ? try scrub(newest.trees, &damage) : ScrubReport()
        (report.frameCount, report.frameDamage) = (count, damage)
        report.entryCount = scrubbed.entryCount
        try name(scrubbed.differences)
    }

    private func compareDigests(_ state: DurableState, _ trees: Snapshot) throws -> DeepReport.State {
        // Damaged frames have no digests.
        DeepReport.State(
            position: state.position, noted: try? Views.digests(noted: state.opaque), found: try? trees.digests(),
            expected: try truth.state().digests())
    }

    /// Compares the entries of a state with those of the log. Malformed rows count as damage.
    private func scrub(_ trees: Snapshot, _ damage: inout [StrataError]) throws -> ScrubReport {
        var report = ScrubReport()
        let error = try Views.damage { report = try Views.compare(trees, with: truth.state()) }
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
