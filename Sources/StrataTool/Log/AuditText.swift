import StrataModel
import StrataReplay

/// Describes audits in text for people.
enum AuditText {
    /// `14 server record changed`.
    static func code(_ number: UInt64) -> String { "\(number) \(Refusal.Code(rawValue: number))" }

    static func text(of refused: RequestRefusedEvent) -> String {
        var text = code(refused.code)
        if let message = refused.message { text += ": \(Printable.escaped(message))" }
        for culprit in refused.culprits {
            text += "; \(culprit.list) \(culprit.index): \(code(culprit.code))"
            if let version = culprit.version { text += ", has \(version.tag)" }
        }
        return text + "; request: " + request(refused.request, byteCount: refused.requestBytes)
    }

    static func text(of event: NothingToDeleteEvent) -> String {
        "\(event.count) not found; request: \(request(event.request, byteCount: event.requestBytes))"
    }

    static func text(of note: ConsoleNote) -> String {
        var text = Printable.escaped(note.text)
        if !note.user.isEmpty { text += ", user \(Printable.escaped(note.user))" }
        if !note.device.isEmpty { text += ", device \(Printable.escaped(note.device))" }
        return text
    }

    static func text(of fetched: FetchedEvent) -> String {
        var text = "\(fetched.question.name) of \(place(fetched.database))"
        if let zone = fetched.zone { text += ", zone \(Printable.escaped(zone.name))" }
        let ids = (try? fetched.ids()) ?? []
        if !ids.isEmpty { text += " (\(ids.map { name($0.zone.name, $0.name) }.joined(separator: ", ")))" }
        if let keys = fetched.desiredKeys {
            text += ", keys \(keys.map { Printable.escaped($0) }.joined(separator: ", "))"
        }
        text += ", at \(fetched.offset): \(fetched.resultCount.counted("result"))"
        return text + (fetched.moreComing ? ", more coming" : "")
    }

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
        let text = "\(kind) of \(place(request.database))"
        return items.isEmpty ? text : text + ": " + items.joined(separator: ", ")
    }

    private static func name(_ zone: String, _ record: String) -> String {
        "\(Printable.escaped(zone))/\(Printable.escaped(record))"
    }

    private static func place(_ database: DatabaseID) -> String {
        database.owner.isEmpty ? database.scope.name : "\(database.scope.name) of \(Printable.escaped(database.owner))"
    }
}

extension FetchedEvent.Question {
    var name: String {
        switch self {
        case .records: "records"
        case .query: "query"
        case .databaseChanges: "database changes"
        case .zoneChanges: "zone changes"
        }
    }
}
