import StrataModel

/// The inputs of a decision besides the request and the state: the actor, the time, the operation and the commit's ID.
package struct RequestContext: Sendable {
    package var actor: Actor
    /// The commit's time in microseconds since 1970.
    package var time: Int64
    package var operation: OperationInfo
    /// The ID of the commit that the request gets if it is accepted. Tokens of new URLs are derived from it.
    package var commitID: Identifier
    /// The shares that the commit saved when it was judged first, for judging it again: their tokens are taken over if
    /// the store had no secret then.
    package var savedShares: [ShareSavedEvent] = []
    /// The newest commit in the state on which the noted request was judged; nil for a request, and for a note that is
    /// not about one.
    package var judgedOn: UInt64?
    /// True if the decision records the rules that it applied.
    package var isTraced: Bool

    package init(
        actor: Actor, time: Int64, operation: OperationInfo = OperationInfo(), commitID: Identifier,
        isTraced: Bool = false
    ) {
        self.actor = actor
        self.time = time
        self.operation = operation
        self.commitID = commitID
        self.isTraced = isTraced
    }
}

/// The client's operation that sends a request; its commit stores this information.
package struct OperationInfo: Sendable, Hashable {
    package var id: String
    package var qualityOfService: EnvelopeHeader.QualityOfService
    package var groupID: String
    package var groupName: String

    package init(
        id: String = "", qualityOfService: EnvelopeHeader.QualityOfService = .default, groupID: String = "",
        groupName: String = ""
    ) {
        self.id = id
        self.qualityOfService = qualityOfService
        self.groupID = groupID
        self.groupName = groupName
    }
}
