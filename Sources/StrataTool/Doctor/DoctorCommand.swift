import StrataModel

/// `strata doctor`: everything in a store that deserves a look.
enum DoctorCommand: Command {
    static let name = "doctor"
    static let summary = "look for trouble: lost updates, deletions, lost access, refusals and more"
    static let details =
        "Reads the log once and lists what deserves a look, the worst first, each with the commit, the record, the "
        + "people and the command that shows more: values that a save overwrote although its client had not seen "
        + "them, mass deletions, deleted zones, records that went with others, fields that devices change back and "
        + "forth, shares and records that people lost, refusals by cause, devices with dead tokens or far behind, "
        + "subscriptions that reach no device, invitations that are open for a week, irregular times, names that look "
        + "alike, and damage. It can run while another program writes to the store. Exits with 1 if it finds "
        + "something, and with 3 if the store is damaged."

    static let since = Option.time(
        LogCommand.since.name, help: "list only what reaches past this time; times as for 'log --since'")
    static let kind = Option<Finding.Kind>.choice(
        "--kind", "KIND", Finding.Kind.allCases.map { ($0.rawValue, $0) }, suggests: true,
        help: "list only findings of this kind; may be repeated"
    ).repeatable
    static let limit = Option.limit(
        "-n", 1...UInt64.max, help: "list at most N findings of each kind; 20 unless told")

    static let options: [any OptionDescription] = [since, kind, limit, Option.json]
    static let examples = [
        "strata doctor Notes.strata", "strata doctor Notes.strata --since 7d --kind overwrite",
        "strata doctor Notes.strata --json | jq 'select(.finding == \"overwrite\").lost'",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try StoreAccess.requireDirectory(arguments.store)
        var store = try StoreAccess(arguments.store)
        var first: UInt64 = 0
        if let time = arguments[since] {
            first = try store.firstOffset(notBefore: time) ?? store.reader.end.offset + 1
        }
        var findings = try DoctorFindings(try DoctorScan(store))
        findings.keep(Set(arguments.all(kind)), from: first)
        let isJSON = arguments[Option.json]
        let limit = arguments[limit] ?? (isJSON ? UInt64.max : 20)
        for (kind, count) in findings.counts {
            for finding in findings.all.filter({ $0.kind == kind }).prefix(Int(clamping: limit)) {
                if isJSON { try output.writeJSON(finding) } else { try finding.write(arguments.store, to: output) }
            }
            if !isJSON, count > limit {
                let rest = count - Int(limit)
                try output.writeLine("    and \(rest) more: --kind \(kind.rawValue) -n \(count)", .faint)
            }
        }
        if isJSON { try output.writeJSON(findings) } else { try output.writeLine(findings.summary) }
        if let damage = findings.damage { throw damage }
        return findings.all.isEmpty ? .success : .no
    }
}

extension DoctorFindings: Shaped {
    static let shape = Shape<Self>("The end of an examination") {
        Key("end", "true") { _ in true }
        Key("commits", "how many were read") { $0.commitCount }
        Key("findings", "the number of findings of each kind", each: countShape) { $0.counts }
        Key("leftOut", "older findings, and saves that may have overwritten values, that were too many", if: "if any") {
            $0.unexaminedCount == 0 ? nil : $0.unexaminedCount
        }
    }

    private static let countShape = Shape<(kind: Finding.Kind, count: Int)>("A number of findings") {
        Key("finding", "the kind") { $0.kind.rawValue }
        Key("count", "how many") { $0.count }
    }

    /// `2 overwrites, 1 cascade in 360 commits`
    var summary: String {
        let parts = counts.map { kind, count in "\(count) \(count == 1 ? kind.noun.one : kind.noun.many)" }
        var text = parts.isEmpty ? "nothing found" : parts.joined(separator: ", ")
        text += " in \(commitCount.counted("commit"))"
        if unexaminedCount > 0 { text += "; \(unexaminedCount.counted("older one")) left out" }
        return text
    }
}
