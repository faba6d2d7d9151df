import StrataModel

extension ReportPage {
    private static let mostParticipants = 8

    var shares: ReportMarkup {
        let shares = content.scan.shares
        let told = shares.told
        if told.isEmpty { return "<p>These commits made, changed and ended no share.</p>" }
        let limit = shares.isCut ? "the \(told.count) that changed last are listed" : "all that changed are listed"
        let offsets = heads("Shared by commit", "Ended by commit", style: "n")
        let head: ReportMarkup = "\(heads("Share", "Shares", "Participants"))\(offsets)"
        return """
            <p>\(ReportNumber.counted(shares.madeCount, "share")) made and \(count: shares.endedCount) ended; users \
            joined \(ReportNumber.counted(shares.joinedCount, "time")) and left \
            \(ReportNumber.counted(shares.leftCount, "time")). Of the shares, \(limit), with their participants after \
            the last of these commits.</p>
            <div class="card">\(table("Shares that changed", head: head, rows: told.map(row)))</div>
            """
    }

    /// The note in the tile of the overview; nil if no share changed.
    var sharesNote: ReportMarkup? {
        let shares = content.scan.shares
        if shares.told.isEmpty, shares.joinedCount == 0, shares.leftCount == 0 { return nil }
        return """
            \(count: shares.endedCount) ended; \(count: shares.joinedCount) joined, \(count: shares.leftCount) left
            """
    }

    private func row(_ share: ReportShares.Share) -> ReportMarkup {
        let zone = share.record.zone
        let root = share.root.map { record($0, zone: zone) } ?? "the whole zone"
        let unknown: ReportMarkup = content.scan.shares.hasForgotten ? "not known" : "earlier"
        let made: ReportMarkup = share.made.map { "\(count: $0)" } ?? unknown
        let ended: ReportMarkup = share.ended.map { "\(count: $0)" } ?? ""
        return """
            <tr><th scope="row">\(record(share.record.name, zone: zone))<small>\(content.names.shownZone(zone)) \
            \(content.names.shownDatabase(ofZone: zone))</small></th><td>\(root)</td>\
            <td>\(participants(of: share))</td><td class="n">\(made)</td><td class="n">\(ended)</td></tr>

            """
    }

    private func participants(of share: ReportShares.Share) -> ReportMarkup {
        guard let state = share.state else { return "<span class=\"faint\">not in these commits</span>" }
        var parts = state.participants.prefix(Self.mostParticipants).map { entry -> ReportMarkup in
            "<li>\(entry.nameText) <small>\(entry.text)</small></li>"
        }
        let rest = state.participants.count - parts.count
        if rest > 0 { parts.append("<li class=\"faint\">\(rest.counted("other"))</li>") }
        if state.publicPermission != .none {
            parts.append("<li>everybody with the URL <small>\(state.publicPermission.name)</small></li>")
        }
        return "<ul>\(parts)</ul>"
    }
}
