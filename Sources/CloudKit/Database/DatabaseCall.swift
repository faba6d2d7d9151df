import StrataModel
import StrataRules
import StrataStore

/// One call on a database: the client, the scope and the settings. Operations and the methods of `CKDatabase` share it.
struct DatabaseCall: Sendable {
    let client: Client
    let scope: CKDatabase.Scope
    let settings: CallSettings
    /// The end of the log before the operation, if an earlier process may have executed it already.
    var resentSince: UInt64?

    var database: DatabaseID { DatabaseID(scope.engine) }

    /// Returns the store's answer to the operation in an earlier process, if there is one.
    func replayedAnswer(of store: Store) throws -> Answer? {
        try resentSince.flatMap { try store.answer(toOperation: settings.operation.id, after: $0) }
    }

    /// Submits a request to the store, unless an earlier process has already done so.
    func submit(_ request: Request, to store: Store) async throws -> Answer {
        if let answer = try replayedAnswer(of: store) { return answer }
        return try await store.modify(request, as: client.actor, operation: settings.operation)
    }

    /// Checks the number of items here, since the store does not receive all of them.
    func requireItemCount(_ count: Int) throws {
        do { try client.opened().store.options.limits.checkItemCount(count) } catch { throw CKError(engine: error) }
    }
}

extension CKDatabase.Scope {
    init(_ scope: InternedName.Scope) {
        switch scope {
        case .public: self = .public
        case .private: self = .private
        case .shared: self = .shared
        }
    }

    var engine: InternedName.Scope {
        switch self {
        case .public: .public
        case .private: .private
        case .shared: .shared
        }
    }
}
