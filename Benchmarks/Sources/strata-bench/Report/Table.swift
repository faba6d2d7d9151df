/// Lines of cells, shown in columns or as Markdown.
struct Table {
    var header: [String]
    var lines: [[String]] = []

    var text: String {
        let rows = [header] + lines
        let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return String(line.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    var markdown: String {
        ([header, header.map { _ in "---" }] + lines).map { "| " + $0.joined(separator: " | ") + " |" }
            .joined(separator: "\n")
    }
}

/// The tables of rows.
struct Tables {
    var rows: [Row]

    /// A line for each row: both sides, and the bar.
    var comparison: Table {
        var table = Table(header: [
            "metric", "records", "unit", "Strata", "±%", "peer", "value", "±%", "ratio", "bar", "",
        ])
        for row in rows {
            table.lines.append([
                row.title, row.records.map { "\($0)" } ?? "", row.unit, row.strata.short,
                row.spread?.rounded().short ?? "", row.peerName, row.peerValue?.short ?? "",
                row.peerSpread?.rounded().short ?? "", row.ratio?.short ?? "",
                row.bar ?? "", row.pass.map { $0 ? "ok" : "MISSED" } ?? "",
            ])
        }
        return table
    }

    /// A line for each side of each row that has more than its rate.
    var details: Table {
        var table = Table(header: [
            "metric", "records", "side", "rate", "p50 µs", "p99 µs", "p99.9 µs", "processor µs/op", "written B/op",
            "disk MiB", "memory MiB",
        ])
        var known: Set<[String]> = []
        for row in rows {
            let sides = [
                ("Strata", row.strata as Double?, row.strataDetails), (row.peerName, row.peerValue, row.peerDetails),
            ]
            for (name, rate, details) in sides {
                guard let details else { continue }
                let line = [
                    row.title, row.records.map { "\($0)" } ?? "", name, rate?.short ?? "", details.p50.short,
                    details.p99.short, details.p999?.short ?? "", details.processorMicroseconds.short,
                    details.writtenBytes.short, details.diskBytes.map { ($0 / mebibyte).short } ?? "",
                    details.peakMebibytes?.short ?? "",
                ]
                // Strata has one line, however many peers it has.
                if known.insert(line).inserted { table.lines.append(line) }
            }
        }
        return table
    }

    /// A line for each row of saves: what Strata passed to the system for one operation.
    var writes: Table {
        var table = Table(header: ["metric", "records"])
        var known: Set<[String]> = []
        for row in rows {
            guard let columns = row.strataDetails?.writes?.columns, columns.contains(where: { $0.value > 0 }) else {
                continue
            }
            table.header = Array(table.header.prefix(2)) + columns.map(\.name)
            let line = [row.title, row.records.map { "\($0)" } ?? ""] + columns.map { $0.value.short }
            if known.insert(line).inserted { table.lines.append(line) }
        }
        return table
    }

    var text: String { all(\.text) }
    var markdown: String { all(\.markdown) }

    private func all(_ shown: (Table) -> String) -> String {
        let others = [details, writes].filter { !$0.lines.isEmpty }
        return ([comparison] + others).map(shown).joined(separator: "\n\n")
    }
}
