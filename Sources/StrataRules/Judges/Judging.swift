import StrataModel
import StrataSystem
import StrataViews

/// The inputs of a judge: the request, the state with the actor and the zones found in it, and the limits that apply.
struct Judging {
    let limits: Limits
    let touchesParents: Bool
    let schema: SchemaMode
    let checkPredicate: @Sendable (String) throws -> Void
    let request: Request
    let view: RulesView
    let context: RequestContext
    let actor: ActorState
    let resolved: ResolvedRequest

    init(
        _ request: Request, _ view: RulesView, _ context: RequestContext, limits: Limits, touchesParents: Bool,
        schema: SchemaMode, checkPredicate: @escaping @Sendable (String) throws -> Void
    ) throws {
        self.limits = limits
        self.touchesParents = touchesParents
        self.schema = schema
        self.checkPredicate = checkPredicate
        self.request = request
        self.view = view
        self.context = context
        actor = try ActorState(context.actor, view)
        resolved = try ResolvedRequest(request, actor, view)
    }

    /// Makes the tokens of new URLs.
    ///
    /// - Throws: ``StrataError`` if the store has no secret.
    func shareToken() throws -> ShareToken {
        ShareToken(secret: try view.storeSecret(), commit: context.commitID)
    }

    /// Returns the share that the commit saved when it was judged first, if the store had no secret then.
    func savedShare(_ isMeant: (ShareSavedEvent) -> Bool) -> ShareSavedEvent? {
        view.hasSecret ? nil : context.savedShares.first(where: isMeant)
    }

    /// An empty trace if the decision is traced.
    var newTrace: Trace? { context.isTraced ? Trace() : nil }
}

/// Judges one kind of request.
protocol RequestJudge {
    associatedtype Body
    init(_ judging: Judging, _ body: Body) throws
    /// - Throws: ``Refusal`` if the request fails as a whole; ``StrataError`` if the state cannot be read.
    consuming func decide() throws -> Decision
}
