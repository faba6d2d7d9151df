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
        if !leftOut.isEmpty {
            markup += """
                <section class="card notice" id="left-out">
                <h2>What this page leaves out</h2>
                <ul>\(leftOut.map { "<li>\($0)</li>" as ReportMarkup })</ul>
                </section>
                """
        }
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
        let (numbers, stored) = (content.scan.statistics, content.scan.stored)
        let (commits, records) = (numbers.commits, numbers.records)
        var offsets: ReportMarkup = "none in this range"
        if let first = commits.firstOffset, let last = commits.lastOffset {
            offsets = "\(count: first) to \(count: last)"
        }
        var tiles = [
            tile("Commits", "\(count: commits.count)", offsets),
            tile("Events", "\(count: commits.events.count)", "\(bytes: commits.events.byteCount) of bodies"),
            tile(
                "Saves", "\(count: records.saves)",
                """
                \(count: records.created) created, \(count: records.updated) updated, \
                \(count: records.touched) touched
                """),
            tile(
                "Deletions", "\(count: records.deleted)",
                "\(count: records.cascaded) with another record; \(count: records.erased) erased"),
        ]
        if numbers.zone == nil {
            let requests = numbers.refused.requests.values.reduce(0, +)
            let conflicts = ReportNumber.counted(numbers.refused.conflicts, "conflict")
            let users = UInt64(numbers.users.tallies.keys.count { $0 != 0 })
            let zones = ReportNumber.counted(UInt64(numbers.zones.tallies.count), "zone")
            tiles.append(tile("Refused", "\(count: requests)", "\(conflicts)"))
            tiles.append(tile("Users", "\(count: users)", "in \(zones)"))
        }
        if let note = sharesNote { tiles.append(tile("Shares made", "\(count: content.scan.shares.madeCount)", note)) }
        if content.report.tellsStoredBytes {
            let saved = SavedSpace.text(of: stored.payloadBytes, in: stored.storedBytes)
            let note: ReportMarkup = "for \(bytes: stored.payloadBytes) of payloads: \(saved)"
            tiles.append(tile("Size", "\(bytes: stored.storedBytes)", note))
        } else {
            tiles.append(tile("Payloads", "\(bytes: commits.byteCount)", "before compression"))
        }
        return """
            <section id="overview" tabindex="-1">
            <h2>Overview</h2>
            <dl class="tiles">\(tiles)</dl>
            </section>
            """
    }

    private func tile(_ name: String, _ value: ReportMarkup, _ note: ReportMarkup) -> ReportMarkup {
        "<div class=\"card\"><dt>\(name)</dt><dd>\(value)<small>\(note)</small></dd></div>\n"
    }
}
