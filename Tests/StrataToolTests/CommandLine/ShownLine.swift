import Foundation
import Testing

/// A line of a page that begins with `$ `, with the output that the page shows below it.
///
/// `tools/docs --from-clone` runs these lines in a fresh clone, page by page. A page with ``sampleMark`` has commands
/// for a store of the reader's, and the tests run them on ``SampleFolder``. A block after a line `<!-- not run: … -->`
/// runs nowhere, because it needs one of ``needs``.
struct ShownLine: Sendable, CustomTestStringConvertible {
    static let sampleMark = "<!-- commands run on a sample store -->"
    /// What a fresh clone does not have, and the words of lines that need it.
    static let needs = ["servers": ["nats://", "tls://", "postgres://", "tools/nats"], "root": ["sudo", "apt-get"]]

    var page: String
    var number: Int
    /// The line without its prompt.
    var text: String
    var output: [String] = []
    /// The need that `<!-- not run: … -->` gives before the block.
    var need: String?

    var program: String { text.prefix { $0 != " " && $0 != "=" }.description }
    var testDescription: String { "\(page):\(number): \(text)" }

    /// The problem with how a line is marked; nil if there is none.
    var problem: String? {
        let needing = Self.needs.filter { $0.value.contains { text.contains($0) } }.keys
        if let need {
            if Self.needs[need] == nil { return "nothing is known of the need '\(need)'" }
            return needing.contains(need) || isPartOfNeed ? nil : "it does not need \(need)"
        }
        return needing.isEmpty ? nil : "a fresh clone has no \(needing.sorted().joined(separator: " and no "))"
    }
    /// True if another line of its block has the need.
    var isPartOfNeed = false

    // MARK: Pages

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static func text(of page: String) throws -> String {
        try String(contentsOf: root.appending(path: page), encoding: .utf8)
    }

    static func pages() throws -> [String] {
        try ["README.md"]
            + ["docs", "Sources/CloudKit/CloudKit.docc"].flatMap { folder in
                let names = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
                return names.filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" }.sorted()
            }
    }

    static func all() throws -> [ShownLine] { try pages().flatMap { try lines(of: $0, text(of: $0)) } }

    static func lines(of page: String, _ text: String) throws -> [ShownLine] {
        var lines: [ShownLine] = []
        var block: [ShownLine]?
        var mark: String?
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            if line.hasPrefix("```") {
                if let done = block {
                    let isNeeded = done.contains { line in
                        line.need.flatMap { needs[$0] }?.contains { line.text.contains($0) } == true
                    }
                    lines += done.map { line in
                        var line = line
                        line.isPartOfNeed = isNeeded
                        return line
                    }
                    (block, mark) = (nil, nil)
                } else {
                    block = []
                }
            } else if block != nil, line.hasPrefix("$ ") {
                block?.append(ShownLine(page: page, number: index + 1, text: String(line.dropFirst(2)), need: mark))
            } else if let last = block?.indices.last {
                block?[last].output.append(line)
            } else if block == nil, line.hasPrefix("$ ") {
                throw Problem(text: "\(page):\(index + 1): a command outside a block, which nothing runs")
            } else if block == nil, let found = line.wholeMatch(of: /<!-- not run: (.+) -->/) {
                mark = String(found.1)
            }
        }
        return lines
    }

    struct Problem: Error { var text: String }
}
