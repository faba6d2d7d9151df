import StrataModel
import StrataRules

/// A request of a log with everything that judging it again needs, except the state that it was judged on.
package struct RebuiltRequest: Sendable, Hashable {
    package var request: Request
    package var actor: Actor
    package var operation: OperationInfo
    /// The time of the commit, in microseconds since 1970.
    package var time: Int64
    package var commitID: Identifier
    package var offset: UInt64

    /// Returns nil if the log does not have the request or its actor.
    package init?(_ asked: AskedRequest) {
        guard let request = asked.request, let actor = asked.actor else { return nil }
        self.request = request
        self.actor = actor
        operation = asked.operation
        time = asked.time
        commitID = asked.commitID
        offset = asked.offset
    }
}
