import StrataModel
import StrataSystem

/// Makes a damaged log one that opens again: it mends what is known for certain, and cuts the log behind the last
/// commit in front of the first damage that is not.
///
/// Nothing is invented, and nothing is thrown away: what leaves the log stays beside it, byte by byte, under names that
/// end in `.repaired-` and the number of the repair, with a note that says what was taken from where.
///
/// ```swift
/// let plan = try LogRepair.plan(at: "Notes.strata")
/// print("offsets that would be lost:", plan.lostOffsets)
/// try LogRepair.apply(at: "Notes.strata")
/// ```
public enum LogRepair {
    /// One thing that a repair does, in the order in which it does them.
    public struct Step: Sendable, Equatable {
        public enum Kind: String, Sendable, CaseIterable {
            /// The file is kept as it was under another name, because it is about to be changed.
            case copy
            /// The file leaves the log as a whole.
            case move
            /// The file ends at `position` from now on.
            case cut
            /// The segment's header is written anew, as its checksum proves that it was.
            case header
            /// The segment, which is sealed, is written anew from its whole commits.
            case rewrite
            /// A closing frame is written at `position`, which follows from the commits and the next segment.
            case seal
            /// `FLOOR` is written anew, from where the first segment begins or what a base stands for.
            case floor
        }

        public var kind: Kind
        public var path: String
        /// Where it is kept.
        public var target: String?
        public var position: Int?

        var seal: SegmentFile.Seal?
        var floor: FloorMark?
        var header: [UInt8] = []
        var rewrite: SealedRewrite?

        init(
            _ kind: Kind, _ path: String, to target: String? = nil, at position: Int? = nil,
            seal: SegmentFile.Seal? = nil, floor: FloorMark? = nil, header: [UInt8] = [], rewrite: SealedRewrite? = nil
        ) {
            (self.kind, self.path, self.target, self.position) = (kind, path, target, position)
            (self.seal, self.floor, self.header, self.rewrite) = (seal, floor, header, rewrite)
        }
    }

    /// What a repair does, or would do.
    public struct Plan: Sendable {
        public var report: LogVerifier.Report
        /// Empty if the log is whole, or cannot be repaired.
        public var steps: [Step] = []
        /// Why it cannot be repaired, and what can be done instead.
        public var obstacle: String?
        /// The last commit of the log afterwards.
        public var end: Position
        /// Offsets that the log does not have any more afterwards, up to the last one that anything names.
        public var lostOffsets = OffsetRanges()
        /// Those of them whose commits are whole in files that are kept.
        public var keptAsideOffsets = OffsetRanges()
        /// Where files are kept: that of the log.
        public var directory: String
        /// The file that tells what was done; nil if nothing is.
        public var note: String?

        /// Whether there is nothing to repair.
        public var isWhole: Bool { report.damage == nil }
    }

    /// What ``apply(at:platform:progress:)`` would do. Reads only, and takes no lock.
    public static func plan(
        at path: String, platform: Platform = Platform(), progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws -> Plan {
        try RepairPlanner(survey: LogSurvey.run(at: StorePaths(path), platform.files, progress)).plan()
    }

    /// Repairs the log; power may be lost at any moment of it, and it can be run again. Does nothing where
    /// ``Plan/isWhole`` or ``Plan/obstacle`` say why.
    ///
    /// - Throws: `.locked` while a program has the store open for writing, or what the operating system reports.
    @discardableResult
    public static func apply(
        at path: String, platform: Platform = Platform(), progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws -> Plan {
        let paths = StorePaths(path)
        // A lock would make a file where there is no store.
        guard try platform.files.exists(paths.identity) else { return try plan(at: path, platform: platform) }
        let lock = try StoreLock(paths, platform.files)
        defer { lock.release() }
        let plan = try plan(at: path, platform: platform, progress: progress)
        try RepairWriter(paths: paths, platform: platform).carryOut(plan)
        return plan
    }
}

/// Turns what a survey found into steps.
struct RepairPlanner {
    let survey: LogSurvey
    private var paths: StorePaths { survey.paths }

    init(survey: LogSurvey) { self.survey = survey }

    func plan() throws -> LogRepair.Plan {
        var plan = LogRepair.Plan(report: survey.report, end: survey.report.end, directory: paths.log)
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
            return "Part of the store is of a newer format, which is no damage: use the Strata that wrote it, or a "
                + "later one."
        }
        if survey.report.identity == nil {
            return "STORE is damaged, and nothing else holds the container's identifier: put back that file from any "
                + "backup of this store; it never changes."
        }
        guard case .everything? = survey.cut else { return nil }
        if all.contains(where: { $0.context.path?.hasSuffix(".base") == true }) {
            return "The base is damaged or missing, which stands for all commits up to the floor: put back that file "
                + "from a backup."
        }
        if !survey.isFloorKnown && survey.floor == nil && !survey.segments.isEmpty {
            return "FLOOR is damaged, and the segments do not tell where the log begins: put back that file, or "
                + "segments that are missing, from a backup."
        }
        return "The front of the log is lost, and without it nothing behind can be read: put back the first segments, "
            + "and FLOOR if the log had one, from a backup."
    }

    /// `.repaired-1`, or the first number that no earlier repair has.
    private func unusedSuffix() throws -> String {
        let names = try survey.files.list(paths.log)
        var number = 1
        while names.contains(where: { $0 == "repaired-\(number).txt" || $0.hasSuffix(".repaired-\(number)") }) {
            number += 1
        }
        return ".repaired-\(number)"
    }

    /// Copies first, so that whatever is changed is kept; then what leaves, from the end on, so that the log is never
    /// without its middle; then the changes.
    private func steps(_ suffix: String, hasFloor: Bool) -> [LogRepair.Step] {
        var copies: [LogRepair.Step] = []
        var moves: [LogRepair.Step] = []
        var changes: [LogRepair.Step] = []
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
        // They name commits that the log does not have any more, and keep it from being opened.
        for witness in survey.witnesses.beyond(survey.keptEnd.offset, of: survey.storeID ?? .zero) {
            moves.append(.init(.move, witness.path, to: witness.path + suffix))
        }
        return copies + moves + changes
    }
}
