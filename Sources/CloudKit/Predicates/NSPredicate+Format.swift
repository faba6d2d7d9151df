import Foundation
import StrataQuery

/// Lets `NSPredicate` have initialisers that return another class.
public protocol FormatPredicateMaking {}

extension NSPredicate: FormatPredicateMaking {}

extension FormatPredicateMaking where Self == NSPredicate {
    /// Reads a predicate's text, as on Apple's platforms, where Foundation has it.
    ///
    /// ```swift
    /// let cheap = NSPredicate(format: "price < %d AND %K BEGINSWITH[c] %@", 100, "title", "the")
    /// let nearby = NSPredicate(format: "distanceToLocation:fromLocation:(place, %@) < 5000", here)
    /// let query = CKQuery(recordType: "Book", predicate: cheap)
    /// ```
    ///
    /// Malformed text does not end the process: a query with the predicate fails with `invalidArguments`, which says
    /// where the text is wrong.
    public init(format: String, _ args: Any...) { self.init(format: format, argumentArray: args) }

    /// The same with the arguments in an array.
    public init(format: String, argumentArray: [Any]?) {
        self = FormatPredicate(format: format, arguments: (argumentArray ?? []).map(PredicateArgument.init))
    }
}
