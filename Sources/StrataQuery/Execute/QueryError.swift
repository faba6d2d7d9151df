/// A reason why a query ends early.
package enum QueryError: Error, Sendable {
    case cancelled
}
