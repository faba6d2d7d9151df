import StrataModel
import StrataViews

/// Judges requests for zones of the shared database, and ends the shares of zones that end (docs/rules.md §3).
extension ZonesJudge {
    /// Ends the shares of a zone, and with them the memberships of their participants.
    func endShares(of zone: UInt64, in commit: inout CommitBuilder) throws {
        for share in try view.currentShares(in: zone) {
            guard let stored = try view.record(share.record) else { continue }
            try ShareEffect(before: try view.shareState(of: stored), after: nil).append(
                of: share.record, to: &commit, view,
                user: { try view.ordinal(of: .user($0)) ?? 0 })
        }
    }

    /// Saves of zones that the user has write nothing (B367). A delete ends the user's membership in all shares of the
    /// zone (B368). All items are left out of the events, which state only the consequences.
    consuming func decideShared() throws -> Decision {
        for (index, save) in body.saves.enumerated() {
            let zone = resolved.zones[try resolved.zoneIndex(of: save.zone)]
            if zone.isAlive, let version = zone.row?.version {
                leftOut.append(.init(.saves, index: index, version: version))
                result.saves.append(.success(version))
                continue
            }
            let refusal = Refusal(
                .badDatabase, "Zones can be saved and deleted in the private database only.", rule: .customZones)
            trace?.add(refusal.rule, "save \(index)", refusal.message)
            leftOut.append(.init(.saves, index: index, refusal: refusal))
            result.saves.append(.failure(refusal))
        }
        var left: [SharedZone] = []
        for (index, ordinal) in body.deletes.enumerated() {
            let zone = resolved.zones[try resolved.zoneIndex(of: ordinal)]
            result.deletes.append(zone.refusal)
            if let refusal = zone.refusal { trace?.add(refusal.rule, "delete \(index)", refusal.message) }
            leftOut.append(.init(.deletes, index: index, refusal: zone.refusal))
            if zone.isAlive, let shared = zone.shared { left.append(shared) }
        }
        if left.isEmpty { return Decision(.nothing, result, trace: trace) }
        return try commitLeaving(left)
    }

    private consuming func commitLeaving(_ zones: [SharedZone]) throws -> Decision {
        var commit = CommitBuilder()
        let first = try ActorBootstrap(judging.actor, view, &names)
        try names.append(to: &commit)
        try first.append(to: &commit, sparing: nil)
        var shape = RequestShape(
            .modifyZones, firstItemEvent: commit.count, saveCount: result.saves.count,
            deleteCount: result.deletes.count)
        for zone in zones {
            for membership in zone.memberships where !membership.isGone {
                try leave(membership.share, in: &commit)
            }
        }
        try shape.keep(request, leavingOut: leftOut)
        return try finish(commit, .modifyZones, user: first.user, device: first.device, shape)
    }

    private func leave(_ number: UInt64, in commit: inout CommitBuilder) throws {
        guard let share = try view.fold.fork.share(number), let stored = try view.record(share.record) else { return }
        let before = try view.shareState(of: stored)
        guard let after = before.withoutParticipant(judging.actor.actor.user) else { return }
        try commit.append(
            RecordSavedEvent(
                after, in: stored, of: share.record, field: view.shareField(), time: judging.context.time))
        try ShareEffect(before: before, after: after).append(
            of: share.record, to: &commit, view, user: { try view.ordinal(of: .user($0)) ?? 0 })
    }
}
