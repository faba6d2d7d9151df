import StrataModel
import StrataReplay
import StrataStore

/// Writes the explanation of an answer for people.
extension Explanation {
    /// The number of requests of a sync engine that are listed.
    private static let maximumRequests = 9

    func write(to output: Output) throws {
        output.write("commit \(offset)", .heading)
        output.write("  " as StaticString)
        output.write(Timestamp(microseconds: time))
        output.write("  \(outcome.text)")
        if let code { output.write(": " + RequestRefusedEvent.text(ofCode: code.rawValue)) }
        try output.endLine()
        try output.writeLine(indented: summary)
        if let asked { try output.writeLine(indented: "asked to " + Printable.escaped(asked)) }
        if let sync { try write(sync, to: output) }
        if let message { try output.writeLine(indented: "\"" + Printable.escaped(message) + "\"") }
        try write(rules, to: output)
        try write(facts, to: output)
        for item in items { try write(item, to: output) }
        for effect in effects { try effect.write(to: output) }
        for note in notes { try output.writeLine(indented: "note: " + Printable.escaped(note)) }
    }

    private var summary: String {
        var parts = [actor.shownText, operation == .modifyRecords ? "modify records" : "\(operation)"]
        if let database { parts.append(database.shownText) }
        if let policy { parts.append(policy.name) }
        if isAtomic == true { parts.append("atomic") }
        if let offset = judgedAt { parts.append("judged on the state at \(offset)") }
        return parts.joined(separator: ", ")
    }

    private func write(_ rules: [ExplanationRule], to output: Output) throws {
        for rule in rules {
            output.write("    ")
            output.write(rule.number, .place)
            output.write("  " + rule.sentence)
            if !rule.finding.isEmpty { output.write(" Here: " + Printable.escaped(rule.finding) + ".") }
            try output.endLine()
        }
    }

    private func write(_ facts: [Explanation.Fact], to output: Output) throws {
        for fact in facts {
            try output.writeLine(
                indented: Printable.escaped(fact.text) + (fact.offset.map { ", by commit \($0)" } ?? ""))
        }
    }

    private func write(_ sync: SyncEngineSend, to output: Output) throws {
        let name = sync.groupName.nonempty.map { " \"\(Printable.escaped($0))\"" } ?? ""
        try output.writeLine(indented: "sent by the sync engine of \(actor.shownText), \(sync.scope.name)")
        let requests = sync.requests.map { "\($0.offset)" + ($0.isRefused ? " refused" : "") }
        let first = max(0, min(sync.place - Self.maximumRequests / 2, requests.count - Self.maximumRequests))
        let shown = requests[first...].prefix(Self.maximumRequests).joined(separator: ", ")
        let count = "\(requests.count)" + (sync.isCut ? " within \(SyncEngineSend.maximumCommits) commits" : "")
        try output.writeLine(
            indented:
                "request \(sync.place + 1) of \(count) in the group \(Printable.escaped(sync.groupID))\(name): "
                + (first > 0 ? "…, " : "") + shown + (first + Self.maximumRequests < requests.count ? ", …" : ""))
    }

    // MARK: Items

    private func write(_ item: Explanation.Item, to output: Output) throws {
        let zone = item.zone.map { Printable.escaped($0.name) + "/" } ?? ""
        output.write(
            "\(item.list == .saves ? "save" : "delete") \(item.index)  \(zone)\(Printable.escaped(item.name))  ")
        if let code = item.code {
            output.write(RequestRefusedEvent.text(ofCode: code.rawValue), .removed)
            if item.isBystander { output.write(", a bystander") }
        } else {
            output.write(outcome == .refused || outcome == .nothingToDo ? "nothing to do" : "accepted", .added)
        }
        try output.endLine()
        if let message = item.message { try output.writeLine(indented: "\"" + Printable.escaped(message) + "\"") }
        try write(item.rules, to: output)
        if item.list == .saves, item.zone != nil {
            let base = item.base.map { "the client had \($0.tag)" } ?? "the client sent no tag"
            let stored = item.stored.map { ", the store \(item.made == nil ? "has" : "had") \($0.tag)" } ?? ""
            try output.writeLine(indented: base + stored + (item.made.map { ", saved as \($0.tag)" } ?? ""))
        }
        try write(item.facts, to: output)
        if let staysPending = item.staysPending {
            try output.writeLine(
                indented:
                    staysPending
                    ? "the change stays pending: the engine sends it again"
                    : "the change is no longer pending: the app must add it again")
        }
        if let conflict = item.conflict {
            try write(conflict, server: item.made == nil ? "server" : "stored before", to: output)
        }
    }

    // MARK: Three ways

    /// - Parameter server: the title of the values that the store had.
    private func write(_ conflict: RecordConflict, server: String, to output: Output) throws {
        if let problem = conflict.ancestor.problem { try output.writeLine(indented: "ancestor: \(problem)") }
        for note in conflict.notes { try output.writeLine(indented: "note: \(note)") }
        var rows = [["field", "ancestor", "client", server, "changed by"]]
        rows += conflict.fields.map { field in
            [
                Printable.escaped(field.key), conflict.ancestor == .known ? Self.text(of: field.ancestor) : "?",
                field.isSent ? Self.text(of: field.client) : "not sent",
                conflict.isServerKnown ? Self.text(of: field.server) : "?", field.side.text,
            ]
        }
        if rows.count > 1 { try Columns.write(rows, indentation: 4, to: output) }
        if conflict.changes.isEmpty { return }
        try output.writeLine(
            indented:
                conflict.base == nil ? "commits that led to it:" : "commits after the client's version:")
        if conflict.earlierChangeCount > 0 {
            try output.writeLine(indented: "  \(conflict.earlierChangeCount.counted("earlier one")) …")
        }
        try Columns.write(
            conflict.changes.map { change in
                [
                    "\(change.version.offset)", Timestamp(microseconds: change.time).description,
                    Actor(user: change.user, device: change.device).shownText, change.kind.rawValue,
                    change.keys.map { $0.map { Printable.escaped($0) }.joined(separator: ", ") } ?? "keys not known",
                ]
            }, indentation: 6, to: output)
    }

    private static func text(of value: FieldValue?) -> String { value.map { ValueText.text(of: $0) } ?? "-" }
}

extension Explanation.Outcome {
    fileprivate var text: String {
        switch self {
        case .accepted: "accepted"
        case .acceptedInPart: "accepted in part"
        case .refused: "refused"
        case .nothingToDo: "nothing to do"
        case .withoutRequest: "without a request"
        }
    }
}

extension RecordConflict.Ancestor {
    /// Nil if the ancestor is known.
    fileprivate var problem: String? {
        switch self {
        case .known: nil
        case .none: "none: the client treated the record as new"
        case .letGo: "its history was compacted, so the version that the client began with is not known"
        case .erased: "it was erased"
        case .unknown: "the store never had that version of the record"
        }
    }
}

extension RecordConflict.Side {
    fileprivate var text: String {
        switch self {
        case .client: "client"
        case .server: "server"
        case .same: "both, to the same value"
        case .conflict: "both: conflict"
        case .unchanged: "nobody"
        case .unknown: "not known"
        }
    }
}

extension Actor {
    var shownText: String {
        if self == .service { return LogFilter.systemName }
        if user.isEmpty { return "nobody" }
        return Printable.escaped(user) + (device.isEmpty ? "" : " on " + Printable.escaped(device))
    }
}
