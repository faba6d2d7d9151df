import StrataModel
import StrataViews

/// CloudKit's rules: decide on a request, given a state, without I/O, clock, randomness or locks (docs/rules.md).
///
/// ```swift
/// let decision = try Rules().decide(request, view, RequestContext(actor: Actor(user: "anna"), time: now))
/// ```
package struct Rules: Sendable {
    package var limits: Limits
    /// True if saving a child gives its parent a new change tag (B61).
    package var touchesParents: Bool
    package var schema: SchemaMode
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
        guard !context.actor.user.isEmpty else {
            throw Refusal(.notAuthenticated, "Nobody is signed in on this device.", rule: .signedIn)
        }
        if context.actor != .service { try view.account(of: context.actor.user).status.requireAvailable() }
        try checkActor(request, context.actor)
        switch request.content {
        case .modifyRecords(let body):
            return try RecordsJudge(self, request, body, view, context).decide()
        case .modifyZones(let body):
            return try ZonesJudge(self, request, view, context).decide(body)
        case .administer(let body):
            return try decide(body, request, view, context)
        case .declareSchema(let body):
            var judge = SchemaJudge(request, body, view, context)
            return try judge.decide()
        case .modifySubscriptions(let body):
            return try SubscriptionsJudge(self, request, view, context).decide(body)
        case .notify(let body):
            var judge = NotifyJudge(request, body, view, context)
            return try judge.decide()
        }
    }

    private func decide(
        _ body: AdministerRequest, _ request: Request, _ view: RulesView, _ context: RequestContext
    ) throws -> Decision {
        var judge = AdministerJudge(self, request, view, context)
        switch body {
        case .purgeZone(let zone):
            return try ZonesJudge(self, request, view, context).decidePurge(of: zone)
        case .resetEncryptedData:
            return try ZonesJudge(self, request, view, context).decideReset()
        case .setAccountStatus(let status, let user): return try judge.setAccount(of: user) { $0.status = status }
        case .setQuota(let bytes, let user): return try judge.setAccount(of: user) { $0.quota = bytes }
        case .expireTokens(let offset, let isInAll): return try judge.expireTokens(before: offset, inAll: isInAll)
        case .note(let note): return try judge.keep(note)
        case .eraseRecords(let records, let reason):
            try checkItemCount(records.count)
            return try judge.erase(records, reason: reason)
        }
    }

    private func checkActor(_ request: Request, _ actor: Actor) throws {
        switch request.content {
        case .administer where actor != .service:
            throw Refusal(
                .permissionFailure, "Only the service administers zones, accounts and tokens.",
                rule: .zonesTakenByService)
        case .notify where actor != .service:
            throw Refusal(.permissionFailure, "Only the service notes what devices have been told.", rule: .notices)
        case .declareSchema where actor != .service:
            throw Refusal(.permissionFailure, "Only the service declares a schema.", rule: .serviceRequests)
        case .modifyRecords where actor == .service, .modifyZones where actor == .service,
            .modifySubscriptions where actor == .service:
            throw Refusal(
                .permissionFailure,
                "The service administers zones, accounts and tokens and declares a schema, and nothing else.",
                rule: .zonesTakenByService)
        default: break
        }
    }

    /// - Throws: ``Refusal`` if a request has too many bytes.
    func checkByteCount(_ count: Int) throws {
        guard count <= limits.requestBytes else {
            throw Refusal(
                .limitExceeded, "Your request has \(count) bytes, more than the maximum of \(limits.requestBytes).",
                rule: .byteLimit)
        }
    }

    /// - Throws: ``Refusal`` if a request has too many items.
    package func checkItemCount(_ count: Int) throws {
        guard count <= limits.itemsPerRequest else {
            throw Refusal(
                .limitExceeded,
                """
                Your request contains \(count) items which is more than the maximum number of items in a single \
                request (\(limits.itemsPerRequest))
                """, rule: .itemLimit)
        }
    }
}
