import StrataModel
import StrataReplay

/// Describes requests in text for people.
enum AuditText {
    /// Summarizes a request as far as it was kept, without URLs and addresses.
    static func request(_ bytes: [UInt8]?, byteCount: UInt64) -> String {
        guard let bytes else { return byteCount > 0 ? "\(byteCount.counted("byte")), not kept" : "not kept" }
        guard let request = try? Request(decoding: bytes[...]) else {
            return "\(bytes.count.counted("byte")) that are not a request"
        }
        return summary(of: request)
    }

    /// `modify records of private: save Notes/a, delete Notes/b`.
    private static func summary(of request: Request) -> String {
        let names = request.names
        var items = request.items.map { item in
            let zone = item.zone.map { names.zone($0)?.name ?? "zone \($0)" }
            let target = [zone, item.name].compactMap { $0.map { Printable.escaped($0) } }.joined(separator: "/")
            return (item.list == .saves ? "save " : "delete ") + target
        }
        let kind: String
        switch request.content {
        case .modifyRecords: kind = "modify records"
        case .modifyZones: kind = "modify zones"
        case .modifySubscriptions: kind = "modify subscriptions"
        case .administer:
            (kind, items) = ("administer", [Printable.escaped(request.sentence(reveals: false) ?? "")])
        case .declareSchema: (kind, items) = ("declare a schema", names.recordTypes.map { Printable.escaped($0) })
        case .notify: kind = "notify"
        case .joinShares(let body):
            kind = body.action == .accept ? "accept shares" : "request access to shares"
            items = [body.tokens.count.counted("URL")]
        }
        let text = "\(kind) of \(request.database.shownText)"
        return items.isEmpty ? text : text + ": " + items.joined(separator: ", ")
    }
}
