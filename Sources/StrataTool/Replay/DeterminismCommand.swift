import StrataModel
import StrataReplay
import StrataStore
import StrataSystem

/// `strata determinism`: checks that every way of replaying a log gives the same state.
enum DeterminismCommand: Command {
    static let name = "determinism"
    static let summary = "replay the log from several starting points and compare the results"
    static let details =
        "Folds the log from its beginning, from each checkpoint that the page file keeps, and with each request judged "
        + "again by the rules. Commits that were judged again must be the same byte by byte, states must have the same "
        + "digests, and checkpoints the same entries. Exits with 0 if commits were judged and nothing differs, or if "
        + "there are no commits; with 1 if something differs, after printing the first offset; and with 1 if no commit "
        + "could be judged. It names the commits that the log does not record fully enough to judge. The store is only "
        + "read, even while another program writes to it."
    static let from = Option.number(
        "--from", "OFFSET", 1...Version.maximumOffset, help: "judge and compare starting with this commit")
    static let options: [any OptionDescription] = [from, WhatIfCommand.rules, Option.json]
    static let examples = [
        "strata determinism Notes.strata", "strata determinism Notes.strata --from 1200 --json | jq .verdict",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let options = arguments[WhatIfCommand.rules] ?? .service
        return try StateAccess.read(arguments.store, options: options, by: name, output) { access in
            var check = DeterminismCheck(of: access.store, platform: Platform(files: ReadOnlyFiles()))
            check.first = arguments[from] ?? 1
            if check.first > access.store.offset + 1 {
                throw Refusal(
                    .invalidArguments, access.store.log.absence(of: check.first, through: access.store.offset))
            }
            let report = try access.tellingDamage { try check.run() }
            if arguments[Option.json] { try output.writeJSON(report, as: shape) } else { try write(report, output) }
            return [.same, .empty].contains(report.verdict) ? .success : .no
        }
    }

    private static func write(_ report: DeterminismReport, _ output: Output) throws {
        for difference in report.differences {
            let way =
                switch difference.way {
                case .judgedAgain: "judged again"
                case .checkpoint(let offset): "checkpoint at \(offset)"
                }
            try output.writeLine("differs at \(difference.offset), \(way): \(difference.reason)", .damage)
        }
        try WhatIfReport.write(report.unjudged, count: report.unjudgedCount, to: output) { _, _ in
            "could not be judged again"
        }
        let verdict =
            switch report.verdict {
            case .same: "nothing differs"
            case .differs: "not deterministic"
            case .nothingJudged: "nothing judged"
            case .empty: "nothing to judge"
            }
        let range = "from \(report.first) to \(report.end)"
        let commits =
            switch report.verdict {
            case .nothingJudged:
                "0 of \((report.commitCount - report.noteCount).counted("commit")) could be judged again, \(range)"
            case .empty where report.end == 0: "the store has no commits"
            case .empty: "there are no commits after \(report.end)"
            case .same, .differs:
                "\(report.judgedCount) of \(report.commitCount.counted("commit")) judged again"
                    + "\(report.hasJudgedFew ? ", fewer than half" : ""), \(range)"
            }
        let checkpoints = report.checkpoints.map { "\($0)" }.joined(separator: ", ")
        try output.writeLine(
            "\(verdict): \(commits); digests compared at \(report.comparedCount.counted("offset")), "
                + "checkpoints: \(checkpoints.isEmpty ? "none" : checkpoints)")
        if let digests = report.digests {
            try output.writeLine("digest of the state at \(report.end): \(text(digests.state))")
        }
    }

    private static func text(_ digest: UInt128) -> String {
        String(digest, radix: 16).leftPadded(to: 32, with: "0")
    }

    static let shape = Shape<DeterminismReport>("What `determinism` prints") {
        Key(
            "verdict",
            "`same`, `differs`, `nothing judged`, or `empty` if there are no commits. The command exits with 0 for "
                + "`same` and `empty`"
        ) { $0.verdict.rawValue }
        Key("isSame", "true if nothing differs, also if nothing was judged") { $0.isSame }
        Key("first", "the first commit that was judged again") { $0.first }
        Key("end", "the last one") { $0.end }
        Key("judgedCount", "how many commits could be judged again") { $0.judgedCount }
        Key("comparedOffsets", "at how many offsets digests were compared") { $0.comparedCount }
        Key("checkpoints", "offsets of the checkpoints that were compared") { $0.checkpoints }
        Key("firstOffset", "the first commit after which something differs") { $0.differences.first?.offset }
        Key("differences", "the differences", each: difference) { $0.differences }
        Key(of: WhatIfReport.unjudged) { ($0.unjudged, $0.unjudgedCount) }
        Key("stateDigest", "of the state at the end, or null for an empty log") { report in
            report.digests.map { text($0.state) }
        }
    }

    private static let difference = Shape<DeterminismReport.Difference>("A difference between replays") {
        Key("offset", "the commit after which it was found") { $0.offset }
        Key("checkpoint", "its offset, or null if judging again gave the difference") {
            if case .checkpoint(let offset) = $0.way { offset } else { UInt64?.none }
        }
        Key("reason", "the difference, in words") { $0.reason }
    }
}
