import StrataModel

extension Rules {
    /// The lazy commit with a note about an actor: new names and the audit (docs/rules.md §14).
    package func note(
        _ audit: Event, of kind: EnvelopeHeader.OperationKind, _ view: RulesView, _ context: RequestContext
    ) throws -> Decision {
        view.secrets = secrets
        var names = NameWriter(view)
        var commit = CommitBuilder()
        var (user, device): (UInt64, UInt64) = (0, 0)
        let actor = context.actor
        if actor != .service, !actor.user.isEmpty, Self.haveRoom(actor.user, actor.device) {
            user = try names.ordinal(of: .user(actor.user))
            device = try names.ordinal(of: .device(user: user, actor.device))
        }
        try names.append(to: &commit)
        // Otherwise the first write of the device would not know that this event is missing.
        if names.new.contains(where: { $0.name.namespace == .device }) {
            try commit.append(DeviceSeenEvent(device: device))
        }
        try commit.append(audit)
        let header = try context.header(kind, user: user, device: device, nil)
        var decision = Decision(commit, header, RequestResult(), naming: names.new)
        decision.keepsZones = true
        decision.usage = .none
        return try recordingStore(decision, view)
    }

    private static func haveRoom(_ names: String...) -> Bool {
        names.allSatisfy { $0.utf8.count <= Envelope.maximumNameBytes }
    }
}
