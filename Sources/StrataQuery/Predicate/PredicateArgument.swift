/// An argument for a placeholder of a format.
public enum PredicateArgument: Sendable {
    case value(PredicateValue)
    /// An object of a class that predicates cannot compare.
    case unsupported(type: String)

    public var value: PredicateValue? {
        guard case .value(let value) = self else { return nil }
        return value
    }
}
