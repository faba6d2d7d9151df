import StrataModel
import TestSupport
import Testing

@Suite("The rules that refusals and explanations name")
struct RuleTests {
    @Test("Each rule of behavior says what its page says, without error codes")
    func sentences() throws {
        let rows = Dictionary(
            uniqueKeysWithValues: try FormatPage(named: "behavior.md").rows.compactMap { row in
                row.count == 2 ? (row[0], row[1]) : nil
            }.filter { $0.0.hasPrefix("B") })
        #expect(rows.count > 150)
        for rule in Rule.allCases where rule.number.hasPrefix("B") {
            let row = try #require(rows[rule.number], "\(rule.number)")
            #expect(rule.sentence == Self.withoutCodes(row), "\(rule.number)")
            #expect(rule.page == "behavior.md")
        }
    }

    @Test("Each paragraph that a rule names is in the rules' page")
    func paragraphs() throws {
        let page = try FormatPage(named: "rules.md")
        for rule in Rule.allCases where !rule.number.hasPrefix("B") {
            let parts = rule.number.dropFirst().split(separator: ".").compactMap { Int($0) }
            let section = page.section(try #require(parts.first))
            #expect(!section.isEmpty && rule.page == "rules.md", "\(rule.number)")
            guard parts.count == 2 else { continue }
            #expect(section.contains { $0.hasPrefix("\(parts[1]). ") }, "\(rule.number)")
        }
    }

    @Test("Numbers lead back to rules, and no rule is without a sentence")
    func numbers() {
        for rule in Rule.allCases {
            #expect(Rule(rawValue: rule.number) == rule)
            #expect(rule.sentence.hasSuffix(".") && !rule.sentence.contains("`"), "\(rule.sentence)")
        }
        #expect(Rule.staleTag.number == "B53" && Rule.recordLimits.number == "§5.9")
    }

    private static func withoutCodes(_ row: String) -> String {
        var text = ""
        var rest = row[...]
        while let character = rest.first {
            if rest.hasPrefix(" (`") {
                rest = rest.drop { $0 != ")" }.dropFirst()
            } else {
                if character != "`" { text.append(character) }
                rest = rest.dropFirst()
            }
        }
        return text
    }
}
