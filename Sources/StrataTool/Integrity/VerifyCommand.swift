import StrataLog
import StrataModel
import StrataReplay
import StrataStore
import StrataSystem

/// `strata verify`: checks every byte of a store's log, with `--deep` the views and the assets, and with `--judge`
/// the answers to requests.
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
        + "folds the log again, compares the views with the result entry by entry, and reads each frame and each "
        + "asset file; where they differ, it names the first commit that caused the difference. With --judge it also "
        + "judges each request again by the rules that the log records: every commit must be the same byte by byte, "
        + "and so the state. It names the first commit that differs, and those that the log does not record fully "
        + "enough to judge, and exits with 1 if none could be judged. With --against it "
        + "compares chain values and commits with those of another copy, or of the sequencer, and names the first "
        + "commit that differs; a copy that merely lags behind agrees. It writes nothing to the store; data that does "
        + "not fit in memory goes to unnamed files in $TMPDIR, or /tmp."
    static let readsAddresses = true
    static let operands = [Operand.storeOrAddress]
    static let deep = Option.flag(
        "--deep", help: "also compare the views with a fresh fold of the log, and assets with their names")
    static let judge = Option.flag("--judge", help: "also judge all requests again, and compare the commits")
    static let from = Option.commit("--from", help: "with --judge: start with this commit")
    static let against = Option.text(
        "--against", "OTHER", help: "also compare the commits with those of another directory or a sequencer")
    static let options: [any OptionDescription] = [
        deep, judge, from, WhatIfCommand.rules, against, AddressCopy.directory, SequencerAddress.files, Option.json,
    ]
    static let examples = [
        "strata verify Notes.strata", "strata verify Notes.strata --json | jq .damage",
        "strata verify Notes.strata --deep --judge",
        "strata verify Copy.strata --against file:///shared/Notes.sequence",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        if !arguments[judge], arguments.has(from) || arguments.has(WhatIfCommand.rules) {
            throw UsageError("--from and --rules are for --judge")
        }
        try StoreAccess.requireDirectory(arguments.store)
        Progress.note("reading the log")
        let report = LogVerifier.verify(at: arguments.store, platform: Platform(files: ReadOnlyFiles())) {
            Progress.note(UInt64($0), of: UInt64($1))
        }
        // A part that could not be read is not damage.
        if let damage = report.damage, !damage.isDamage || damage.code == .newerFormat { throw damage }
        // A damaged log says nothing about the other files.
        let deep = arguments[deep] && report.damage == nil ? try verifyDeeply(arguments.store) : nil
        var judged: JudgedLog?
        if arguments[judge], report.damage == nil {
            judged = try judgeAgain(arguments, output)
            // The first commit does not exist, which has been reported.
            if judged == nil { return .no }
        }
        let agreement =
            try report.damage == nil
            ? arguments[against].map { try HistoryAgreement(arguments.store, against: $0, arguments) } : nil
        if arguments[Option.json] {
            try output.writeJSON((report, deep, judged, agreement), as: shape)
        } else {
            write(report, isDeep: deep != nil, to: output)
            if let deep { DeepText(report: deep, output: output).write() }
            if arguments[Self.deep], deep == nil {
                output.write("\nnote: the views and assets were not checked: the log comes first")
            }
            judged?.write(to: output)
            if arguments[judge], judged == nil {
                output.write("\nnote: requests were not judged again: the log comes first")
            }
            if let agreement {
                try output.endLine()
                agreement.write(to: output)
            }
            try output.endLine()
        }
        let isWhole = deep?.isWhole != false && judged?.isWhole != false && agreement?.isWhole != false
        return report.damage == nil && isWhole ? .success : .no
    }

    private static func judgeAgain(_ arguments: Arguments, _ output: Output) throws -> JudgedLog? {
        let options = arguments[WhatIfCommand.rules] ?? .service
        var judged: JudgedLog?
        _ = try StateAccess.read(arguments.store, options: options, by: name, output) { access in
            let end = access.store.offset
            let first = max(1, arguments[from]?.offset(upTo: end) ?? 1)
            if first > end + 1 { throw Refusal(.invalidArguments, access.store.log.absence(of: first, through: end)) }
            Progress.note("judging requests")
            let rules = arguments.has(WhatIfCommand.rules) ? access.store.rules : nil
            judged = try JudgedLog.of(access.store, from: first, by: rules) { Progress.note($0, of: $1) }
            return .success
        }
        return judged
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
            case .comparing: note("comparing the views", 0, 0)
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

    /// The parts of the output; nil for those that were not asked for, or that damage prevents.
    typealias Parts = (
        log: VerificationReport, deep: DeepReport?, judged: JudgedLog?, agreement: HistoryAgreement?
    )

    static let shape = Shape<Parts>("What `verify` prints") {
        Key("ok", "true if no damage and no difference was found") {
            $0.log.damage == nil && $0.deep?.isWhole != false && $0.judged?.isWhole != false
                && $0.agreement?.isWhole != false
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
        Key("views", "the views on disk", as: DeepReport.views, if: "with `--deep`, if the log is intact") { $0.deep }
        Key("assets", "the files of assets", as: DeepReport.assets, if: "with `--deep`, if the log is intact") {
            $0.deep
        }
        Key("judged", "requests judged again", as: JudgedLog.shape, if: "with `--judge`, if the log is intact") {
            $0.judged
        }
        Key("against", "the comparison", if: "with `--against`, if the log is intact") { $0.agreement }
    }
}
