/// The plots that rows are enough for.
struct Plots {
    var rows: [Row]

    /// Names of files with what is drawn in them.
    var all: [(name: String, plot: Plot)] { growth + long }

    // MARK: Growth

    /// Each metric that was measured at several sizes.
    private var growth: [(String, Plot)] {
        names(of: rows.filter { $0.records != nil }.map(\.metric)).compactMap { metric in
            let measured = rows.filter { $0.metric == metric && $0.records != nil && $0.strataDetails != nil }
            guard Set(measured.compactMap(\.records)).count > 2 else { return nil }
            let lines = sides(measured) { row, value, _ in [(Double(row.records ?? 0), value)] }
            return (
                "growth-\(Self.slug(metric))",
                Plot(
                    title: metric, horizontal: "records", vertical: measured.first?.unit ?? "",
                    isHorizontalLogarithmic: true, lines: lines)
            )
        }
    }

    // MARK: Long runs

    private var long: [(String, Plot)] {
        let measured = rows.filter { $0.strataDetails?.latencies != nil }
        return names(of: measured.map(\.metric)).flatMap { metric in
            let measured = measured.filter { $0.metric == metric }
            let throughput = Plot(
                title: metric, horizontal: "seconds", vertical: measured.first?.unit ?? "",
                lines: sides(measured) { _, _, details in
                    (details.perSecond ?? []).enumerated().map { (Double($0), $1) }
                })
            let latency = Plot(
                title: "\(metric): times of requests", horizontal: "one request in … is slower",
                vertical: "µs", isHorizontalLogarithmic: true, isVerticalLogarithmic: true,
                lines: sides(measured) { _, _, details in
                    (details.latencies ?? []).filter { $0[0] < 1 }.map { (1 / (1 - $0[0]), $0[1]) }
                })
            return [("throughput-\(Self.slug(metric))", throughput), ("latency-\(Self.slug(metric))", latency)]
        }
    }

    // MARK: Lines

    /// A line for each side: the points of its rows in their order.
    private func sides(
        _ rows: [Row], _ points: (Row, Double, Row.Details) -> [(Double, Double)]
    ) -> [Plot.Line] {
        var lines: [Plot.Line] = []
        func add(_ name: String, _ new: [(Double, Double)]) {
            guard let place = lines.firstIndex(where: { $0.name == name }) else {
                return lines.append(Plot.Line(name: name, points: new.map { (x: $0.0, y: $0.1) }))
            }
            // Strata is in the rows of all of its peers.
            for point in new where !lines[place].points.contains(where: { $0.x == point.0 }) {
                lines[place].points.append((x: point.0, y: point.1))
            }
        }
        for row in rows {
            if let details = row.strataDetails { add("Strata", points(row, row.strata, details)) }
            if let peer = row.peer, let value = row.peerValue, let details = row.peerDetails {
                add(peer, points(row, value, details))
            }
        }
        for place in lines.indices { lines[place].points.sort { $0.x < $1.x } }
        return lines
    }

    private func names(of metrics: [String]) -> [String] {
        var known: Set<String> = []
        return metrics.filter { known.insert($0).inserted }
    }

    private static func slug(_ metric: String) -> String {
        String(metric.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
            .split(separator: "-").joined(separator: "-")
    }
}
