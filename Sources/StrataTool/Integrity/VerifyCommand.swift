import StrataLog
import StrataModel
import StrataStore
import StrataSystem

/// `strata verify`: checks every byte of a store's log, and with `--deep` the page file and the assets.
enum VerifyCommand: Command {
    static let name = "verify"
    static let summary = "check every byte of a store's log"
    static let details =
        "Checks headers, checksums, the chain, the order of offsets and times, the sequence of segments, that payloads "
        + "and interned names can be decoded, that sealed segments describe their commits correctly, and that a base "
        + "is as it was written. Exits with 0 if all is well. If not, it exits with 1 and prints the first damaged "
        + "place, how far the damage goes, which offsets are lost, and which commits after the damage are intact. An "
        + "unfinished tail is not damage: a program may be writing it, or was stopped while it did. Data in a newer "
        + "format is not damage either: verify exits with 3, as for a store that cannot be read. With --deep it also "
        + "folds the log again, compares the page file with the result entry by entry, and reads each page and each "
        + "asset file; where they differ, it names the first commit that caused the difference. With --against it "
        + "compares chain values and commits with those of another copy, or of the sequencer, and names the first "
        + "commit that differs; a copy that merely lags behind agrees. It writes nothing to the store; data that does "
        + "not fit in memory goes to unnamed files in $TMPDIR, or /tmp."
    static let readsAddresses = true
    static let operands = [Operand.storeOrAddress]
    static let deep = Option.flag(
        "--deep", help: "also compare the page file with a fresh fold of the log, and assets with their names")
    static let against = Option.text(
        "--against", "OTHER", help: "also compare the commits with those of another directory or a sequencer")
    static let options: [any OptionDescription] = [
        deep, against, AddressCopy.directory, SequencerAddress.files, Option.json,
    ]
    static let examples = [
        "strata verify Notes.strata", "strata verify Notes.strata --json | jq .damage",
        "strata verify Notes.strata --deep", "strata verify Copy.strata --against file:///shared/Notes.sequence",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try StoreAccess.requireDirectory(arguments.store)
        Progress.note("reading the log")
        let report = LogVerifier.verify(at: arguments.store, platform: Platform(files: ReadOnlyFiles())) {
            Progress.note(UInt64($0), of: UInt64($1))
        }
        // A part that could not be read is not damage.
        if let damage = report.damage, !damage.isDamage || damage.code == .newerFormat { throw damage }
        // A damaged log says nothing about the other files.
        let deep = arguments[deep] && report.damage == nil ? try verifyDeeply(arguments.store) : nil
        let agreement =
            try report.damage == nil
            ? arguments[against].map { try HistoryAgreement(arguments.store, against: $0, arguments) } : nil
        if arguments[Option.json] {
            try output.writeJSON((report, deep, agreement), as: shape)
        } else {
            write(report, isDeep: deep != nil, to: output)
            if let deep { DeepText(report: deep, output: output).write() }
            if arguments[Self.deep], deep == nil {
                output.write("\nnote: the page file and assets were not checked: the log comes first")
            }
            if let agreement {
                try output.endLine()
                agreement.write(to: output)
            }
            try output.endLine()
        }
        return report.damage == nil && deep?.isWhole != false && agreement?.isWhole != false ? .success : .no
    }

    private static func verifyDeeply(_ path: String) throws -> DeepReport {
        var part = ""
        func note(_ name: String, _ done: UInt64, _ total: UInt64) {
            if part != name { Progress.note(name) }
            part = name
            Progress.note(done, of: total)
        }
        return try DeepVerifier.verify(at: path, platform: Platform(files: ReadOnlyFiles())) { progress in
            switch progress {
            case .folding(let done, let total): note("folding the log", done, total)
            case .comparing: note("comparing the page file", 0, 0)
            case .readingAssets(let done, let total): note("reading assets", done, total)
            }
        }
    }

    private static func write(_ report: VerificationReport, isDeep: Bool, to output: Output) {
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
            output.write("  intact up to: \(report.end), with \(report.commitCount.counted("commit"))\n")
            for line in report.extent.map(DamageText.lines) ?? [] { output.write("  \(line)\n") }
            output.write(
                "  advice: copy the store before doing anything else with it; 'strata log' prints the intact commits ")
            output.write("before the damage, 'strata repair' shows what a repair would keep")
            return
        }
        output.write(isDeep ? "log ok" : "ok", .added)
        output.write(": \(extent), end \(report.end)")
        if let base = report.base { output.write(", after a base for all commits up to \(base)") }
        if let tail = report.unfinishedTail {
            let bytes = tail.byteCount.counted("byte after the end is", "bytes after the end are")
            output.write(
                "\nnote: \(bytes) unfinished, at position \(tail.position) of \(Printable.escaped(tail.path)): "
                    + "\(tail.reason) The next program that opens the store for writing removes them.")
        }
    }

    static let shape = Shape<(log: VerificationReport, deep: DeepReport?, agreement: HistoryAgreement?)>(
        "What `verify` prints"
    ) {
        Key("ok", "true if no damage and no difference was found") {
            $0.log.damage == nil && $0.deep?.isWhole != false && $0.agreement?.isWhole != false
        }
        Key("commits", "how many are intact, before any damage") { $0.log.commitCount }
        Key("events", "how many they have") { $0.log.eventCount }
        Key("segments", "how many segments were read, up to the one that has damage") { $0.log.segmentCount }
        Key("bytes", "how many bytes of files were read") { $0.log.fileBytes }
        Key("end", "last intact offset") { $0.log.end.offset }
        Key("chain", "chain value there") { Hexadecimal($0.log.end.chain) }
        Key("base", "the last offset that a base represents, or null if there is no intact one") { $0.log.base?.offset }
        Key("unfinishedTail", "an unfinished tail") { $0.log.unfinishedTail }
        Key("damage", "the first damage") { $0.log.damage }
        Key("extent", "how far it goes") { $0.log.extent }
        Key("views", "the page file", as: DeepReport.views, if: "with `--deep`, if the log is intact") { $0.deep }
        Key("assets", "the files of assets", as: DeepReport.assets, if: "with `--deep`, if the log is intact") {
            $0.deep
        }
        Key("against", "the comparison", if: "with `--against`, if the log is intact") { $0.agreement }
    }
}
