import Foundation
import StrataModel
import StrataStore

/// `strata token`: what a change token says, and whether a store would take it.
enum TokenCommand: Command {
    static let name = "token"
    static let summary = "tell what a change token says"
    static let details =
        "TEXT is the token's bytes as base64, as a CKServerChangeToken's description prints them, or in hexadecimal. "
        + "With a store it also tells the zone's name and whether the store would answer that token now; it ends "
        + "with 1 and the reason if not. The store's log is folded in memory for that; nothing is written. What is "
        + "no token ends with 2."
    static let operands = [
        Operand(name: "STORE", help: "a store's directory, such as Notes.strata", isRequired: false),
        Operand(name: "TEXT", help: "the token; always the last argument"),
    ]
    static let options: [any OptionDescription] = [Option.json]
    static let examples = [
        "strata token AQI2qMtUnq0AAAA…", "strata token Notes.strata AQI2qMtUnq0AAAA… --json | jq .served",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        guard let text = arguments.operands.last else { throw UsageError("TEXT is missing") }
        let path = arguments.operands.count > 1 ? arguments.store : nil
        let token = try FeedToken(text: text)
        let report = TokenReport(token: token, standing: try path.map { try standing(of: token, in: $0) })
        if arguments[Option.json] { report.writeJSON(to: output) } else { report.write(to: output) }
        try output.endLine()
        return report.standing?.refusal == nil ? .success : .no
    }

    private static func standing(of token: FeedToken, in path: String) throws -> TokenStanding {
        let store = try Store.openForReading(at: path)
        defer { try? store.close() }
        return try store.standing(of: token)
    }
}

/// What is told of a token.
private struct TokenReport {
    let token: FeedToken
    /// Nil without a store.
    let standing: TokenStanding?

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
        if let standing { lines.append(("served", standing.refusal.map { "no: \($0.message)" } ?? "yes")) }
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
        if let standing {
            json.field("served", standing.refusal == nil)
            if let refusal = standing.refusal {
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

extension FeedToken {
    /// - Parameter text: The bytes as base64 or in hexadecimal; a text can be both, and then one of them is a token.
    /// - Throws: ``UsageError`` for a text that is no token's.
    fileprivate init(text: String) throws {
        let readings = [Data(base64Encoded: text).map { [UInt8]($0) }, Self.bytes(hexadecimal: text)].compactMap { $0 }
        var failure: (any Error)?
        for bytes in readings {
            do {
                self = try FeedToken(decoding: bytes)
                return
            } catch { failure = error }
        }
        let reason = failure.map { ($0 as? StrataError)?.description ?? "\($0)" }
        throw UsageError("TEXT is no change token: \(reason ?? "it is neither base64 nor hexadecimal")")
    }

    private static func bytes(hexadecimal text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2), !digits.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(ofDigit: digits[index]), let low = value(ofDigit: digits[index + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        Character(Unicode.Scalar(digit)).hexDigitValue.map { UInt8($0) }
    }
}
