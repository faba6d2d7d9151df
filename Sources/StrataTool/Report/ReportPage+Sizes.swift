import StrataModel

extension ReportPage {
    /// The maximum number of rows in a table; the rest are summed up.
    private static let mostRows = 20

    var sizes: ReportMarkup {
        let numbers = content.scan.statistics
        let names = numbers.names
        let zones = numbers.zones.sorted(by: <).map { (zone($0.key), $0.value) }
        let types = numbers.types.sorted(by: <).map { (text(names.shownType($0.key)), $0.value) }
        let fields = numbers.fields.sorted(by: <).map { (text(names.shownField($0.key)), $0.value) }
        let users = numbers.users.sorted(by: <).map { (text(names.actorText($0.key, 0)), $0.value) }
        let kinds = numbers.kinds.sorted { $0.rawValue < $1.rawValue }.map { (text("\($0.key)"), $0.value) }
        return """
            <p>\(sizesText) Bytes are those of events, values and payloads before compression.</p>
            <div class="columns">
            \(card("Events by zone", unit: "Events", zones, others: numbers.zones.others))
            \(card("Events by record type", unit: "Events", types, others: numbers.types.others))
            \(card("Values by field", unit: "Values", fields, others: numbers.fields.others))
            \(card("Events by kind", unit: "Events", kinds, others: numbers.kinds.others))
            \(card("Commits by user", unit: "Commits", users, others: numbers.users.others))
            \(card("Commits by hour of the day, in UTC", unit: "Commits", hours))
            </div>
            """
    }

    private var sizesText: String {
        let (numbers, stored) = (content.scan.statistics, content.scan.stored)
        var text = "The payloads of these commits have \(ReportNumber.grouped(numbers.commits.byteCount)) bytes."
        if content.report.tellsStoredBytes {
            text +=
                " On disk, \(ReportNumber.counted(UInt64(stored.segmentCount), "whole segment")) with "
                + "\(ReportNumber.grouped(stored.payloadBytes)) of them take "
                + "\(ReportNumber.grouped(stored.storedBytes)): "
                + "\(SavedSpace.text(of: stored.payloadBytes, in: stored.storedBytes))."
        }
        return text
    }

    private var hours: [(ReportMarkup, Tally)] {
        content.scan.statistics.hours.enumerated().filter { $0.element.count > 0 }
            .map { (text(StatisticsReport.hour($0.offset)), $0.element) }
    }

    private func text(_ text: String) -> ReportMarkup { "\(text)" }

    private func card(
        _ title: String, unit: String, _ rows: [(ReportMarkup, Tally)], others: Tally = Tally()
    ) -> ReportMarkup {
        if rows.isEmpty { return "" }
        // Every hour of the day gets a row.
        let limit = max(Self.mostRows, rows.count <= 24 ? 24 : 0)
        func cells(_ name: ReportMarkup, _ style: ReportMarkup, _ count: UInt64, _ bytes: UInt64) -> ReportMarkup {
            """
            <th scope="row"\(style)>\(name)</th><td class="n">\(count: count)</td><td class="n">\(count: bytes)</td>
            """
        }
        var lines = rows.prefix(limit).map { name, tally -> (ReportMarkup, UInt64?) in
            (cells(name, "", tally.count, tally.byteCount), tally.byteCount)
        }
        let rest = rows.dropFirst(limit)
        if !rest.isEmpty || others.count > 0 {
            let count = rest.reduce(others.count) { $0 + $1.1.count }
            let bytes = rest.reduce(others.byteCount) { $0 + $1.1.byteCount }
            let what = others.count > 0 ? "all others" : "\(ReportNumber.grouped(UInt64(rest.count))) others"
            lines.append((cells("\(what)", " class=\"faint\"", count, bytes), nil))
        }
        return card(
            title, head: "\(heads("Name"))\(heads(unit, "Bytes", style: "n"))", rows: lines, bars: "Bytes compared",
            of: rows.map(\.1.byteCount))
    }

    // MARK: Churn

    var churn: ReportMarkup {
        let (top, error) = (content.report.churn, content.scan.statistics.churn.error)
        if top.isEmpty { return "<p>No record has changed.</p>" }
        let rows = top.map { item, count -> (ReportMarkup, UInt64?) in
            let name = record(item.name.text, zone: item.zone)
            let versions: ReportMarkup = "<td class=\"n\">\(count: count)</td>"
            return ("<th scope=\"row\">\(name)</th><td>\(zone(item.zone))</td>\(versions)", count)
        }
        let all = content.exactRecordCount.map { "of \(ReportNumber.counted($0, "record"))" } ?? "of all records"
        let accuracy = error == 0 ? "" : " Each number may be too low by at most \(ReportNumber.grouped(error))."
        let card = card(
            "Records with the most versions", head: "\(heads("Record", "Zone"))\(heads("Versions", style: "n"))",
            rows: rows, bars: "Compared", of: top.map(\.count))
        return """
            <p>The \(count: UInt64(top.count)) \(all) with the most versions; a deletion counts as one.\(accuracy)</p>
            \(card)
            """
    }
}
