import StrataLog
import StrataModel
import StrataStore
import StrataSystem

/// `strata token`: the contents of a change token, and whether a store accepts it.
enum TokenCommand: Command {
    static let name = "token"
    static let summary = "show what a change token contains"
    static let details =
        "TEXT is the token's bytes in base64, as a CKServerChangeToken's description prints them, that whole "
        + "description, or the bytes in hexadecimal. "
        + "With a store it also prints the name of the zone, how old the token is and how far it lags, what a client "
        + "that sends it would fetch, which compaction would make it expire, and whether the store would serve it now; "
        + "if not, it exits with 1 and prints the reason. Without a store, nothing shows if a store made the token. "
        + "Exits with 2 if TEXT is not a token."
    static let operands = [
        Operand(
            name: "STORE", help: "a store's directory, such as Notes.strata", isRequired: false, variable: .store),
        Operand(name: "TEXT", help: "the token; always the last argument"),
    ]
    static let options: [any OptionDescription] = [Option.json]
    static let examples = [
        "strata token AgEBAjaoy1SerQAA…", "strata token Notes.strata AgEBAjaoy1SerQAA… --json | jq .served",
    ]

    static func stores(_ arguments: Arguments) -> [String] { Array(arguments.operands.dropLast()) }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        guard let text = arguments.operands.last,
            arguments.operands.count > 1 || (try? RealFileSystem().exists(StorePaths(text).identity)) != true
        else { throw UsageError("TEXT is missing: the token; always the last argument") }
        let given = try TokenText(text, of: "TEXT")
        let token = try given.contents(of: "TEXT")
        guard arguments.operands.count > 1 else {
            try write(TokenReport(token: token), arguments, output)
            return .success
        }
        return try StateAccess.read(arguments, by: name, output) { access in
            let standing = try access.store.standing(ofBytes: given.bytes)
            let report = TokenReport(
                token: token, standing: standing, outlook: try TokenStatus(token, standing, access))
            try write(report, arguments, output)
            return report.refusal == nil ? .success : .no
        }
    }

    private static func write(_ report: TokenReport, _ arguments: Arguments, _ output: Output) throws {
        if arguments[Option.json] { return try output.writeJSON(report) }
        report.write(to: output)
        try output.endLine()
    }
}

/// Prints the contents of a token.
struct TokenReport {
    let token: FeedToken
    /// Nil without a store.
    var standing: TokenValidity?
    /// Nil also for a token that the store did not issue.
    var outlook: TokenStatus?

    var refusal: Refusal? { standing?.refusal ?? outlook?.refusal }

    func write(to output: Output) {
        var lines = [("feed", token.feed == .database ? "database" : "zone"), ("store", token.store.description)]
        lines.append(("database", token.database.shownText))
        if case .zone(let ordinal, let life) = token.feed {
            lines.append(("zone", "\(ordinal)" + (standing?.zone.map { ", \($0.name)" } ?? "")))
            lines.append(("life", "since commit \(life.offset), event \(life.eventIndex)"))
        }
        lines.append(("offset", "\(token.position.offset)"))
        lines.append(("chain", hexadecimal(token.position.chain)))
        lines.append(("progress", token.progress.text))
        lines += outlook?.lines.map { ($0.label, $0.text) } ?? []
        if standing != nil { lines.append(("served", refusal.map { "no: \($0.message)" } ?? "yes")) }
        for (index, (label, value)) in lines.enumerated() {
            if index > 0 { output.write("\n" as StaticString) }
            output.write(label.padded(to: 10) + Printable.escaped(value))
        }
    }
}

extension TokenReport: Shaped {
    static let shape = Shape<Self>("A change token") {
        Key("feed", "`database` or `zone`") { $0.token.feed == .database ? "database" : "zone" }
        Key("storeID", "id of the store that made it") { $0.token.store }
        Key(of: DatabaseID.scopeShape) { $0.token.database }
        Key("zone", "ordinal", if: "of a zone's feed") { $0.zone?.ordinal }
        Key("zoneName", "its name", if: "of a zone's feed: with a store that knows it") { report in
            report.zone.flatMap { _ in report.standing?.zone?.name }
        }
        Key("life", "version that began the zone's life", if: "of a zone's feed") { $0.zone?.life }
        Key("offset", "the last commit that was seen, or at which a first fetch began") { $0.token.position.offset }
        Key("chain", "chain value there") { Hexadecimal($0.token.position.chain) }
        Key("progress", "how much was seen", as: progress) { $0.token.progress }
        Key(of: TokenStatus.shape, if: "of this store's history") { $0.outlook }
        Key("served", "true if the store would serve it", if: "with a store") { report in
            report.standing.map { _ in report.refusal == nil }
        }
        Key("refusal", "number of the `CKError.Code`", if: "if not") { report in
            report.standing.flatMap { _ in report.refusal?.code.rawValue }
        }
        Key("reason", "why, in words", if: "if not") { report in
            report.standing.flatMap { _ in report.refusal?.message }
        }
    }

    private var zone: (ordinal: UInt64, life: Version)? {
        if case .zone(let ordinal, let life) = token.feed { (ordinal, life) } else { nil }
    }

    private static let progress = Shape<FeedToken.Progress>("The progress of a token") {
        Key(
            "kind",
            "`whole`: everything up to the offset. `within`: only part of the commit at the offset. `scanning`: only "
                + "part of a first fetch"
        ) { $0.kind }
        Key("seenOffset", "of the last zone's row", if: "`scanning` of zones") {
            if case .scanningZones(let offset, _) = $0 { offset } else { nil }
        }
        Key(
            "seen", "the last zone's ordinal, or the last event's index", if: "`within`, and `scanning` of zones"
        ) {
            switch $0 {
            case .within(let seen), .scanningZones(_, let seen): seen
            case .whole, .scanningRecords, .shares: nil
            }
        }
        Key("seenKey", "the key of the last record's name, in hexadecimal", if: "`scanning` of records") {
            if case .scanningRecords(let name) = $0 { name.map { hexadecimal($0) }.joined() } else { nil }
        }
    }
}

extension FeedToken.Progress {
    fileprivate var kind: String {
        switch self {
        case .whole: "whole"
        case .within: "within"
        case .scanningZones, .scanningRecords, .shares: "scanning"
        }
    }

    fileprivate var text: String {
        switch self {
        case .whole: "everything up to the offset"
        case .within(let seen): "the commit at the offset up to \(seen)"
        case .scanningZones(let offset, let zone):
            "a first fetch, up to zone \(zone), which changed last at \(offset)"
        case .scanningRecords(let name):
            "a first fetch, up to the record with the key \(name.map { hexadecimal($0) }.joined())"
        case .shares(let since): "only part of the changes in shares after commit \(since)"
        }
    }
}
