import StrataModel

/// A rule by which a request or one of its items was judged, and what it found.
public struct ExplanationRule: Sendable, Hashable {
    public let rule: Rule
    /// The finding of the rule here; empty if there is nothing to add.
    public let finding: String

    init(_ rule: Rule, finding: String = "") { (self.rule, self.finding) = (rule, finding) }

    /// `B53`, or a paragraph of docs/rules.md such as `§5.9`.
    public var number: String { rule.number }
    public var sentence: String { rule.sentence }
}
