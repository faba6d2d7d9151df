import StrataModel

/// The inputs of a decision besides the request and the state: the actor, the time and the operation.
public struct RequestContext: Sendable {
    public var actor: Actor
    /// The commit's time in microseconds since 1970.
    public var time: Int64
    public var operation: OperationInfo
    /// True if the decision records the rules that it applied.
    public var isTraced: Bool

    public init(actor: Actor, time: Int64, operation: OperationInfo = OperationInfo(), isTraced: Bool = false) {
        self.actor = actor
        self.time = time
        self.operation = operation
        self.isTraced = isTraced
    }
}

/// The client's operation that sends a request; its commit stores this information.
public struct OperationInfo: Sendable, Hashable {
    public var id: String
    public var qualityOfService: EnvelopeHeader.QualityOfService
    public var groupID: String
    public var groupName: String

    public init(
        id: String = "", qualityOfService: EnvelopeHeader.QualityOfService = .default, groupID: String = "",
        groupName: String = ""
    ) {
        self.id = id
        self.qualityOfService = qualityOfService
        self.groupID = groupID
        self.groupName = groupName
    }
}
