import StrataModel

extension ReportPage {
    /// The notices about missing content, except those in the sections themselves.
    var notices: ReportMarkup {
        var markup: ReportMarkup = ""
        if let damage = content.damage {
            let rows = Advice.items(of: damage).map { label, value -> ReportMarkup in
                "<tr><th scope=\"row\">\(label.description)</th><td>\(value)</td></tr>"
            }
            markup += """
                <section class="card notice bad" id="damage" role="alert">
                <h2>The store is damaged</h2>
                <p>This page shows only the intact part before the damage\(lastOffsetText). \
                \(Advice.advice(for: damage) ?? "")</p>
                <table><tbody>\(rows)</tbody></table>
                </section>
                """
        }
        let points = leftOut
        if points.isEmpty { return markup }
        markup += """
            <section class="card notice" id="left-out">
            <h2>What this page leaves out</h2>
            <ul>\(points.map { "<li>\($0)</li>" as ReportMarkup })</ul>
            </section>
            """
        return markup
    }

    private var lastOffsetText: String {
        content.scan.statistics.commits.lastOffset.map { ", up to commit \(ReportNumber.grouped($0))" }
            ?? ", which has no commits"
    }

    private var leftOut: [String] {
        let numbers = content.scan.statistics
        var points: [String] = []
        if content.floor.offset > 0 {
            points.append(
                "The history up to commit \(ReportNumber.grouped(content.floor.offset)) was compacted; if there is a "
                    + "base, it replaces that history.")
        }
        if let range = content.scan.range {
            if range.lowerBound > content.floor.offset + 1 {
                points.append("Commits before \(ReportNumber.grouped(range.lowerBound)) were not requested.")
            }
            if range.upperBound < content.end.offset {
                points.append("Commits after \(ReportNumber.grouped(range.upperBound)) were not requested.")
            }
        } else if content.end.offset > content.floor.offset {
            points.append("No commit is in the requested range.")
        }
        if let zone = numbers.zone {
            points.append("Everything that does not concern zones named \(ValueText.quoted(zone)), including refusals.")
        }
        if numbers.commits.malformedCount > 0 {
            points.append(
                "Undecodable content of \(ReportNumber.counted(numbers.commits.malformedCount, "commit")); the commits "
                    + "are counted.")
        }
        return points
    }

    // MARK: Tiles

    var overview: ReportMarkup {
        let numbers = content.scan.statistics
        let records = numbers.records
        var tiles = [
            tile("Commits", ReportNumber.grouped(numbers.commits.count), offsetsText),
            tile(
                "Events", ReportNumber.grouped(numbers.commits.events.count),
                "\(ReportNumber.bytes(numbers.commits.events.byteCount)) of bodies"),
            tile(
                "Saves", ReportNumber.grouped(records.saves),
                "\(ReportNumber.grouped(records.created)) created, \(ReportNumber.grouped(records.updated)) updated, "
                    + "\(ReportNumber.grouped(records.touched)) touched"),
            tile(
                "Deletions", ReportNumber.grouped(records.deleted),
                "\(ReportNumber.grouped(records.cascaded)) with another record; "
                    + "\(ReportNumber.grouped(records.erased)) erased"),
        ]
        if numbers.zone == nil {
            let requests = numbers.refused.requests.values.reduce(0, +)
            tiles += [
                tile(
                    "Refused", ReportNumber.grouped(requests),
                    ReportNumber.counted(numbers.refused.conflicts, "conflict")),
                tile("Users", ReportNumber.grouped(UInt64(userCount)), zonesText),
            ]
        }
        if let (value, note) = sharesTile { tiles.append(tile("Shares made", ReportNumber.grouped(value), note)) }
        if content.report.tellsStoredBytes {
            let stored = content.scan.stored
            tiles.append(
                tile(
                    "Size", ReportNumber.bytes(stored.storedBytes),
                    "for \(ReportNumber.bytes(stored.payloadBytes)) of payloads: "
                        + SavedSpace.text(of: stored.payloadBytes, in: stored.storedBytes)))
        } else {
            tiles.append(tile("Payloads", ReportNumber.bytes(numbers.commits.byteCount), "before compression"))
        }
        return """
            <section id="overview" tabindex="-1">
            <h2>Overview</h2>
            <dl class="tiles">\(tiles)</dl>
            </section>
            """
    }

    private func tile(_ name: String, _ value: String, _ note: String) -> ReportMarkup {
        "<div class=\"card\"><dt>\(name)</dt><dd>\(value)<small>\(note)</small></dd></div>\n"
    }

    private var offsetsText: String {
        let numbers = content.scan.statistics
        guard let first = numbers.commits.firstOffset, let last = numbers.commits.lastOffset else {
            return "none in this range"
        }
        return "\(ReportNumber.grouped(first)) to \(ReportNumber.grouped(last))"
    }

    private var userCount: Int { content.scan.statistics.users.tallies.keys.count { $0 != 0 } }

    private var zonesText: String {
        "in \(ReportNumber.counted(UInt64(content.scan.statistics.zones.tallies.count), "zone"))"
    }
}
