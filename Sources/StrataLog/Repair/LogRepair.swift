import StrataModel
import StrataSystem

/// Makes a damaged log open again: it mends damage whose original content is certain, and cuts the log after the last
/// commit before the first other damage.
///
/// Nothing is invented or discarded: everything taken out of the log is kept in the store's directory, byte for byte,
/// under names that end in `.repaired-` and the number of the repair, with a note that lists what was taken from where.
///
/// ```swift
/// let plan = try LogRepair.plan(at: "Notes.strata")
/// print("offsets that would be lost:", plan.lostOffsets)
/// try LogRepair.apply(at: "Notes.strata")
/// ```
package enum LogRepair {
    /// Returns what ``apply(at:platform:progress:)`` would do. Only reads, and takes no lock.
    package static func plan(
        at path: String, platform: Platform = Platform(), progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws -> RepairPlan {
        try RepairPlanner(survey: DamageScan.run(at: StorePaths(path), platform.files, progress)).plan()
    }

    /// Repairs the log. Power may be lost at any moment, and the repair can be run again. Does nothing if the log is
    /// whole (``RepairPlan/isWhole``) or cannot be repaired (``RepairPlan/obstacle``).
    ///
    /// - Throws: `.locked` while a program has the store open for writing, or the operating system's error.
    @discardableResult
    package static func apply(
        at path: String, platform: Platform = Platform(), progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws -> RepairPlan {
        let paths = StorePaths(path)
        // A lock would create a file where there is no store.
        guard try platform.files.exists(paths.identity) else { return try plan(at: path, platform: platform) }
        let lock = try StoreLock(paths, platform.files)
        defer { lock.release() }
        let plan = try plan(at: path, platform: platform, progress: progress)
        try RepairWriter(paths: paths, platform: platform).carryOut(plan)
        return plan
    }
}

/// Turns the findings of a survey into steps.
struct RepairPlanner {
    let survey: DamageScan
    private var paths: StorePaths { survey.paths }

    init(survey: DamageScan) { self.survey = survey }

    func plan() throws -> RepairPlan {
        var plan = RepairPlan(report: survey.report, end: survey.report.end, directory: paths.log)
        guard survey.report.damage != nil else { return plan }
        plan.obstacle = obstacle()
        if plan.obstacle != nil { return plan }
        let suffix = try unusedSuffix()
        plan.note = "\(paths.log)/\(suffix.dropFirst()).txt"
        plan.steps = steps(suffix, hasFloor: try survey.files.exists(paths.floor))
        plan.end = survey.keptEnd
        if survey.namedOffset > plan.end.offset {
            let behind = plan.end.offset + 1...survey.namedOffset
            plan.lostOffsets = OffsetRanges([behind])
            plan.keptAsideOffsets = OffsetRanges(
                (survey.report.extent?.standingOffsets.ranges ?? []).filter { $0.upperBound >= behind.lowerBound }
                    .map { max($0.lowerBound, behind.lowerBound)...$0.upperBound })
        }
        return plan
    }

    private func obstacle() -> String? {
        let all = [survey.report.damage].compactMap { $0 } + (survey.report.extent?.furtherDamage ?? [])
        if all.contains(where: { $0.code == .newerFormat }) {
            return "Part of the store has a newer format, which is not damage: use the Strata that wrote it, or a "
                + "later one."
        }
        if survey.report.identity == nil {
            return "STORE is damaged, and no other file contains the container's identifier: restore that file from "
                + "any backup of this store; it never changes."
        }
        guard case .everything? = survey.cut else { return nil }
        if all.contains(where: { $0.context.path?.hasSuffix(".base") == true }) {
            return "The base, which replaces all commits up to the floor, is damaged or missing: restore that file "
                + "from a backup."
        }
        if !survey.isFloorKnown && survey.floor == nil && !survey.segments.isEmpty {
            return "FLOOR is damaged, and the segments do not show where the log begins: restore that file, or "
                + "the missing segments, from a backup."
        }
        return "The beginning of the log is lost, and the rest cannot be read without it: restore the first segments, "
            + "and FLOOR if the log had one, from a backup."
    }

    /// Returns `.repaired-` with the first number that no earlier repair has used.
    private func unusedSuffix() throws -> String {
        let names = try survey.files.list(paths.log)
        var number = 1
        while names.contains(where: { $0 == "repaired-\(number).txt" || $0.hasSuffix(".repaired-\(number)") }) {
            number += 1
        }
        return ".repaired-\(number)"
    }

    /// Copies come first, so that everything changed is kept. Then files leave, from the end on, so that the log never
    /// lacks its middle. The changes come last.
    private func steps(_ suffix: String, hasFloor: Bool) -> [RepairPlan.Step] {
        var copies: [RepairPlan.Step] = []
        var moves: [RepairPlan.Step] = []
        var changes: [RepairPlan.Step] = []
        func path(_ index: Int) -> String { survey.segments[index].path }
        func keep(_ path: String) {
            if !copies.contains(where: { $0.path == path }) { copies.append(.init(.copy, path, to: path + suffix)) }
        }
        for mend in survey.mends {
            switch mend {
            case .header(let index, let bytes):
                keep(path(index))
                changes.append(.init(.header, path(index), header: bytes))
            case .rewritten(let index, let rewrite):
                keep(path(index))
                changes.append(.init(.rewrite, path(index), rewrite: rewrite))
            case .seal(let index, let seal):
                keep(path(index))
                changes.append(.init(.seal, path(index), at: seal.position, seal: seal))
            case .floor(let mark):
                if hasFloor { keep(paths.floor) }
                changes.append(.init(.floor, paths.floor, floor: mark))
            case .noFloor: moves.append(.init(.move, paths.floor, to: paths.floor + suffix))
            }
        }
        let firstGone: Int
        switch survey.cut {
        case .within(let index, let keptBytes):
            keep(path(index))
            changes.append(.init(.cut, path(index), at: keptBytes))
            firstGone = index + 1
        case .rewritten(let index, let rewrite):
            keep(path(index))
            changes.append(.init(.rewrite, path(index), rewrite: rewrite))
            firstGone = index + 1
        case .before(let index): firstGone = index
        case .everything, nil: firstGone = survey.segments.count
        }
        for index in survey.segments.indices.reversed() where index >= firstGone {
            moves.append(.init(.move, path(index), to: path(index) + suffix))
        }
        // They name commits that the log no longer has, and would keep it from being opened.
        for witness in survey.witnesses.beyond(survey.keptEnd.offset, of: survey.storeID ?? .zero) {
            moves.append(.init(.move, witness.path, to: witness.path + suffix))
        }
        return copies + moves + changes
    }
}
