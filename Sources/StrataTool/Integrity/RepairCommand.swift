import StrataLog
import StrataModel
import StrataSystem

/// `strata repair`: repairs a damaged log so that it opens again.
enum RepairCommand: Command {
    static let name = "repair"
    static let summary = "repair a damaged log, or show what a repair would keep and lose"
    static let details =
        "Without --apply it changes nothing. Damaged parts whose content is known for certain are rewritten; otherwise "
        + "the log is truncated after the last commit before the damage. Everything removed from the log is kept "
        + "beside it, in files whose names end in .repaired-1, .repaired-2 and so on, with a note that describes what "
        + "was done. Exits with 0 if there is nothing to repair or the repair was done, and with 1 if a repair is "
        + "needed or cannot be done."

    static let apply = Option.flag("--apply", help: "do it; no other program may have the store open for writing")

    static let operands = [Operand.store]
    static let options: [any OptionDescription] = [Option.json, apply]
    static let examples = ["strata repair Notes.strata", "strata repair Notes.strata --apply"]

    static func isPaged(_ arguments: Arguments) -> Bool { !arguments[apply] }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try StoreAccess.requireDirectory(arguments.store)
        let bar = ProgressBar()
        let isApplied = arguments[apply]
        let plan =
            isApplied
            ? try LogRepair.apply(at: arguments.store) { bar.show($0, of: $1) }
            : try LogRepair.plan(at: arguments.store, platform: Platform(files: ReadOnlyFiles())) {
                bar.show($0, of: $1)
            }
        bar.clear()
        if let damage = plan.report.damage, damage.code == .newerFormat { throw damage }
        if arguments[Option.json] {
            writeJSON(plan, isApplied: isApplied, to: output)
        } else {
            write(plan, isApplied: isApplied, to: output)
        }
        try output.endLine()
        return plan.isWhole || isApplied && plan.obstacle == nil ? .success : .no
    }

    private static func write(_ plan: RepairPlan, isApplied: Bool, to output: Output) {
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
        if let note = plan.note { output.write("note: \(Printable.escaped(note))\n") }
        output.write(
            isApplied
                ? "the log is intact now; everything removed from it is kept beside it"
                : "nothing was changed: copy the store, then run it again with --apply")
    }

    private static func writeJSON(_ plan: RepairPlan, isApplied: Bool, to output: Output) {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("ok", plan.isWhole)
        json.field("applied", isApplied && !plan.steps.isEmpty)
        if let obstacle = plan.obstacle { json.field("obstacle", obstacle) } else { json.null("obstacle") }
        json.field("end", plan.end.offset)
        json.field("chain", hexadecimal: plan.end.chain)
        json.field("lost", plan.lostOffsets)
        json.field("keptAside", plan.keptAsideOffsets)
        json.beginArray("steps")
        for step in plan.steps {
            json.beginObject()
            json.field("kind", step.kind.rawValue)
            json.field("path", step.path)
            if let target = step.target { json.field("target", target) }
            if let position = step.position { json.field("position", position) }
            json.endObject()
        }
        json.endArray()
        if let note = plan.note { json.field("note", note) } else { json.null("note") }
        json.field("damage", plan.report.damage)
        json.endObject()
    }
}
