import StrataModel
import StrataQuery

/// Notes of what devices read, kept in the log if the options say so (docs/rules.md §14).
extension Store {
    private func note(_ kind: EnvelopeHeader.OperationKind, by actor: Actor, _ event: () -> FetchedEvent) {
        guard options.recordsFetches, access == .readWrite else { return }
        pipeline.noteFetch(event(), kind, by: actor)
    }

    func noteFetch(
        _ ids: [RecordID], in database: DatabaseID, keys: [String]?, by actor: Actor, at offset: UInt64,
        _ results: [Result<Record, Refusal>]
    ) {
        note(.fetch, by: actor) {
            let count = results.count { if case .success = $0 { true } else { false } }
            var event = FetchedEvent(.records, in: database, at: offset, resultCount: count, ids: ids)
            event.desiredKeys = keys
            return event
        }
    }

    func noteQuery(
        _ question: Question, in database: DatabaseID, keys: [String]?, by actor: Actor, at offset: UInt64,
        _ page: QueryPage
    ) {
        note(.query, by: actor) {
            var event = FetchedEvent(.query, in: database, at: offset, resultCount: page.matches.count)
            event.desiredKeys = keys
            switch question {
            case .new(let query): event.query = query.encoded()
            case .continued(let cursor): (event.query, event.isContinued) = (cursor.query.encoded(), true)
            }
            event.moreComing = page.cursor != nil
            return event
        }
    }

    func auditFeedRead(
        of zone: ZoneID?, _ database: DatabaseID, _ keys: [String]? = nil, by actor: Actor, at offset: UInt64,
        since token: FeedToken?, count: Int, _ next: FeedToken, moreComing: Bool
    ) {
        note(.feed, by: actor) {
            var event = FetchedEvent(
                zone == nil ? .databaseChanges : .zoneChanges, in: database, at: offset, resultCount: count)
            event.zone = zone
            event.desiredKeys = keys
            // A store that notes fetches is written to, so it has a secret.
            event.givenToken = token.flatMap { try? bytes(of: $0) }
            event.returnedToken = try? bytes(of: next)
            event.moreComing = moreComing
            return event
        }
    }
}
