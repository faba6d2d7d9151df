import StrataModel
import StrataSystem
import StrataViews

/// Judges the drawing of the secret of a store that was made before secrets (docs/security.md §4).
extension AdministerJudge {
    func drawSecret(from first: UInt64, before end: UInt64) throws -> Decision {
        guard !view.hasSecret else { return nothing }
        let token = try judging.shareToken()
        var commit = CommitBuilder()
        let count = try view.fold.fork.shareCount()
        let last = end == 0 ? count : min(end - 1, count)
        if first <= last { for share in max(1, first)...last { try renew(share, token, in: &commit) } }
        if end == 0 { try commit.append(SecretDrawnEvent(token.secret)) }
        return commit.count == 0 ? nothing : try finish(commit)
    }

    /// Gives a share new URLs. Ended shares get them if their roots can be shared again (B317).
    private func renew(_ number: UInt64, _ token: ShareToken, in commit: inout CommitBuilder) throws {
        let fork = view.fold.fork
        guard var share = try fork.share(number) else { return }
        if share.isEnded {
            guard let database = try fork.databaseOrdinal(ofZone: share.record.zone),
                let zone = try fork.zoneRow(database, share.record.zone), zone.status == .alive,
                try fork.isShare(number, ofLife: zone.incarnation)
            else { return }
            share.urlToken = token.replacing(share.urlToken)
            share.oneTimeTokens = share.oneTimeTokens.map {
                .init(token.oneTime(share: share.urlToken, participant: $0.participant), of: $0.participant)
            }
            share.original = nil
            try commit.append(share)
            return
        }
        guard let stored = try view.record(share.record) else {
            throw StrataError(.malformed, "A share has no record.", .init(found: "share \(number)"))
        }
        let before = try view.shareState(of: stored)
        var after = before
        after.urlToken = token.replacing(before.urlToken)
        for index in after.participants.indices where !after.participants[index].oneTimeToken.isEmpty {
            let participant = after.participants[index].id
            after.participants[index].oneTimeToken = token.oneTime(share: after.urlToken, participant: participant)
        }
        try commit.append(
            RecordSavedEvent(
                after, in: stored, of: share.record, field: view.shareField(), time: judging.context.time))
        try ShareEffect(before: before, after: after).append(of: share.record, to: &commit, view) { _ in
            preconditionFailure("new URLs must change no membership")
        }
    }
}
