import StrataModel
import StrataSystem
import StrataViews

/// CloudKit's rules: decide on a request, given a state, without I/O, clock, randomness or locks (docs/rules.md).
///
/// ```swift
/// let decision = try Rules().decide(request, view, context)
/// ```
package struct Rules: Sendable {
    package var limits: Limits
    /// True if saving a child gives its parent a new change tag (B61).
    package var touchesParents: Bool
    package var schema: SchemaMode
    package var secrets = SecretSource()
    /// Returns the rules that the commit at an offset must state if they are not the ones stated last; nil for none.
    package var stated: @Sendable (_ offset: UInt64) throws -> RulesStatedEvent? = { _ in nil }
    /// Throws a ``StrataError`` for predicate text that the store does not accept; pure, like the rules.
    package var checkPredicate: @Sendable (String) throws -> Void

    package init(
        limits: Limits = .service, touchesParents: Bool = true, schema: SchemaMode = .open,
        checkPredicate: @escaping @Sendable (String) throws -> Void = { _ in }
    ) {
        self.limits = limits
        self.touchesParents = touchesParents
        self.schema = schema
        self.checkPredicate = checkPredicate
    }

    /// Judges a request. The view is only read, and caches what it reads.
    ///
    /// - Throws: ``Refusal`` if the request fails as a whole; ``StrataError`` if the state cannot be read.
    package func decide(_ request: Request, _ view: RulesView, _ context: RequestContext) throws -> Decision {
        view.secrets = secrets
        try context.actor.requireSignedIn()
        if context.actor != .service { try view.account(of: context.actor.user).status.requireAvailable() }
        try checkActor(request, context.actor)
        let judging = try Judging(
            request, view, context, limits: limits, touchesParents: touchesParents, schema: schema,
            checkPredicate: checkPredicate)
        let decision =
            switch request.content {
            case .modifyRecords(let body): try RecordsJudge(judging, body).decide()
            case .modifyZones(let body): try ZonesJudge(judging, body).decide()
            case .administer(let body): try AdministerJudge(judging, body).decide()
            case .declareSchema(let body): try SchemaJudge(judging, body).decide()
            case .modifySubscriptions(let body): try SubscriptionsJudge(judging, body).decide()
            case .notify(let body): try NotifyJudge(judging, body).decide()
            case .joinShares(let body): try JoinSharesJudge(judging, body).decide()
            }
        return try recordingStore(decision, view)
    }

    /// Returns a decision whose commit records the secret if it is the first of a store, and states the rules unless
    /// the state has them.
    func recordingStore(_ decision: Decision, _ view: RulesView) throws -> Decision {
        guard case .commit(let payload) = decision.outcome else { return decision }
        var events: [Event] = []
        if secrets.recordsSecret, let newSecret = secrets.newSecret, !view.hasSecret {
            events.append(try SecretDrawnEvent(newSecret).event())
        }
        let stated = try stated(view.fold.offset + 1)
        if let stated, try view.statedRules() != stated { events.append(try stated.event()) }
        if events.isEmpty { return decision }
        var envelope = try Envelope(decoding: payload[...])
        let count = envelope.events.count + events.count
        try StrataError.check("the events of a commit", count: count, atMost: Int(Envelope.maximumEventCount))
        // An audit stays the last event of its commit, and all others keep their places.
        let place = envelope.events.last?.kind.isAudit == true ? envelope.events.count - 1 : envelope.events.count
        envelope.events.insert(contentsOf: events, at: place)
        var recording = decision
        let encoded = envelope.encoded()
        recording.outcome = .commit(encoded)
        // The events were encoded before: the names in them may have other places now.
        recording.touches = try encoded.withUnsafeBytes { try Envelope.touches(of: $0) }
        recording.eventCount += events.count
        recording.statedRules = stated
        return recording
    }

    private func checkActor(_ request: Request, _ actor: Actor) throws {
        switch request.content {
        case .administer where actor != .service:
            throw Refusal(
                .permissionFailure, "Only the service administers zones, accounts and tokens.",
                rule: .zonesTakenByService)
        case .notify where actor != .service:
            throw Refusal(.permissionFailure, "Only the service records deliveries to devices.", rule: .notices)
        case .declareSchema where actor != .service:
            throw Refusal(.permissionFailure, "Only the service declares a schema.", rule: .serviceRequests)
        case .modifyRecords where actor == .service, .modifyZones where actor == .service,
            .modifySubscriptions where actor == .service,
            .joinShares where actor == .service:
            throw Refusal(
                .permissionFailure,
                "The service administers zones, accounts and tokens and declares a schema, and nothing else.",
                rule: .zonesTakenByService)
        default: break
        }
    }
}
