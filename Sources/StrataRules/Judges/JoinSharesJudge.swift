import StrataModel
import StrataViews

/// Judges requests to accept shares and to ask for access to them (docs/rules.md §15).
struct JoinSharesJudge: RequestJudge {
    /// A share that the request may change.
    private struct Share {
        let record: RecordKey
        let stored: StoredRecord
        var effect: ShareEffect
        var isChanged = false
        /// The event of the share's new version.
        var event: UInt32 = 0
    }

    private enum Outcome {
        /// The user is a member of the share with this number.
        case joined(UInt64)
        /// Nothing is disclosed.
        case asked
        case refused(Refusal)
    }

    private let judging: Judging
    private let body: JoinSharesRequest
    private let user: String
    private var shares: [UInt64: Share] = [:]
    private var changed: [UInt64] = []
    private var trace: Trace?
    private var view: RulesView { judging.view }

    init(_ judging: Judging, _ body: JoinSharesRequest) {
        self.judging = judging
        self.body = body
        user = judging.actor.actor.user
        trace = judging.newTrace
    }

    consuming func decide() throws -> Decision {
        guard judging.request.database.scope == .shared else {
            throw Refusal(.badDatabase, "A share can be accepted only in the shared database.", rule: .acceptedShare)
        }
        guard !judging.resolved.isElsewhere else {
            throw Refusal(
                .permissionFailure, "A share can be accepted only in your own shared database.", rule: .acceptedShare)
        }
        try judging.limits.checkItemCount(body.tokens.count)
        try judging.checkRoomForRequest()
        var outcomes: [Outcome] = []
        for (index, token) in body.tokens.enumerated() {
            do {
                outcomes.append(try judge(token))
            } catch let refusal as Refusal {
                trace?.add(refusal.rule, "save \(index)", refusal.message)
                outcomes.append(.refused(refusal))
            }
        }
        guard !changed.isEmpty else { return Decision(.nothing, result(outcomes), trace: trace) }
        return try commit(outcomes)
    }

    private mutating func judge(_ token: String) throws -> Outcome {
        guard let found = try view.hasShares ? view.fold.fork.share(ofToken: token) : nil,
            let share = try share(found.share), let state = share.effect.after
        else {
            if body.action == .requestAccess { return .asked }
            throw Refusal(.unknownItem, "No share has this URL.", rule: .existingShareOfURL)
        }
        var joining = ShareJoining(state, user: user, view, time: judging.context.time)
        switch body.action {
        case .requestAccess:
            if try joining.requestAccess() { change(found.share, to: joining.state) }
            return .asked
        case .accept:
            if try joining.accept(oneTime: found.participant) { change(found.share, to: joining.state) }
            return .joined(found.share)
        }
    }

    private mutating func share(_ number: UInt64) throws -> Share? {
        if let known = shares[number] { return known }
        guard let event = try view.fold.fork.share(number), let stored = try view.record(event.record) else {
            return nil
        }
        let state = try view.shareState(of: stored)
        let share = Share(record: event.record, stored: stored, effect: ShareEffect(before: state, after: state))
        shares[number] = share
        return share
    }

    private mutating func change(_ number: UInt64, to state: ShareState) {
        shares[number]?.effect.after = state
        if shares[number]?.isChanged == false { changed.append(number) }
        shares[number]?.isChanged = true
    }

    // MARK: The decision

    private func result(_ outcomes: [Outcome]) -> RequestResult {
        RequestResult(
            saves: outcomes.map { outcome in
                switch outcome {
                case .refused(let refusal): return .failure(refusal)
                case .asked: return .success(Version(offset: 0, eventIndex: 0))
                case .joined(let number):
                    guard let share = shares[number] else { return .success(Version(offset: 0, eventIndex: 0)) }
                    return .success(
                        share.isChanged ? .ofThisCommit(eventIndex: share.event) : share.stored.header.version)
                }
            })
    }

    private mutating func commit(_ outcomes: [Outcome]) throws -> Decision {
        var names = NameWriter(view)
        let first = try ActorBootstrap(judging.actor, view, &names)
        var commit = CommitBuilder()
        try names.append(to: &commit)
        try first.append(to: &commit, sparing: nil)
        let firstItemEvent = commit.count
        for number in changed {
            guard let share = shares[number], let state = share.effect.after else { continue }
            var event = try RecordSavedEvent(
                state, in: share.stored, of: share.record, field: view.shareField(), time: judging.context.time)
            if body.action == .requestAccess {
                // Other members do not learn who asks.
                event.modifiedBy = share.stored.header.modifiedBy
                event.modifiedWith = share.stored.header.modifiedWith
            }
            shares[number]?.event = try commit.append(event)
            try share.effect.append(of: share.record, to: &commit, view) { try names.ordinal(of: .user($0)) }
        }
        let result = result(outcomes)
        var shape = RequestShape(
            .joinShares, firstItemEvent: firstItemEvent, saveCount: body.tokens.count, deleteCount: 0)
        try shape.keep(judging.request, leavingOut: result.saves.enumerated().map { .init(joining: $1, index: $0) })
        let header = try judging.context.header(.acceptShares, user: first.user, device: first.device, shape)
        var decision = Decision(commit, header, result, naming: names.new, trace: trace)
        decision.keepsZones = !names.new.contains { [.database, .zone].contains($0.name.namespace) }
        return decision
    }
}

extension RequestShape.LeftOut {
    fileprivate init(joining result: Result<Version, Refusal>, index: Int) {
        switch result {
        case .success(let version): self.init(.saves, index: index, version: version)
        case .failure(let refusal): self.init(.saves, index: index, refusal: refusal)
        }
    }
}
