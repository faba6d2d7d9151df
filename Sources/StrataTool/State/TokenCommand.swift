import StrataLog
import StrataModel
import StrataStore
import StrataSystem

/// `strata token`: the contents of a change token, and whether a store accepts it.
enum TokenCommand: Command {
    static let name = "token"
    static let summary = "show what a change token contains"
    static let details =
        "TEXT is the token's bytes in base64, as a CKServerChangeToken's description prints them, or in hexadecimal. "
        + "With a store it also prints the name of the zone, how old the token is and how far it lags, what a client "
        + "that sends it would fetch, which compaction would make it expire, and whether the store would serve it now; "
        + "if not, it exits with 1 and prints the reason. Exits with 2 if TEXT is not a token."
    static let operands = [
        Operand(name: "STORE", help: "a store's directory, such as Notes.strata", isRequired: false),
        Operand(name: "TEXT", help: "the token; always the last argument"),
    ]
    static let options: [any OptionDescription] = [Option.json]
    static let examples = [
        "strata token AQI2qMtUnq0AAAA…", "strata token Notes.strata AQI2qMtUnq0AAAA… --json | jq .served",
    ]

    static func stores(_ arguments: Arguments) -> [String] { Array(arguments.operands.dropLast()) }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        guard let text = arguments.operands.last,
            arguments.operands.count > 1 || (try? RealFileSystem().exists(StorePaths(text).identity)) != true
        else { throw UsageError("TEXT is missing: the token; always the last argument") }
        let token = try FeedToken(text: text, of: "TEXT")
        guard arguments.operands.count > 1 else {
            try write(TokenReport(token: token), arguments, output)
            return .success
        }
        return try StateAccess.read(arguments, by: name, output) { access in
            let standing = try access.store.standing(of: token)
            let report = TokenReport(
                token: token, standing: standing, outlook: try TokenStatus(token, standing, access))
            try write(report, arguments, output)
            return report.refusal == nil ? .success : .no
        }
    }

    private static func write(_ report: TokenReport, _ arguments: Arguments, _ output: Output) throws {
        if arguments[Option.json] { report.writeJSON(to: output) } else { report.write(to: output) }
        try output.endLine()
    }
}

/// Prints the contents of a token.
private struct TokenReport {
    let token: FeedToken
    /// Nil without a store.
    var standing: TokenValidity?
    /// Nil also for a token that the store did not issue.
    var outlook: TokenStatus?

    var refusal: Refusal? { standing?.refusal ?? outlook?.refusal }

    func write(to output: Output) {
        var lines = [("feed", token.feed == .database ? "database" : "zone"), ("store", token.store.description)]
        let owner = token.database.owner.isEmpty ? "" : " of \(token.database.owner)"
        lines.append(("database", token.database.scope.name + owner))
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
            output.write(label + String(repeating: " ", count: 10 - label.count) + Printable.escaped(value))
        }
    }

    func writeJSON(to output: Output) {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("feed", token.feed == .database ? "database" : "zone")
        json.field("storeID", token.store)
        json.field("scope", token.database.scope.name)
        json.field("ownerName", token.database.owner)
        if case .zone(let ordinal, let life) = token.feed {
            json.field("zone", ordinal)
            if let zone = standing?.zone { json.field("zoneName", zone.name) }
            json.field("life", life.tag)
        }
        json.field("offset", token.position.offset)
        json.field("chain", hexadecimal: token.position.chain)
        write(token.progress, to: &json)
        if let outlook { json.writeFields(of: outlook) }
        if standing != nil {
            json.field("served", refusal == nil)
            if let refusal {
                json.field("refusal", refusal.code.rawValue)
                json.field("reason", refusal.message)
            }
        }
        json.endObject()
    }

    private func write(_ progress: FeedToken.Progress, to json: inout JSONWriter) {
        json.beginObject("progress")
        json.field("kind", progress.kind)
        switch progress {
        case .whole: break
        case .within(let seen): json.field("seen", seen)
        case .scanningZones(let offset, let zone):
            json.field("seenOffset", offset)
            json.field("seen", zone)
        case .scanningRecords(let name): json.field("seenKey", name.map { hexadecimal($0) }.joined())
        }
        json.endObject()
    }
}

extension FeedToken.Progress {
    fileprivate var kind: String {
        switch self {
        case .whole: "whole"
        case .within: "within"
        case .scanningZones, .scanningRecords: "scanning"
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
        }
    }
}
