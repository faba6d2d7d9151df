import StrataLog
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

    init(_ request: Request, _ actor: Actor, _ header: EnvelopeHeader, _ commit: Commit) {
        self.request = request
        self.actor = actor
        operation = OperationInfo(
            id: header.operationID, qualityOfService: header.qualityOfService, groupID: header.groupID,
            groupName: header.groupName)
        time = commit.time
        commitID = commit.id
        offset = commit.offset
    }
}
