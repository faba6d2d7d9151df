import Foundation
import StrataQuery

/// Lets `NSPredicate` have initializers that return another class.
public protocol FormatPredicateMaking {}

extension NSPredicate: FormatPredicateMaking {}

// For `Self` rather than for the class itself, so that `Self(format:)` compiles in clients' extensions.
extension FormatPredicateMaking where Self: NSPredicate {
    /// Creates a predicate from a format, like Foundation's initializer on Apple's platforms.
    ///
    /// ```swift
    /// let cheap = NSPredicate(format: "price < %d AND %K BEGINSWITH[c] %@", 100, "title", "the")
    /// let nearby = NSPredicate(format: "distanceToLocation:fromLocation:(place, %@) < 5000", here)
    /// let query = CKQuery(recordType: "Book", predicate: cheap)
    /// ```
    ///
    /// Malformed text does not trap: a query with the predicate fails with `invalidArguments`, and the error gives the
    /// position of the mistake.
    public init(format: String, _ args: Any...) { self.init(format: format, argumentArray: args) }

    /// The same as the other initializer, with the arguments in an array.
    public init(format: String, argumentArray: [Any]?) {
        let predicate = FormatPredicate(format: format, arguments: (argumentArray ?? []).map(PredicateArgument.init))
        let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [predicate])
        guard let made = predicate as? Self ?? compound as? Self else {
            preconditionFailure("A format makes a NSPredicate or a NSCompoundPredicate, not a \(Self.self).")
        }
        self = made
    }
}
