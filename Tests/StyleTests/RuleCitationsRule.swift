import Foundation

/// Checks that each rule of behavior that a file cites by its number, such as B53, has a row in docs/behavior.md.
///
/// The page has one row per number, in order. A test cites each number that docs/differences.md lists. A number alone
/// tells a user nothing, so no string of the product has one.
struct RuleCitationsRule: StyleRule {
    private static let page = "docs/behavior.md"
    private static let differences = "docs/differences.md"

    func findings(in files: [SourceFile]) -> [Finding] {
        var findings: [Finding] = []
        var known: Set<Int> = []
        let page = files.first { $0.path == Self.page }
        var last = 0
        if page == nil, let readme = files.first(where: { $0.path == "README.md" }) {
            findings.append(readme.finding(0, "there is no \(Self.page) to look up numbers in"))
        }
        for (line, text) in (page?.lines ?? []).map(String.init).enumerated() {
            guard text.hasPrefix("| B"), let number = Self.numbers(in: text).first else { continue }
            if let page, number <= last { findings.append(page.finding(line, "B\(number) is not after B\(last)")) }
            last = number
            known.insert(number)
        }
        for file in files {
            for (line, text) in file.lines.enumerated() where text.utf8.contains(UInt8(ascii: "B")) {
                for number in Self.numbers(in: text) where page != nil && !known.contains(number) {
                    findings.append(file.finding(line, "\(Self.page) has no row for B\(number); add it"))
                }
                guard file.isLibrary, file.name != "Rule.swift", Self.hasNumber(inTextOf: file, line) else { continue }
                findings.append(file.finding(line, "a text has the number of a rule; say what it means instead"))
            }
        }
        return findings + untestedDifferences(in: files)
    }

    private func untestedDifferences(in files: [SourceFile]) -> [Finding] {
        guard let page = files.first(where: { $0.path == Self.differences }) else { return [] }
        let tests = files.filter { $0.path.hasPrefix("Tests/") && !$0.path.hasPrefix("Tests/StyleTests/") }
        let tested = Set(tests.flatMap { Self.numbers(in: $0.text) })
        return page.lines.enumerated().flatMap { line, text in
            Self.numbers(in: text).filter { !tested.contains($0) }.map { number in
                page.finding(line, "no test cites B\(number); cite it in the test that holds the choice")
            }
        }
    }

    private static func numbers(in text: some StringProtocol) -> [Int] {
        text.split { !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "_") }.compactMap { word in
            guard word.first == "B", (2...4).contains(word.count) else { return nil }
            return Int(word.dropFirst())
        }
    }

    /// Returns true if a string literal of the line has a number.
    private static func hasNumber(inTextOf file: SourceFile, _ line: Int) -> Bool {
        !file.hasComment(line) && numbers(in: file.lines[line]).count > numbers(in: file.code[line]).count
    }
}
