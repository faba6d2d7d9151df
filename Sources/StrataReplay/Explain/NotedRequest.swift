import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// A request that wrote nothing, as an audit records it.
struct NotedRequest {
    let offset: UInt64
    let commit: Commit
    let header: EnvelopeHeader
    let event: Event
    /// Nil if the audit does not have it.
    let request: Request?
    let audit: RequestRefusedEvent?
    /// The outcome that the audit records, with the rule that refuses the request in a state that gives this outcome.
    private(set) var recorded = RequestOutcome(.nothingToDo)
    /// True if the current state of the log gives the answer that the audit has.
    private(set) var fits = false
    /// True once the request has been judged to find that state.
    var isSeen = false
    /// True if the request has been judged in the new timeline.
    var isReplayed = false
    /// The audit to write in its place.
    var writes: Event?
    /// The state that the answer depends on.
    var dependencies = DecisionDependencies.anything
}

extension NotedRequest {
    /// Returns nil for a commit that is no such audit.
    init?(_ commit: Commit) throws {
        let isCandidate = try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            while let event = try walker.next() {
                // Only the names of the refused user and device come before it, and the secret of a new store.
                if event.kind.isIncidental { continue }
                return event.kind == .requestRefused || event.kind == .nothingToDelete
            }
            return false
        }
        guard isCandidate else { return nil }
        let envelope = try Envelope(decoding: commit.payload)
        guard envelope.header.requestShape.isEmpty, let event = envelope.events.last else { return nil }
        var bytes: [UInt8]?
        var audit: RequestRefusedEvent?
        switch event.kind {
        case .requestRefused:
            let refused = try RequestRefusedEvent(decoding: event.body)
            (audit, bytes) = (refused, refused.request)
        case .nothingToDelete: bytes = try NothingToDeleteEvent(decoding: event.body).request
        default: return nil
        }
        offset = commit.offset
        self.commit = commit
        header = envelope.header
        self.event = event
        self.audit = audit
        request = try bytes.map { try Request(decoding: $0[...]) }
        if let request, let audit { recorded = RequestOutcome(audit, of: request) }
    }

    var operation: OperationInfo { OperationInfo(header) }

    /// The reason the outcome of the request is unknown; nil if it is known.
    var reasonUnjudged: String? {
        if isReplayed || fits { return nil }
        return request == nil ? RerunReport.reasonWithoutRequest : "No state rejects it as recorded."
    }

    /// - Parameter names: users and devices that the state may not know yet.
    func actor(in state: some NameResolver, _ names: [InternedName]) throws -> Actor? {
        if header.user == 0, audit?.code == Refusal.Code.notAuthenticated.rawValue {
            return Actor(user: "", device: "")
        }
        return try state.actor(of: header, names)
    }

    /// Judges the request, to find out if a state gives the answer that the audit has.
    mutating func ask(_ view: RulesView, by rules: Rules, _ names: [InternedName]) throws {
        fits = false
        guard let request, let actor = try actor(in: view.fold.fork, names) else { return }
        let context = RequestContext(
            actor: actor, time: commit.time, operation: operation, commitID: commit.id)
        let judgment = try Judgment(request, view, context, by: rules)
        fits = try judgment.audit(of: request)?.isSame(as: event) ?? false
        guard fits else { return }
        // An earlier state may have refused the same by another rule.
        if let audit { recorded = RequestOutcome(audit, of: request) }
        recorded.addRules(of: judgment.outcome(of: request))
    }

    /// An audit of the request, as a note.
    func note(_ event: Event, by actor: Actor) -> AlternateTimeline.Note {
        .init(event: event, kind: header.operationKind, actor: actor, operation: operation)
    }
}

extension OperationInfo {
    init(_ header: EnvelopeHeader) {
        self.init(
            id: header.operationID, qualityOfService: header.qualityOfService, groupID: header.groupID,
            groupName: header.groupName)
    }
}
