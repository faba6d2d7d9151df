import StrataLog
import StrataModel

extension ReportPage {
    /// The maximum number of rows; with more segments, neighbors are grouped.
    private static let mostSegments = 200

    /// Neighboring segments of the same form.
    private struct Group {
        var segments: ArraySlice<SegmentSummary>

        var bytes: UInt64 { segments.reduce(0) { $0 + UInt64($1.fileBytes) } }
        var payloadBytes: UInt64 { segments.reduce(0) { $0 + $1.payloadBytes } }
        var commitCount: UInt64 { segments.reduce(0) { $0 + $1.commitCount } }
        var isDamaged: Bool { segments.contains { $0.damage != nil } }
        var isClosed: Bool { segments.allSatisfy(\.isClosed) }
        var form: SegmentSummary.Form { segments[segments.startIndex].form }
        var savedText: String { SavedSpace.percent(of: payloadBytes, in: bytes) }

        var offsetsText: String {
            let first = ReportNumber.grouped(segments[segments.startIndex].firstOffset)
            guard let last = segments.compactMap(\.lastOffset).last else { return "from \(first), empty" }
            return "\(first) to \(ReportNumber.grouped(last))"
        }
        var style: String { isDamaged ? "damaged" : form.rawValue }
        var stateText: String { isDamaged ? "damaged" : form == .base ? "base" : isClosed ? "closed" : "active" }
        var formText: String { form == .blocks ? "sealed blocks" : form.rawValue }
    }

    private var groups: [Group] {
        let segments = content.segments
        let size = (segments.count + Self.mostSegments - 1) / Self.mostSegments
        var groups: [Group] = []
        for index in segments.indices {
            if let last = groups.last, last.segments.count < size, last.form == segments[index].form {
                groups[groups.count - 1].segments = segments[last.segments.startIndex...index]
            } else {
                groups.append(Group(segments: segments[index...index]))
            }
        }
        return groups
    }

    var segments: ReportMarkup {
        let groups = groups
        let grouped = groups.count < content.segments.count ? " Neighboring files are grouped." : ""
        let bytes = groups.reduce(0) { $0 + $1.bytes }
        let numbers = heads("Commits", "Bytes", "Payloads", "Saved", style: "n")
        let head: ReportMarkup = "\(heads("Offsets", "Form", "State"))\(numbers)\(heads("From", "To"))"
        return """
            <p>\(ReportNumber.counted(UInt64(content.segments.count), "file")) of the log, \(count: bytes) bytes \
            including preallocated space; always those of the whole store.\(grouped)</p>
            <div class="card">
            \(map(groups, bytes))
            \(table("Segments", head: head, rows: groups.map(row)))
            </div>
            """
    }

    private func row(_ group: Group) -> ReportMarkup {
        func cell(_ time: Int64?) -> ReportMarkup { "<td class=\"nowrap\">\(time.map(self.time) ?? "–")</td>" }
        let style = group.isDamaged ? "badge bad" : group.form == .base ? "badge good" : "badge"
        return """
            <tr><th scope="row" class="nowrap">\(group.offsetsText)</th><td>\(group.formText)</td>\
            <td><span class="\(style)">\(group.stateText)</span></td><td class="n">\(count: group.commitCount)</td>\
            <td class="n">\(count: group.bytes)</td><td class="n">\(count: group.payloadBytes)</td>\
            <td class="n">\(group.savedText)</td>\(cell(group.segments.compactMap(\.firstTime).first))\
            \(cell(group.segments.compactMap(\.lastTime).last))</tr>

            """
    }

    // MARK: Map

    private static let kinds = [
        ("blocks", "sealed blocks"), ("frames", "frames"), ("base", "base"), ("damaged", "damaged"),
    ]

    private func map(_ groups: [Group], _ bytes: UInt64) -> ReportMarkup {
        guard bytes > 0 else { return "" }
        var start: UInt64 = 0
        let pieces = groups.map { group -> ReportMarkup in
            func place(_ position: UInt64) -> Int { Int((Double(position) / Double(bytes) * 10_000).rounded()) }
            let (left, right) = (place(start), place(start + group.bytes))
            start += group.bytes
            let size = ReportNumber.bytes(group.bytes)
            let title = "\(group.offsetsText), \(group.formText), \(group.stateText), \(size)"
            return """
                <rect class="\(group.style)" x="\(left)" width="\(max(1, right - left))" height="100">\
                <title>\(title)</title></rect>
                """
        }
        let shown = Set(groups.map(\.style))
        let legend = Self.kinds.filter { shown.contains($0.0) }.map { style, name -> ReportMarkup in
            """
            <li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="\(style)" width="10" height="10"/></svg>\
            \(name)</li>
            """
        }
        return """
            <div class="map"><svg viewBox="0 0 10000 100" preserveAspectRatio="none" role="img">\
            <title>The files of the log in order, each as wide as its share of the bytes</title>\(pieces)</svg>
            <ul class="legend">\(legend)</ul></div>
            """
    }
}
