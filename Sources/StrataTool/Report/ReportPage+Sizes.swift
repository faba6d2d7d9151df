import StrataModel

extension ReportPage {
    /// The maximum number of rows in a table; the rest are summed up.
    private static let mostRows = 20

    var sizesSection: ReportMarkup {
        let numbers = content.scan.statistics
        let names = numbers.names
        let zones = numbers.zones.sorted(by: <).map { ordinal, tally -> (ReportMarkup, Tally) in
            (
                "\(content.names.shownZone(ordinal)) <small>\(content.names.shownDatabase(ofZone: ordinal))</small>",
                tally
            )
        }
        let types = numbers.types.sorted(by: <).map { (text(names.shownType($0.key)), $0.value) }
        let fields = numbers.fields.sorted(by: <).map { (text(names.shownField($0.key)), $0.value) }
        let users = numbers.users.sorted(by: <).map { (text(names.actorText($0.key, 0)), $0.value) }
        let kinds = numbers.kinds.sorted { $0.rawValue < $1.rawValue }.map { (text("\($0.key)"), $0.value) }
        return """
            <section id="sizes">
            <h2>Sizes</h2>
            <p>\(sizesText) Bytes are those of events, values and payloads before compression.</p>
            <div class="columns">
            \(card("Events by zone", unit: "Events", zones, others: numbers.zones.others))
            \(card("Events by record type", unit: "Events", types, others: numbers.types.others))
            \(card("Values by field", unit: "Values", fields, others: numbers.fields.others))
            \(card("Events by kind", unit: "Events", kinds, others: numbers.kinds.others))
            \(card("Commits by user", unit: "Commits", users, others: numbers.users.others))
            \(card("Commits by hour of the day, in UTC", unit: "Commits", hours))
            </div>
            </section>
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
        let sizes = rows.map(\.1.byteCount)
        // Every hour of the day gets a row.
        let limit = max(Self.mostRows, rows.count <= 24 ? 24 : 0)
        var markup = rows.prefix(limit).map { name, tally -> ReportMarkup in
            """
            <tr><th scope="row">\(name)</th><td class="n">\(count: tally.count)</td>\
            <td class="n">\(count: tally.byteCount)</td>\(meter(tally.byteCount, of: sizes))</tr>

            """
        }
        let rest = rows.dropFirst(limit)
        if !rest.isEmpty || others.count > 0 {
            let count = rest.reduce(others.count) { $0 + $1.1.count }
            let bytes = rest.reduce(others.byteCount) { $0 + $1.1.byteCount }
            let noBar: ReportMarkup = areCompared(sizes) ? "<td class=\"meter\"></td>" : ""
            let what = others.count > 0 ? "all others" : "\(ReportNumber.grouped(UInt64(rest.count))) others"
            markup.append(
                """
                <tr><th scope="row" class="faint">\(what)</th><td class="n">\(count: count)</td>\
                <td class="n">\(count: bytes)</td>\(noBar)</tr>

                """)
        }
        let head: ReportMarkup = """
            <th scope="col">Name</th><th scope="col" class="n">\(unit)</th><th scope="col" class="n">Bytes</th>\
            \(meterHead("Bytes compared", of: sizes))
            """
        return "<div class=\"card\">\(table(title, head: head, rows: markup))</div>"
    }

    // MARK: Churn

    var churnSection: ReportMarkup {
        let (top, error) = (content.report.churn, content.scan.statistics.churn.error)
        if top.isEmpty {
            return "<section id=\"churn\"><h2>Records that changed most</h2><p>No record has changed.</p></section>"
        }
        let counts = top.map(\.count)
        let rows = top.map { item, count -> ReportMarkup in
            """
            <tr><th scope="row">\(record(item.name.text, zone: item.zone))</th>\
            <td>\(content.names.shownZone(item.zone)) \
            <small>\(content.names.shownDatabase(ofZone: item.zone))</small></td><td class="n">\(count: count)</td>\
            \(meter(count, of: counts))</tr>

            """
        }
        let head: ReportMarkup = """
            <th scope="col">Record</th><th scope="col">Zone</th><th scope="col" class="n">Versions</th>\
            \(meterHead("Compared", of: counts))
            """
        let all = content.exactRecordCount.map { "of \(ReportNumber.counted($0, "record"))" } ?? "of all records"
        let accuracy = error == 0 ? "" : " Each number may be too low by at most \(ReportNumber.grouped(error))."
        return """
            <section id="churn">
            <h2>Records that changed most</h2>
            <p>The \(count: UInt64(top.count)) \(all) with the most versions; a deletion counts as one.\(accuracy)</p>
            <div class="card">\(table("Records with the most versions", head: head, rows: rows))</div>
            </section>
            """
    }
}
