import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// `strata repair`: repairs a damaged log so that it opens again.
enum RepairCommand: Command {
    static let name = "repair"
    static let summary = "repair a damaged log, or show what a repair would keep and lose"
    static let changesStores = true
    static let details =
        "Without --apply it changes nothing. Damaged parts whose content is known for certain are rewritten; otherwise "
        + "the log is truncated after the last commit before the damage. Everything removed from the log is kept "
        + "beside it, in files whose names end in .repaired-1, .repaired-2 and so on, with a note that describes what "
        + "was done. Exits with 0 if there is nothing to repair or the repair was done, and with 1 if a repair is "
        + "needed or cannot be done."
    static let options: [any OptionDescription] = [Option.json, Option.apply]
    static let examples = ["strata repair Notes.strata", "strata repair Notes.strata --apply"]

    static func isPaged(_ arguments: Arguments) -> Bool { !arguments[Option.apply] }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try StoreAccess.requireDirectory(arguments.store)
        let isApplied = arguments[Option.apply]
        let plan =
            isApplied
            ? try LogRepair.apply(at: arguments.store) { Progress.note(UInt64($0), of: UInt64($1)) }
            : try LogRepair.plan(at: arguments.store, platform: Platform(files: ReadOnlyFiles())) {
                Progress.note(UInt64($0), of: UInt64($1))
            }
        if let damage = plan.report.damage, damage.code == .newerFormat { throw damage }
        if arguments[Option.json] {
            try output.writeJSON((plan, isApplied), as: shape)
        } else {
            let later = plan.report.damage.flatMap { _ in laterState(arguments.store, than: plan.end.offset) }
            write(plan, isApplied: isApplied, later: later, to: output)
            try output.endLine()
        }
        return plan.isWhole || isApplied && plan.obstacle == nil ? .success : .no
    }

    /// Returns the commit whose state the views have, if the repaired log ends before it.
    private static func laterState(_ path: String, than end: UInt64) -> UInt64? {
        // Views that cannot be read have no state to lose.
        guard let store = try? StoreAccess(path).reader.identity.storeID,
            let summary = try? TreeStore.summary(
                in: path, Views.owner(store), files: ReadOnlyFiles(), isValid: { _ in true }),
            let offset = summary.newest?.state.position.offset, offset > end
        else { return nil }
        return offset
    }

    /// - Parameter later: see ``laterState(_:than:)``.
    private static func write(_ plan: RepairPlan, isApplied: Bool, later: UInt64?, to output: Output) {
        guard let damage = plan.report.damage else {
            output.write("nothing to repair: the log is intact up to its end, \(plan.end)")
            return
        }
        output.write("damage", .damage)
        output.write(": \(Printable.escaped(damage.description))\n")
        if let obstacle = plan.obstacle {
            output.write("cannot be repaired", .damage)
            output.write(": \(obstacle)")
            return
        }
        output.write("\(isApplied ? "kept" : "would keep"): everything up to \(plan.end)\n")
        output.write(isApplied ? "lost: " : "would lose: ")
        output.write(plan.lostOffsets.isEmpty ? "no known offset" : DamageText.text(plan.lostOffsets))
        if !plan.keptAsideOffsets.isEmpty {
            // Commits after the damage cannot stay, because a log has no gaps.
            output.write("; intact after the damage, and kept aside: \(DamageText.text(plan.keptAsideOffsets))")
        }
        output.write("\n\(isApplied ? "done" : "would do"), in \(Printable.escaped(plan.directory)):\n")
        for step in plan.steps { output.write("  \(Printable.escaped(step.description))\n") }
        if let later {
            output.write(
                "note: the views have the state after commit \(later); a repair uses only the log, and that state "
                    + "is lost with the views\n")
        }
        if let note = plan.note { output.write("note: \(Printable.escaped(note))\n") }
        output.write(
            isApplied
                ? "the log is intact now; everything removed from it is kept beside it"
                : "nothing was changed: copy the store, then run it again with --apply")
    }

    static let shape = Shape<(plan: RepairPlan, isApplied: Bool)>("What `repair` prints") {
        Key("ok", "true if there was nothing to repair") { $0.plan.isWhole }
        Key("applied", "true if it was repaired") { $0.isApplied && !$0.plan.steps.isEmpty }
        Key("obstacle", "why it cannot be repaired, in words") { $0.plan.obstacle }
        Key("end", "last offset of the log afterward") { $0.plan.end.offset }
        Key("chain", "chain value there") { Hexadecimal($0.plan.end.chain) }
        Key("lost", "offsets that the log no longer has afterward") { $0.plan.lostOffsets }
        Key("keptAside", "those of them whose commits are intact in files that are kept") { $0.plan.keptAsideOffsets }
        Key("steps", "the steps, in order", each: stepShape) { $0.plan.steps }
        Key("note", "path of the file that describes the repair") { $0.plan.note }
        Key("damage", "the first damage") { $0.plan.report.damage }
    }

    private static let stepShape = Shape<RepairPlan.Step>("A step of a repair") {
        Key(
            "kind",
            "`copy`: kept under another name, because it is about to be changed. `move`: removed from the log. `cut`: "
                + "now ends at `position`. `rewrite`: a sealed segment is rewritten from its intact commits. `header`, "
                + "`seal`, `floor`: rewritten"
        ) { $0.kind.rawValue }
        Key("path", "of the file") { $0.path }
        Key("target", "where it is kept", if: "`copy`, `move`") { $0.target }
        Key("position", "in the file", if: "`cut`, `seal`") { $0.position }
    }
}
