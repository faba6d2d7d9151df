import StrataModel
import StrataSystem

/// The page of a report. Tables and pictures are markup. The script adds the search through histories.
struct ReportPage {
    let content: ReportContent

    init(_ content: ReportContent) { self.content = content }

    /// The script, without which the page lacks only the search and the reading of the timeline, and the style. Both
    /// are compiled into the program, and begin on a line of their own.
    private static let script = "\n" + String(decoding: PackageResources.report_js, as: UTF8.self)
    private static let style = "\n" + String(decoding: PackageResources.report_css, as: UTF8.self)

    /// Space for the markup around the data, and for a note.
    private static let frameBytes = 8 << 10

    /// Returns the space left for history data on a page of the given size.
    static func room(on maximumBytes: Int, beside pieces: ReportMarkup...) -> Int {
        let fixed = pieces.reduce(script.utf8.count + frameBytes) { $0 + $1.text.utf8.count }
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
        <style>\(ReportMarkup(trusted: Self.style))</style>
        </head>
        <body>
        <a class="skip" href="#overview">Skip to the content</a>
        \(header)
        \(navigation)
        <main data-store="\(content.request.path)">
        \(notices)
        \(overview)
        \(section("timeline", "Timeline", timeline))

        """
    }

    /// The sections after the histories.
    var rest: ReportMarkup {
        """
        \(section("refusals", "Refusals and conflicts", refusals))
        \(section("churn", "Records that changed most", churn))
        \(section("shares", "Shares", shares))
        \(section("sizes", "Sizes", sizes))
        \(section("segments", "Segments", segments))

        """
    }

    func write(_ histories: ReportHistories, between front: ReportMarkup, and rest: ReportMarkup, to output: Output) {
        output.write(front.text)
        output.write(section("records", "Record histories", browser(of: histories)).text)
        output.write(UInt8(ascii: "\n"))
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
        <script>\(ReportMarkup(trusted: Self.script))</script>
        </body>
        </html>

        """
    }

    /// Forbids external resources, and any style or script but the page's own, whatever the page contains.
    private static let policy =
        "default-src 'none'; style-src '\(source(style))'; "
        + "script-src '\(source(script))'; base-uri 'none'; form-action 'none'"

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

    /// Returns the headings of neighboring columns of one style, `n` for numbers.
    func heads(_ titles: String..., style: String? = nil) -> ReportMarkup {
        let style: ReportMarkup = style.map { " class=\"\($0)\"" } ?? ""
        return "\(titles.map { "<th scope=\"col\"\(style)>\($0)</th>" as ReportMarkup })"
    }

    /// Returns a table in a card. Bars in its last column show values relative to the largest one, unless all bars
    /// would be full. A row without a value has none.
    func card(
        _ caption: String, head: ReportMarkup, rows: [(ReportMarkup, UInt64?)], bars title: String,
        of values: [UInt64]
    ) -> ReportMarkup {
        let hasBars = Set(values).count > 1
        let most = values.max() ?? 0
        let last = hasBars ? heads(title, style: "meter") : ""
        let rows = rows.map { cells, value -> ReportMarkup in
            let bar: ReportMarkup = value.map { self.bar($0, of: most) } ?? ""
            let cell: ReportMarkup = hasBars ? "<td class=\"meter\">\(bar)</td>" : ""
            return "<tr>\(cells)\(cell)</tr>\n"
        }
        return "<div class=\"card\">\(table(caption, head: "\(head)\(last)", rows: rows))</div>"
    }

    private func bar(_ part: UInt64, of whole: UInt64) -> ReportMarkup {
        // A thousandth of the whole stays visible.
        let width = part == 0 || whole == 0 ? 0 : max(4, Int((Double(part) / Double(whole) * 1_000).rounded()))
        return """
            <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">\
            <rect width="1000" height="10"/><rect width="\(min(1_000, width))" height="10"/></svg>
            """
    }

    private func section(_ id: String, _ title: String, _ content: ReportMarkup) -> ReportMarkup {
        """
        <section id="\(id)">
        <h2>\(title)</h2>
        \(content)
        </section>
        """
    }

    /// Returns the name of a zone and its database.
    func zone(_ ordinal: UInt64) -> ReportMarkup {
        "\(content.names.shownZone(ordinal)) <small>\(content.names.shownDatabase(ofZone: ordinal))</small>"
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
