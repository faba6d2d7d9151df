import StrataModel
import StrataSystem

/// The page of a report. Tables and pictures are markup. The script adds the search through histories.
struct ReportPage {
    let content: ReportContent

    init(_ content: ReportContent) { self.content = content }

    /// Space for the markup around the data, and for a note.
    private static let frameBytes = 8 << 10

    /// Returns the space left for history data on a page of the given size.
    static func room(on maximumBytes: Int, beside pieces: ReportMarkup...) -> Int {
        let fixed = pieces.reduce(ReportResources.script.utf8.count + frameBytes) { $0 + $1.text.utf8.count }
        return max(0, maximumBytes - fixed)
    }

    /// Everything before the histories.
    var front: ReportMarkup {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <title>\(content.title) · Strata report</title>
        <style>\(ReportMarkup(trusted: ReportResources.style))</style>
        </head>
        <body>
        <a class="skip" href="#overview">Skip to the content</a>
        \(header)
        \(navigation)
        <main data-store="\(content.request.path)">
        \(notices)
        \(overview)
        \(timelineSection)

        """
    }

    /// The sections after the histories.
    var rest: ReportMarkup {
        """
        \(refusalsSection)
        \(churnSection)
        \(sharesSection)
        \(sizesSection)
        \(segmentsSection)

        """
    }

    func write(_ histories: ReportHistories, between front: ReportMarkup, and rest: ReportMarkup, to output: Output) {
        output.write(front.text)
        output.write(historyFront(histories).text)
        output.write(rest.text)
        if !histories.told.isEmpty {
            output.write("<script type=\"application/json\" id=\"histories\">" as StaticString)
            histories.write(to: output)
            output.write("</script>\n" as StaticString)
        }
        output.write(back.text)
    }

    private var back: ReportMarkup {
        """
        </main>
        <footer>
        <p>Made by <code>strata report</code> \(Tool.version) from the store up to commit \
        \(count: content.end.offset). All times are in UTC. Encrypted values are not decrypted.</p>
        </footer>
        <script>\(ReportMarkup(trusted: ReportResources.script))</script>
        </body>
        </html>

        """
    }

    /// Forbids external resources, and any style or script but the page's own, whatever the page contains.
    private static let policy =
        "default-src 'none'; style-src '\(source(ReportResources.style))'; "
        + "script-src '\(source(ReportResources.script))'; base-uri 'none'; form-action 'none'"

    /// Returns the hash with which a security policy allows an inline style or script.
    private static func source(_ text: String) -> String {
        "sha256-\(Base64.text(SHA256.hash(Array(text.utf8))))"
    }

    private static let sections = [
        ("overview", "Overview"), ("timeline", "Timeline"), ("records", "Histories"), ("refusals", "Refusals"),
        ("churn", "Most changed"), ("shares", "Shares"), ("sizes", "Sizes"), ("segments", "Segments"),
    ]

    private var header: ReportMarkup {
        let numbers = content.scan.statistics
        var span: ReportMarkup = ""
        if let first = numbers.commits.firstTime, let last = numbers.commits.lastTime {
            span = "<span>\(time(first)) to \(time(last))</span>"
        }
        return """
            <header>
            <p class="kicker">Strata report</p>
            <h1>\(content.title)</h1>
            <p class="facts"><span>container \(content.identity.containerIdentifier)</span>\
            <span>store <code>\(content.identity.storeID.description)</code></span>\(span)</p>
            </header>
            """
    }

    private var navigation: ReportMarkup {
        let links = Self.sections.map { id, title -> ReportMarkup in "<li><a href=\"#\(id)\">\(title)</a></li>" }
        return "<nav aria-label=\"Sections\"><ul>\(links)</ul></nav>"
    }

    // MARK: Pieces

    func time(_ microseconds: Int64) -> ReportMarkup {
        "<time>\(Timestamp(microseconds: microseconds).description)</time>"
    }

    /// Returns a table in a frame that scrolls if it is too wide.
    func table(_ caption: String, id: String? = nil, head: ReportMarkup, rows: [ReportMarkup]) -> ReportMarkup {
        let name: ReportMarkup = id.map { " id=\"\($0)\"" } ?? ""
        return """
            <div class="scroll" role="region" tabindex="0" aria-label="\(caption)"><table\(name)>
            <caption>\(caption)</caption>
            <thead><tr>\(head)</tr></thead>
            <tbody>
            \(rows)</tbody></table></div>
            """
    }

    /// Returns the heading of a column of bars, or nothing if all bars would be full.
    func meterHead(_ title: String, of parts: [UInt64]) -> ReportMarkup {
        areCompared(parts) ? "<th scope=\"col\" class=\"meter\">\(title)</th>" : ""
    }

    /// Returns a bar for a value relative to the largest one. See ``meterHead(_:of:)``.
    func meter(_ part: UInt64, of parts: [UInt64]) -> ReportMarkup {
        areCompared(parts) ? meter(part, of: parts.max() ?? 0) : ""
    }

    func areCompared(_ parts: [UInt64]) -> Bool { Set(parts).count > 1 }

    private func meter(_ part: UInt64, of whole: UInt64) -> ReportMarkup {
        // A thousandth of the whole stays visible.
        let width = part == 0 || whole == 0 ? 0 : max(4, Int((Double(part) / Double(whole) * 1_000).rounded()))
        return """
            <td class="meter"><svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">\
            <rect width="1000" height="10"/><rect width="\(min(1_000, width))" height="10"/></svg></td>
            """
    }

    /// Returns the name of a record, which the script turns into a link if its history is on the page.
    func record(_ name: String, zone: UInt64) -> ReportMarkup {
        "<span data-zone=\"\(zone)\" data-record=\"\(name)\">\(name)</span>"
    }
}

extension ReportContent {
    /// The name of the store: the last part of its path.
    var title: String {
        request.path.split(separator: "/").last.map { String($0) } ?? request.path
    }
}
