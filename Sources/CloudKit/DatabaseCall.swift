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

    var database: DatabaseID { DatabaseID(scope.engine) }

    /// - Throws: What a call is told that needs what is not there yet.
    static func notYet(_ what: String) -> CKError {
        CKError(.serverRejectedRequest, message: "This version of the store does not have \(what) yet.")
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
