import Foundation

/// Finds pages that have grown past their budget of words, and pages with too many semicolons.
///
/// Each page for readers has a line in ``list``: the words that it may have, and its path. Pages that a format or a
/// rule fixes, and pages that a program writes, have as many words as they need. README's budget counts lines too.
struct PageBudgetRule: StyleRule {
    static let list = "Tests/StyleTests/PageBudgets.txt"
    /// The words of all pages in docs/ that have a budget.
    static let maximumWords = 40_000
    static let maximumLinesOfReadme = 120
    /// Per 1,000 words.
    static let maximumSemicolons = 2
    private static let withoutBudget: Set = [
        "docs/behavior.md", "docs/format-keys.md", "docs/format-runs.md", "docs/format.md", "docs/reference/json.md",
        "docs/rules.md",
    ]

    func findings(in files: [SourceFile]) -> [Finding] {
        let pages = files.filter { Self.isForReaders($0.path) }
        guard let list = files.first(where: { $0.path == Self.list }) else {
            return pages.prefix(1).map { $0.finding(0, "there is no \(Self.list) with a budget for it") }
        }
        return pages.compactMap(Self.semicolons) + budgets(of: pages, list)
    }

    static func isForReaders(_ path: String) -> Bool {
        path.hasSuffix(".md") && (!path.contains("/") || path.hasPrefix("docs/") || path.contains(".docc/"))
    }

    private func budgets(of pages: [SourceFile], _ list: SourceFile) -> [Finding] {
        var budgets: [String: Int] = [:]
        var findings: [Finding] = []
        for (line, text) in list.lines.enumerated() where !text.isEmpty {
            let parts = text.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let words = Int(parts[0]), pages.contains(where: { $0.path == parts[1] }) else {
                findings.append(list.finding(line, "'\(text)' is no number of words and page"))
                continue
            }
            budgets[String(parts[1])] = words
        }
        var total = 0
        for page in pages where !Self.withoutBudget.contains(page.path) {
            let words = Self.words(of: page.text)
            if page.path.hasPrefix("docs/") { total += words }
            guard let budget = budgets[page.path] else {
                findings.append(page.finding(0, "the page has no budget; add '\(words) \(page.path)' to \(Self.list)"))
                continue
            }
            if words > budget { findings.append(page.finding(0, "\(words) words, \(budget) allowed; shorten it")) }
            if page.path == "README.md", page.lines.count - 1 > Self.maximumLinesOfReadme {
                findings.append(page.finding(0, "\(page.lines.count - 1) lines, \(Self.maximumLinesOfReadme) allowed"))
            }
        }
        if total > Self.maximumWords {
            findings.append(list.finding(0, "docs/ has \(total) words, \(Self.maximumWords) allowed"))
        }
        return findings
    }

    private static func words(of text: some StringProtocol) -> Int { text.split(whereSeparator: \.isWhitespace).count }

    private static func semicolons(of page: SourceFile) -> Finding? {
        let prose = Self.prose(of: page)
        let count = prose.count { $0 == ";" }
        let words = words(of: prose)
        guard count * 1_000 > maximumSemicolons * words else { return nil }
        return page.finding(
            0, "\(count) semicolons in \(words) words, \(maximumSemicolons) per 1,000 allowed; write sentences")
    }

    /// The text without code, comments, links' targets and entities.
    private static func prose(of page: SourceFile) -> String {
        var isCode = false
        let lines = page.lines.filter { line in
            guard !line.hasPrefix("```") else {
                isCode.toggle()
                return false
            }
            return !isCode
        }
        return lines.joined(separator: "\n")
            .replacing(/(?s)<!--.*?-->/, with: "")
            .replacing(/`[^`\n]*`/, with: "")
            .replacing(/&#?\w+;/, with: "")
    }
}
