/// Counts comments of the sources that do not read as plain English, module by module, against what is left of them.
///
/// A documentation comment begins with what the thing is or does, not with one of ``openings``; no comment uses one of
/// ``phrases``. ``allowed`` only shrinks: a module with fewer of them than it allows is a finding too.
struct PlainWordsRule: StyleRule {
    static let openings = ["What", "Whether", "Who", "Of", "So", "Those", "How"]
    static let phrases = [
        "whoever", "let go", "in front of", "is told", "are told", "so many", "goes on", "made again", "come to be",
    ]
    /// How many lines of a module's comments still have one.
    static let allowed: [String: Int] = [
        "CloudKit": 141,
        "CoreLocation": 5,
        "StrataLog": 186,
        "StrataModel": 80,
        "StrataQuery": 84,
        "StrataReplay": 230,
        "StrataRules": 81,
        "StrataStore": 301,
        "StrataSystem": 21,
        "StrataTool": 304,
        "StrataTree": 134,
        "StrataViews": 133,
    ]

    let allowed: [String: Int]

    init(allowed: [String: Int] = Self.allowed) { self.allowed = allowed }

    func findings(in files: [SourceFile]) -> [Finding] {
        var findings: [String: [Finding]] = [:]
        for file in files where file.isSwift && file.path.hasPrefix("Sources/") {
            let module = String(file.path.split(separator: "/")[1])
            findings[module, default: []] += []
            for (line, text) in file.lines.enumerated() {
                guard let words = Self.finding(in: text) else { continue }
                findings[module, default: []].append(file.finding(line, "'\(words)' in a comment; say it plainly"))
            }
        }
        return findings.sorted { $0.key < $1.key }.flatMap { module, found -> [Finding] in
            let maximum = allowed[module] ?? 0
            if found.count > maximum { return found }
            guard found.count < maximum else { return [] }
            let message = "\(module) has \(found.count) comments to mend; lower its \(maximum) in PlainWordsRule"
            return [Finding(path: "Tests/StyleTests/PlainWordsRule.swift", line: 1, message: message)]
        }
    }

    private static func finding(in line: some StringProtocol) -> String? {
        let text = line.drop { $0 == " " }
        let comment = text.hasPrefix("///") ? text.dropFirst(3) : text.hasPrefix("//") ? text.dropFirst(2) : nil
        guard let comment else { return nil }
        let words = comment.drop { $0 == " " }
        if text.hasPrefix("///"), let first = openings.first(where: { words.hasPrefix($0 + " ") }) { return first }
        return phrases.first { comment.lowercased().containsWord($0) }
    }
}
