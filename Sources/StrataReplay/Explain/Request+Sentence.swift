import StrataModel

/// The words for a request.
extension Request {
    /// Returns the words, after "asked to"; nil for a request for records, which its items describe.
    ///
    /// - Parameter reveals: true for words with the tokens of URLs and with addresses.
    package func sentence(reveals: Bool) -> String? {
        switch content {
        case .modifyRecords: return nil
        case .modifyZones(let body):
            return Self.changes(of: "zone", body.saves.map { zoneName($0.zone) }, body.deletes.map { zoneName($0) })
        case .modifySubscriptions(let body):
            return Self.changes(of: "subscription", body.saves.map(\.id), body.deletes)
        case .joinShares(let body):
            let shares = Self.counted(body.tokens.count, "share")
            return "join \(shares) by URL" + (reveals ? ": " + Self.list(body.tokens) : "")
        case .declareSchema: return "declare a schema"
        case .notify(let body): return "note the notifications of \(body.user)"
        case .administer(let body): return body.sentence(reveals: reveals, zoneName)
        }
    }

    private func zoneName(_ ordinal: UInt64) -> String { names.zone(ordinal)?.name ?? "" }

    private static func counted(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }

    private static func changes(of kind: String, _ saves: [String], _ deletes: [String]) -> String {
        [("save", saves), ("delete", deletes)].filter { !$0.1.isEmpty }
            .map { "\($0.0) the \(kind)\($0.1.count == 1 ? "" : "s") \(list($0.1))" }.joined(separator: ", ")
    }
}
