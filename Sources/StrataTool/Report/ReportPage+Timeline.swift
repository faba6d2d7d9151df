import StrataModel

extension ReportPage {
    private static let mostLanes = 8

    /// A row of the chart and a column of the table.
    private struct Lane {
        let name: String
        var note = ""
        let counts: [UInt64]
        var isBad = false

        var total: UInt64 { counts.reduce(0, +) }
    }

    var timeline: ReportMarkup {
        guard let timeline = content.scan.timeline else { return "<p>There are no commits here.</p>" }
        let all = Lane(name: "All commits", counts: timeline.all)
        let (zones, kinds) = (zoneLanes(timeline), kindLanes(timeline))
        let step = TimeSpan.text(timeline.stepMicroseconds)
        let most = timeline.all.max() ?? 0
        let hint = "Point at the chart, or focus it and use the arrow keys, to read single steps."
        return """
            <p>Commits by time, in steps of \(step); at most \(count: most) in one step. A commit counts for each zone \
            that it changed, and for each kind of event that it has. Each row has its own scale.</p>
            <div class="card">
            <div class="chart lanes" id="chart" tabindex="0" role="group" data-steps="\(timeline.stepCount)" \
            aria-label="Commits by time; arrow keys read single steps, the table below has all numbers">
            \(markup(of: all, timeline))\(axis(timeline))
            <h3>By zone</h3>
            \(zones.map { markup(of: $0, timeline) })
            <h3>By kind of event</h3>
            \(kinds.map { markup(of: $0, timeline) })
            </div>
            <p class="readout faint" id="readout" role="status">\(hint)</p>
            <details><summary>The numbers as a table</summary>
            \(numbers(timeline, [all] + zones + kinds))
            </details>
            </div>
            """
    }

    private func zoneLanes(_ timeline: ReportTimeline) -> [Lane] {
        let (lanes, others) = timeline.zones.top(Self.mostLanes)
        let named = lanes.map { ordinal, counts in
            Lane(
                name: content.names.shownZone(ordinal), note: content.names.shownDatabase(ofZone: ordinal),
                counts: counts)
        }
        return named + (others.map { [Lane(name: "Other zones", counts: $0)] } ?? [])
    }

    private func kindLanes(_ timeline: ReportTimeline) -> [Lane] {
        let (lanes, others) = timeline.kinds.top(Self.mostLanes)
        var named = lanes.map { number, counts in
            let kind = EventKind(rawValue: number)
            return Lane(name: "\(kind)", counts: counts, isBad: kind == .requestRefused)
        }
        // Refusals are shown even if they are rare.
        let refused = EventKind.requestRefused.rawValue
        let isTold = lanes.contains { $0.ordinal == refused }
        if !isTold, let counts = timeline.kinds.counts[refused] {
            named.append(Lane(name: "\(EventKind.requestRefused)", counts: counts, isBad: true))
        }
        return named + (others.map { [Lane(name: "Other kinds", counts: $0)] } ?? [])
    }

    private func markup(of lane: Lane, _ timeline: ReportTimeline) -> ReportMarkup {
        let most = lane.counts.max() ?? 0
        let style = lane.name == "All commits" ? "lane all" : lane.isBad ? "lane bad" : "lane"
        let total = ReportNumber.counted(lane.total, "commit")
        let title = "\(lane.name): \(total), at most \(ReportNumber.grouped(most)) in a step"
        let note: ReportMarkup = lane.note.isEmpty ? "" : "<small>\(lane.note)</small>"
        return """
            <div class="\(style)"><span class="name">\(lane.name)\(note)</span>\
            <svg viewBox="0 0 \(timeline.stepCount * 10) 100" preserveAspectRatio="none" role="img">\
            <title>\(title)</title><path d="\(Self.bars(lane.counts))"/></svg>\
            <span class="total">\(count: lane.total)</span></div>

            """
    }

    /// Returns the path of a bar for each step, in a picture that is 10 wide for each step and 100 high.
    private static func bars(_ counts: [UInt64]) -> String {
        guard let most = counts.max(), most > 0 else { return "" }
        return counts.enumerated().map { index, count in
            if count == 0 { return "" }
            // A single commit among many stays visible.
            let height = max(4, Int((Double(count) / Double(most) * 98).rounded()))
            return "M\(index * 10 + 1) 100v-\(height)h8v\(height)z"
        }.joined()
    }

    private func axis(_ timeline: ReportTimeline) -> ReportMarkup {
        let marks = Set([0, timeline.stepCount / 2, timeline.stepCount - 1]).sorted()
        let labels = marks.map { "<span>\(timeline.time(ofStep: $0).description)</span>" as ReportMarkup }
        return "<div class=\"lane axis\" aria-hidden=\"true\"><span></span><div>\(labels)</div><span></span></div>"
    }

    private func numbers(_ timeline: ReportTimeline, _ lanes: [Lane]) -> ReportMarkup {
        let counts = lanes.map { heads($0.note.isEmpty ? $0.name : "\($0.name) (\($0.note))", style: "n") }
        let steps = (0..<timeline.stepCount).filter { timeline.all[$0] > 0 }
        let rows = steps.map { step -> ReportMarkup in
            let cells = lanes.map { "<td class=\"n\">\(count: $0.counts[step])</td>" as ReportMarkup }
            let time = timeline.time(ofStep: step).description
            return "<tr data-step=\"\(step)\"><th scope=\"row\" class=\"nowrap\">\(time)</th>\(cells)</tr>\n"
        }
        return table(
            "Commits in each step, without steps that have none", id: "steps",
            head: "\(heads("From"))\(counts)", rows: rows)
    }
}
