import Foundation
import StrataModel
import StrataRules
import StrataStore

/// One call on a database: who asks, of which database, under which settings. What operations and the methods of
/// `CKDatabase` have in common.
struct DatabaseCall: Sendable {
    let client: Client
    let scope: CKDatabase.Scope
    let settings: CallSettings
    /// Of an operation that an earlier process may have done already: the end of the log before.
    var replayedSince: UInt64?

    var database: DatabaseID { DatabaseID(scope.engine) }

    /// What an earlier process had the store say to the operation.
    func replayedAnswer(of store: Store) throws -> Answer? {
        try replayedSince.flatMap { try store.answer(toOperation: settings.operation.id, after: $0) }
    }

    /// Has the store judge a request, unless an earlier process had it judged.
    func submit(_ request: Request, to store: Store) async throws -> Answer {
        if let answer = try replayedAnswer(of: store) { return answer }
        return try await store.modify(request, as: client.actor, operation: settings.operation)
    }

    /// The store would see it, were all items sent.
    func requireItemCount(_ count: Int) throws {
        let limit = try client.opened().options.limits.itemsPerRequest
        guard count <= limit else {
            throw CKError(.limitExceeded, message: "A request has at most \(limit) items, this one \(count).")
        }
    }
}

extension CKDatabase.Scope {
    var engine: InternedName.Scope {
        switch self {
        case .public: .public
        case .private: .private
        case .shared: .shared
        }
    }
}
