import Foundation
import TestSupport
import Testing

/// A page that `strata report` has written, taken apart.
struct ReportedPage {
    let result: ToolResult
    let text: String

    init(result: ToolResult, text: String) { (self.result, self.text) = (result, text) }

    /// Runs it with the standard output as file.
    init(of store: String = "Notes.strata", in directory: TestDirectory, _ words: String...) throws {
        result = try ToolProcess.run(["report", store, "-"] + words, in: directory.path(""))
        text = result.output
    }

    /// What is between two pieces of text.
    func part(from start: String, to end: String) throws -> String {
        let first = try #require(text.range(of: start), "\(start)")
        let last = try #require(text.range(of: end, range: first.upperBound..<text.endIndex), "\(end)")
        return String(text[first.upperBound..<last.lowerBound])
    }

    func section(_ id: String) throws -> String { try part(from: "<section id=\"\(id)\"", to: "</section>") }

    /// A version as the script sees it.
    struct Version {
        let offset: UInt64
        let kind: String
        let tag: String
        let notes: [String]
        /// Key, and the values before and behind it as JSON.
        let changes: [(key: String, before: String, after: String)]
    }

    struct History {
        let zone: UInt64
        let zoneName: String
        let database: String
        let type: String
        let name: String
        let count: Int
        let versions: [Version]
    }

    func histories() throws -> [History] {
        guard text.contains("id=\"histories\"") else { return [] }
        let data = try part(from: "<script type=\"application/json\" id=\"histories\">", to: "</script>")
        let array = try #require(try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [[Any]])
        return try array.map { record in
            try #require(record.count == 7)
            let versions = try #require(record[6] as? [[Any]])
            return History(
                zone: try #require(record[0] as? UInt64), zoneName: try #require(record[1] as? String),
                database: try #require(record[2] as? String), type: try #require(record[3] as? String),
                name: try #require(record[4] as? String), count: try #require(record[5] as? Int),
                versions: try versions.map(Self.version))
        }
    }

    private static func version(_ array: [Any]) throws -> Version {
        try #require(array.count == 8)
        let changes = try #require(array[7] as? [[Any]])
        return Version(
            offset: try #require(array[0] as? UInt64), kind: try #require(array[3] as? String),
            tag: try #require(array[5] as? String), notes: try #require(array[6] as? [String]),
            changes: try changes.map { change in
                try #require(change.count == 3)
                return (try #require(change[0] as? String), value(change[1]), value(change[2]))
            })
    }

    private static func value(_ value: Any) -> String {
        if value is NSNull { return "none" }
        return value as? String ?? "unknown"
    }

    // MARK: Markup

    /// Tags that are not closed where they must be, or that there should not be.
    func faults() throws -> [String] {
        let known: Set = [
            "a", "article", "b", "body", "br", "button", "caption", "code", "dd", "details", "div", "dl", "dt",
            "footer", "h1", "h2", "h3", "head", "header", "html", "i", "input", "kbd", "label", "li", "main", "meta",
            "nav", "noscript", "option", "p", "path", "rect", "script", "section", "select", "small", "span", "style",
            "summary", "svg", "table", "tbody", "td", "th", "thead", "time", "title", "tr", "ul",
        ]
        let empty: Set = ["br", "input", "meta", "path", "rect"]
        // What scripts and styles hold is no markup.
        let markup = text.replacing(/<(script|style)([^>]*)>.*?<\/\1>/.dotMatchesNewlines()) { "<\($0.1)></\($0.1)>" }
        var open: [Substring] = []
        var faults: [String] = []
        for tag in markup.matches(of: /<(\/?)([A-Za-z][A-Za-z0-9]*)((?:[^<>"]|"[^"<>]*")*)>/) {
            let name = tag.2
            if !known.contains(String(name)) { faults.append("<\(name)> is no tag of the page") }
            let attributes = tag.3.replacing(/"[^"]*"/, with: "")
            if attributes.contains(/\bon[a-z]+\s*=|\bstyle\s*=|\bsrc\s*=/) { faults.append("<\(name)\(tag.3)>") }
            if empty.contains(String(name)) { continue }
            if tag.1.isEmpty {
                open.append(name)
            } else if open.popLast() != name {
                faults.append("</\(name)> closes another tag")
            }
        }
        let angles = markup.replacing(/<!doctype html>|<\/?[A-Za-z](?:[^<>"]|"[^"<>]*")*>/, with: "")
        if angles.contains("<") || angles.contains(">") { faults.append("there is a bracket outside of tags") }
        return faults + open.map { "<\($0)> is not closed" }
    }

    /// What would make a browser ask for something else.
    func references() -> [String] {
        let patterns = [
            #"https?:"#, #"\ssrc\s*="#, #"\shref\s*=\s*"[^#]"#, #"url\("#, #"@import"#,
            #"<(link|iframe|object|img|base)\b"#, #"\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon)\b"#,
        ]
        return patterns.filter { text.range(of: $0, options: .regularExpression) != nil }
    }
}
