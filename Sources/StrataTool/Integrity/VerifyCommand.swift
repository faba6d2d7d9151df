import StrataLog
import StrataModel
import StrataStore
import StrataSystem

/// `strata verify`: checks every byte of a store's log, and with `--deep` the files beside it.
enum VerifyCommand: Command {
    static let name = "verify"
    static let summary = "check every byte of a store's log"
    static let details =
        "It checks headers, checksums, the chain, the order of offsets and times, how segments follow one another, "
        + "that payloads and interned names can be decoded, that sealed segments say of their commits what is so, and "
        + "that a base is what was written. It ends with 0 if all is well, with 1 if not, and then tells the first "
        + "damaged place, how far the damage goes, which offsets are lost and what is whole behind it. An unfinished "
        + "tail is no damage: a program may be writing it, or was stopped while it did. What only a later release of "
        + "Strata understands is no damage either: it ends with 3 then, as for a store that cannot be read. With "
        + "--deep it also folds the log once more, compares the page file with that entry by entry, reads each of its "
        + "pages, and each file of an asset; where they differ it names the first commit that made what differs. "
        + "Nothing is written to the store; what does not fit memory goes to files without names in $TMPDIR, else /tmp."
    static let operands = [Operand.store]
    static let deep = Option.flag(
        "--deep", help: "compare the page file with a fresh fold of the log, and assets with their names, too")
    static let options: [any OptionDescription] = [deep, Option.json]
    static let examples = [
        "strata verify Notes.strata", "strata verify Notes.strata --json | jq .damage",
        "strata verify Notes.strata --deep",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try StoreAccess.requireDirectory(arguments.store)
        let bar = ProgressBar()
        let report = LogVerifier.verify(at: arguments.store, platform: Platform(files: ReadOnlyFiles())) {
            bar.show($0, of: $1)
        }
        bar.clear()
        // A part that could not be read is not damage.
        if let damage = report.damage, !damage.isDamage || damage.code == .newerFormat { throw damage }
        // A damaged log says nothing about the other files.
        let deep = arguments[deep] && report.damage == nil ? try verifyDeeply(arguments.store, bar) : nil
        if arguments[Option.json] {
            writeJSON(report, deep, to: output)
        } else {
            write(report, isDeep: deep != nil, to: output)
            if let deep { DeepText(report: deep, output: output).write() }
            if arguments[Self.deep], deep == nil {
                output.write("\nnote: page file and assets were not looked at: the log comes first")
            }
        }
        try output.endLine()
        return report.damage == nil && deep?.isWhole != false ? .success : .no
    }

    private static func verifyDeeply(_ path: String, _ bar: ProgressBar) throws -> DeepReport {
        defer { bar.clear() }
        return try DeepVerifier.verify(at: path, platform: Platform(files: ReadOnlyFiles())) { progress in
            switch progress {
            case .folding(let done, let total), .readingAssets(let done, let total):
                bar.show(Int(clamping: done), of: Int(clamping: total))
            case .comparing: bar.show(1, of: 1)
            }
        }
    }

    private static func write(_ report: LogVerifier.Report, isDeep: Bool, to output: Output) {
        let extent =
            [
                report.commitCount.counted("commit"), report.eventCount.counted("event"),
                report.segmentCount.counted("segment"), report.fileBytes.counted("byte"),
            ].joined(separator: ", ")
        if let damage = report.damage {
            output.write("damaged", .damage)
            output.write("\n")
            for (label, value) in Advice.items(of: damage) {
                output.write("  \(label): \(Printable.escaped(value))\n")
            }
            output.write("  whole up to: \(report.end), with \(report.commitCount.counted("commit"))\n")
            for line in report.extent.map(DamageText.lines) ?? [] { output.write("  \(line)\n") }
            output.write(
                "  advice: copy the store before anything else is done to it; 'strata log' prints what is whole ")
            output.write("in front, 'strata repair' tells what a repair would keep")
            return
        }
        output.write(isDeep ? "log ok" : "ok", .added)
        output.write(": \(extent), end \(report.end)")
        if let base = report.base { output.write(", behind a base that stands for all up to \(base)") }
        if let tail = report.unfinishedTail {
            let bytes = tail.byteCount.counted("byte after the end is", "bytes after the end are")
            output.write(
                "\nnote: \(bytes) unfinished, at position \(tail.position) of \(Printable.escaped(tail.path)): "
                    + "\(tail.reason) The next program that opens the store for writing removes them.")
        }
    }

    private static func writeJSON(_ report: LogVerifier.Report, _ deep: DeepReport?, to output: Output) {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("ok", report.damage == nil && deep?.isWhole != false)
        json.field("commits", report.commitCount)
        json.field("events", report.eventCount)
        json.field("segments", report.segmentCount)
        json.field("bytes", report.fileBytes)
        json.field("end", report.end.offset)
        json.field("chain", hexadecimal: report.end.chain)
        if let base = report.base { json.field("base", base.offset) } else { json.null("base") }
        json.field("unfinishedTail", report.unfinishedTail)
        json.field("damage", report.damage)
        json.field("extent", report.extent)
        if let deep {
            json.fieldOfViews(deep)
            json.fieldOfAssets(deep)
        }
        json.endObject()
    }
}

extension JSONWriter {
    mutating func field(_ key: StaticString, _ tail: LogReader.UnfinishedTail?) {
        guard let tail else { return null(key) }
        beginObject(key)
        field("path", tail.path)
        field("position", tail.position)
        field("bytes", tail.byteCount)
        field("reason", tail.reason)
        endObject()
    }
}
