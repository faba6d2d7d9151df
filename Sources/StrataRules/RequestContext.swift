import StrataModel

/// What a decision depends on beside the request and the state: who asks, when, and by which operation.
public struct RequestContext: Sendable {
    public var actor: Actor
    /// The commit's time, microseconds since 1970.
    public var time: Int64
    public var operation: OperationInfo
    /// Whether the decision says which rules it applied.
    public var isTraced: Bool

    public init(actor: Actor, time: Int64, operation: OperationInfo = OperationInfo(), isTraced: Bool = false) {
        self.actor = actor
        self.time = time
        self.operation = operation
        self.isTraced = isTraced
    }
}

/// By which of the client's operations a request comes; a commit keeps it.
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
