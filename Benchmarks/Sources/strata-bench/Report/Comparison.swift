/// Rows of a run beside those of an earlier one.
struct Comparison {
    var before: [Row]
    var after: [Row]

    var text: String {
        let old = Dictionary(before.map { ($0.key, $0) }) { $1 }
        var table = Table(header: ["metric", "records", "peer", "figure", "before", "after", "after/before"])
        for row in after {
            guard let before = old[row.key] else { continue }
            for (name, pair) in Self.figures(before, row) {
                table.lines.append([
                    row.title, row.records.map { "\($0)" } ?? "", row.peer ?? "", name, pair.0.short, pair.1.short,
                    pair.0 == 0 ? "" : (pair.1 / pair.0).short,
                ])
            }
        }
        let lonely =
            Self.lonely(before, beside: after, "only before") + Self.lonely(after, beside: before, "only after")
        return ([table.text] + lonely).joined(separator: "\n")
    }

    private static func lonely(_ rows: [Row], beside others: [Row], _ when: String) -> [String] {
        let known = Set(others.map(\.key))
        return rows.filter { !known.contains($0.key) }.map { row in
            let size = row.records.map { ", \($0) records" } ?? ""
            return "\(when): \(row.title)\(size)\(row.peer.map { ", beside \($0)" } ?? "")"
        }
    }

    private static func figures(_ before: Row, _ after: Row) -> [(String, (Double, Double))] {
        let figures: [(String, Double?, Double?)] = [
            (before.unit, before.strata, after.strata), ("ratio", before.ratio, after.ratio),
            ("p50 µs", before.strataDetails?.p50, after.strataDetails?.p50),
            ("p99 µs", before.strataDetails?.p99, after.strataDetails?.p99),
            ("p99.9 µs", before.strataDetails?.p999, after.strataDetails?.p999),
            (
                "processor µs/op", before.strataDetails?.processorMicroseconds,
                after.strataDetails?.processorMicroseconds
            ),
            ("written B/op", before.strataDetails?.writtenBytes, after.strataDetails?.writtenBytes),
        ]
        let writes = zip(before.strataDetails?.writes?.columns ?? [], after.strataDetails?.writes?.columns ?? [])
            .map { ($0.name, $0.value as Double?, $1.value as Double?) }
        return (figures + writes).compactMap { name, before, after in
            guard let before, let after else { return nil }
            return (name, (before, after))
        }
    }
}
