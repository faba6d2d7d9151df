import StrataModel

extension ReportPage {
    private static let mostItems = 8
    private static let mostFields = 6

    var refusals: ReportMarkup {
        let refused = content.scan.statistics.refused
        if content.scan.statistics.zone != nil { return "<p>They are not counted for a single zone.</p>" }
        if refused.requests.isEmpty, refused.items.isEmpty {
            return "<p>Nothing was refused, or this store does not keep refusals.</p>"
        }
        let older = content.scan.refusals.olderCount
        let limit =
            older == 0
            ? "All of them are listed, the last one first."
            : "The last \(ReportRefusals.mostTold) are listed, the last one first; "
                + "\(ReportNumber.grouped(UInt64(older))) before them are only counted."
        let requests = refused.requests.values.reduce(0, +)
        return """
            <p>\(ReportNumber.counted(requests, "request was", "requests were")) refused; \
            \(ReportNumber.counted(refused.conflicts, "item", "items")) would have overwritten changes \
            that the client had not seen, which is a conflict. \(limit)</p>
            <div class="grid">
            \(card("Requests refused as a whole", refused.requests))
            \(card("Items that caused a refusal or were left out", refused.items))
            </div>
            <div class="card refused">\(told)</div>
            """
    }

    private func card(_ title: String, _ counts: [UInt64: UInt64]) -> ReportMarkup {
        if counts.isEmpty { return "" }
        let sorted = counts.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
        let rows = sorted.map { code, count -> (ReportMarkup, UInt64?) in
            let name: ReportMarkup = "\("\(Refusal.Code(rawValue: code))") <small>code \(code)</small>"
            return ("<th scope=\"row\">\(name)</th><td class=\"n\">\(count: count)</td>", count)
        }
        return card(
            title, head: "\(heads("Error"))\(heads("Times", style: "n"))", rows: rows, bars: "Compared",
            of: sorted.map(\.value))
    }

    private var told: ReportMarkup {
        var known: Set<UInt64> = []
        let rows = content.refusals.map { refusal -> ReportMarkup in
            let offset = refusal.version.offset
            // A commit may have several refusals, and only the first gets the anchor.
            let anchor: ReportMarkup = known.insert(offset).inserted ? " id=\"commit-\(offset)\"" : ""
            let items = refusal.items.prefix(Self.mostItems).map { "<li>\(item($0, refusal))</li>" as ReportMarkup }
            let rest = refusal.items.count - items.count
            let more: ReportMarkup = rest > 0 ? "<li class=\"faint\">and \(rest) more</li>" : ""
            return """
                <tr\(anchor)><th scope="row" class="n">\(count: offset)</th>\
                <td><span class="nowrap">\(time(refusal.time))</span><br><span class="faint">\
                \(refusal.unnamedActorText ?? content.names.actorText(refusal.header.user, refusal.header.device)), \
                \(refusal.header.operationKind.description)\(refusal.stateText.map { ", " + $0 } ?? "")</span>\
                <span data-commit="\(offset)"></span></td>\
                <td>\(error(refusal))</td><td><ul>\(items)\(more)</ul></td></tr>

                """
        }
        let head: ReportMarkup = "\(heads("Commit", style: "n"))\(heads("When and who", "Error", "Request"))"
        return table("Refused requests and items, the last one first", head: head, rows: rows)
    }

    private func error(_ refusal: ReportRefusal) -> ReportMarkup {
        let badge: ReportMarkup = refusal.isConflict ? "<span class=\"badge bad\">conflict</span> " : ""
        let message: ReportMarkup =
            refusal.message.isEmpty ? "" : "<br><span class=\"faint\">\(ReportExcerpt.text(refusal.message))</span>"
        guard let code = refusal.code else { return "\(badge)accepted in part" }
        // The common cause says more than a partial failure.
        let causes = Set(refusal.items.map(\.code))
        let told = code == Refusal.Code.partialFailure.rawValue && causes.count == 1 ? causes.first ?? code : code
        return "\(badge)\("\(Refusal.Code(rawValue: told))")\(message)"
    }

    private func item(_ item: ReportRefusal.Item, _ refusal: ReportRefusal) -> ReportMarkup {
        var parts: [ReportMarkup] = []
        if Set(refusal.items.map(\.code)).count > 1 || refusal.code == nil {
            parts.append("\("\(Refusal.Code(rawValue: item.code))")")
        }
        if let base = item.target?.base { parts.append("the client had <code>\(base.tag)</code>") }
        if let stored = item.stored { parts.append("the store has <code>\(stored.tag)</code>") }
        let fields = item.target?.fields ?? []
        let sent = fields.prefix(Self.mostFields).map { key, value -> ReportMarkup in
            "<code>\(key) = \(value.map { ReportExcerpt.text(ValueText.text(of: $0), atMost: 80) } ?? "none")</code>"
        }
        if !sent.isEmpty { parts.append("sent \(ReportMarkup(sent))\(fields.count > sent.count ? ", …" : "")") }
        let list = ReportMarkup(parts, separator: "; ")
        let notes: ReportMarkup = parts.isEmpty ? "" : "<br><span class=\"faint\">\(list)</span>"
        return "\(item.list == .saves ? "save" : "delete") \(name(of: item, refusal))\(notes)"
    }

    private func name(of item: ReportRefusal.Item, _ refusal: ReportRefusal) -> ReportMarkup {
        guard let target = item.target else {
            let bytes = refusal.bytesNotKept
            return bytes > 0 ? "<i>request of \(bytes) bytes not kept</i>" : "<i>request not recorded</i>"
        }
        guard let zone = target.zone else { return "<b>\(target.name)</b>" }
        let link = content.zone(of: target, in: refusal).map { record(target.name, zone: $0) }
        return "<b>\(link ?? "\(target.name)")</b> <small>in \(zone)</small>"
    }
}
