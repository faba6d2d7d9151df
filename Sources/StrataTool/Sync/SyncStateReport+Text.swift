import StrataModel
import StrataStore

/// Prints the state of a sync engine for people.
extension SyncStateReport {
    /// More pending changes are only counted.
    private static let maximumChanges = 20

    func write(to output: Output) throws {
        output.write("sync engine of ")
        output.write(actor.shownText, .heading)
        try output.writeLine(", \(database.shownText)  at offset \(offset)")
        try Columns.write(lines, indentation: 4, to: output)
        for zone in zones { try write(zone, to: output) }
        for (record, isSave) in state.recordChanges.prefix(Self.maximumChanges) {
            output.write("pending \(isSave ? "save" : "delete")  ")
            try output.writeLine("\(Self.text(of: record.zone))/\(Printable.escaped(record.name))", .place)
        }
        let more = state.recordChanges.count - Self.maximumChanges
        guard more > 0 else { return }
        try output.writeLine("and \(more.counted("more pending change")); --json prints all")
    }

    private var lines: [[String]] {
        let reason = reasonUnused.map { "not used: \(Printable.escaped($0))" }
        var lines = [["state", reason ?? "used by an engine"]]
        lines.append(["subscription", state.subscriptionID.map { Printable.escaped($0) } ?? "none yet"])
        lines.append(["fetched last", lastFetch.map { "\(Timestamp(microseconds: $0))" } ?? "never"])
        lines.append(["pushed last", lastPush.map { "\(Timestamp(microseconds: $0))" } ?? "never"])
        lines.append(["to send", pending])
        lines.append(["token", state.databaseToken == nil ? "none" : Self.text(of: databaseToken)])
        if let next { lines.append(["next fetch", Self.text(of: next, "zone")]) }
        return lines
    }

    private var pending: String {
        var text = "\(state.zoneChanges.count.counted("change")) of zones, \(state.recordChanges.count) of records"
        if state.hasUntrackedChanges { text += ", and some that are not listed" }
        return text
    }

    private func write(_ zone: Zone, to output: Output) throws {
        output.write("zone \(Self.text(of: zone.zone))")
        if !zone.isThere { output.write("  does not exist", .removed) }
        try output.endLine()
        var lines: [[String]] = []
        if let change = zone.change {
            lines.append(["to send", change == .delete ? "the deletion of the zone" : "the zone"])
        }
        if zone.saveCount + zone.deleteCount > 0 {
            var text = "\(zone.saveCount.counted("save")), \(zone.deleteCount.counted("delete"))"
            if !zone.isThere, zone.change == nil || zone.change == .delete {
                let fail = zone.saveCount + zone.deleteCount == 1 ? "it fails" : "they fail"
                text += "; \(fail) without the zone"
            }
            lines.append([zone.change == nil ? "to send" : "", text])
        }
        lines.append(["token", zone.hasToken ? Self.text(of: zone.token) : "none"])
        if let next = zone.next { lines.append(["next fetch", Self.text(of: next, "record")]) }
        try Columns.write(lines, indentation: 4, to: output)
    }

    private static func text(of zone: ZoneID) -> String {
        Printable.escaped(zone.name) + (zone.owner.isEmpty ? "" : " of \(Printable.escaped(zone.owner))")
    }

    private static func text(of report: TokenReport?) -> String {
        guard let report else { return "no change token of this release" }
        var parts = ["at offset \(report.token.position.offset)"]
        if let status = report.outlook { parts += status.lines.prefix(2).map { "\($0.label) \($0.text)" } }
        if let refusal = report.refusal { parts.append("refused: \(Printable.escaped(refusal.message))") }
        return parts.joined(separator: "; ")
    }

    private static func text(of fetch: Fetch, _ kind: String) -> String {
        if let refusal = fetch.refusal { return "fails: \(Printable.escaped(refusal.message))" }
        let what = "\(fetch.changed.counted(kind)) changed, \(fetch.deleted) deleted, in \(fetch.pages.counted("page"))"
        return fetch.restart == nil ? what : "everything from the beginning: \(what)"
    }
}
