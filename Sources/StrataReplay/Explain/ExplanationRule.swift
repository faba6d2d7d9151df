import StrataModel

/// A rule that decided about a request or one of its items, and its finding.
package struct ExplanationRule: Sendable, Hashable {
    package let rule: Rule
    /// The detail that the rule found in this request; empty if there is none.
    package let finding: String

    init(_ rule: Rule, finding: String = "") { (self.rule, self.finding) = (rule, finding) }

    /// `B53`, or a paragraph of docs/rules.md such as `§5.9`.
    package var number: String { rule.number }
    package var sentence: String { rule.sentence }
}
