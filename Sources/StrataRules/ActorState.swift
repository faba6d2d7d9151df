import StrataModel

/// The stored state of the actor who makes a request.
struct ActorState {
    let actor: Actor
    /// The ordinals of the user and the device; 0 if the store does not know them.
    let user: UInt64
    let device: UInt64
    /// The actor as authorization sees the user.
    let principal: Principal
    private let view: RulesView

    /// The name of the user's own record.
    var recordName: String { get throws { try view.recordName(of: actor.user) } }

    init(_ actor: Actor, _ view: RulesView) throws {
        self.actor = actor
        self.view = view
        user = actor == .service ? 0 : try view.ordinal(of: .user(actor.user)) ?? 0
        principal = Principal(user: user, try view.account(of: actor.user))
        device = user == 0 ? 0 : try view.ordinal(of: .device(user: user, actor.device)) ?? 0
    }
}
