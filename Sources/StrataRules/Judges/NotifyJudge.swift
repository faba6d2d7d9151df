import StrataModel
import StrataViews

/// Judges the service's notes on notifications (docs/rules.md §12). Obsolete notes are left out.
struct NotifyJudge: RequestJudge {
    private let judging: Judging
    private let body: NotifyRequest
    private var names: NameWriter
    private var view: RulesView { judging.view }

    init(_ judging: Judging, _ body: NotifyRequest) {
        self.judging = judging
        self.body = body
        names = NameWriter(judging.view)
    }

    consuming func decide() throws -> Decision {
        let trace = judging.newTrace
        // With an empty user name, the service records its own progress.
        let isOwn = body.user.isEmpty
        guard let user = isOwn ? 0 : try view.ordinal(of: .user(body.user)) else {
            return Decision(.nothing, RequestResult(), trace: trace)
        }
        var seen: [DeviceSeenEvent] = []
        var delivered: [NotificationDeliveredEvent] = []
        for delivery in body.deliveries {
            try Judging.checkRoom(for: delivery.device)
            let name = InternedName.Name.device(user: user, delivery.device)
            let known = isOwn ? 0 : try view.ordinal(of: name)
            let device = isOwn ? 0 : try names.ordinal(of: name)
            if let known {
                let noted = try view.fold.fork.delivery(to: known)
                guard noted.map({ ($0.through, $0.badge) != (delivery.through, delivery.badge) }) ?? true,
                    noted?.through ?? 0 <= delivery.through
                else { continue }
            } else {
                seen.append(DeviceSeenEvent(device: device))
            }
            delivered.append(
                NotificationDeliveredEvent(device: device, through: delivery.through, badge: delivery.badge))
        }
        let deleted = try fired(of: user)
        guard !delivered.isEmpty || !deleted.isEmpty else { return Decision(.nothing, RequestResult(), trace: trace) }
        var commit = CommitBuilder()
        try names.append(to: &commit)
        for event in seen { try commit.append(event) }
        var shape = RequestShape(.notify, firstItemEvent: commit.count, saveCount: 0, deleteCount: 0)
        try shape.keep(judging.request)
        for event in delivered { try commit.append(event) }
        for event in deleted { try commit.append(event) }
        let header = try judging.context.header(.console, user: 0, device: 0, shape)
        return Decision(commit, header, RequestResult(), naming: names.new, trace: trace)
    }

    /// The deletions of fired subscriptions that still exist, unchanged since they fired.
    private func fired(of user: UInt64) throws -> [SubscriptionDeletedEvent] {
        let scope = judging.request.database.scope
        guard !body.fired.isEmpty,
            let database = try view.ordinal(of: .database(scope, owner: scope == .public ? 0 : user))
        else { return [] }
        return try body.fired.compactMap { fired in
            guard let row = try view.fold.fork.subscription(database, user, fired.id), row.version < fired.by else {
                return nil
            }
            return SubscriptionDeletedEvent(database: database, user: user, id: fired.id, firedBy: fired.by)
        }
    }
}
