import StrataModel
import Testing

@testable import StrataQuery

/// What matching may cost is counted in steps, so that it does not depend on the machine.
@Suite("Budgets of regular expressions")
struct ExpressionBudgetTests {
    private let hard: TextExpression
    private let text = String(repeating: "a", count: 60) + "b"

    init() throws { hard = try TextExpression("(a|aa)+c|a+b", isCaseInsensitive: false) }

    @Test("Neither one text nor all of them together take more than they may")
    func bounds() throws {
        let one = ExpressionBudget(reportsPerText: 4)
        for _ in 0..<3 { #expect(throws: StrataError.self) { try hard.matches(text, one) } }
        // This text takes 9 reports: more than half of what all may take.
        let all = ExpressionBudget(reportsPerQuery: 10)
        let shorter = String(repeating: "a", count: 21) + "b"
        #expect(try hard.matches(shorter, all))
        #expect(throws: StrataError.self) { try hard.matches(shorter, all) }
        // What takes less than a report is never refused.
        #expect(try hard.matches("aab", all))
    }

    @Test("Only whole texts match, with or without regard to case")
    func wholeTexts() throws {
        let budget = ExpressionBudget()
        for (pattern, text, isCaseInsensitive, isMatch) in [
            ("a|ab", "ab", false, true), ("a", "ab", false, false), ("AB", "ab", true, true),
            ("AB", "ab", false, false),
            ("", "", false, true), ("a.*", "a\n", false, false), ("(?s)a.*", "a\n", false, true),
            ("e\u{301}", "e\u{301}", false, true),
        ] {
            let expression = try TextExpression(pattern, isCaseInsensitive: isCaseInsensitive)
            #expect(try expression.matches(text, budget) == isMatch, "\(pattern)")
        }
    }
}
