import StrataModel
import StrataRules

/// A request rebuilt from its commit, with everything that the commit depended on except the state before it.
package struct RebuiltRequest: Sendable, Hashable {
    package var request: Request
    package var actor: Actor
    package var operation: OperationInfo
    /// The time of the commit, in microseconds since 1970.
    package var time: Int64
    package var commitID: Identifier
    package var offset: UInt64

    /// Returns nil for a note, and for a commit whose request is not recorded.
    init?(_ asked: AskedRequest) {
        guard !asked.isNoted, let request = asked.request, let actor = asked.actor else { return nil }
        self.request = request
        self.actor = actor
        operation = asked.operation
        time = asked.time
        commitID = asked.commitID
        offset = asked.offset
    }
}
