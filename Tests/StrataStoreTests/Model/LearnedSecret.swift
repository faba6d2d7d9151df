import StrataSystem
import StrataViews
import Synchronization

@testable import StrataStore

/// The secret of the store that a model is compared with, from which the store derives names of records.
final class LearnedSecret: Sendable {
    private let secret = Mutex<StoreSecret?>(nil)

    /// Learns the secret of a store, which may be another one until the first commit.
    func learn(from store: Store) {
        guard let found = try? store.engine.secret() else { return }
        secret.withLock { $0 = found }
    }

    func recordName(of user: String) -> String {
        secret.withLock { $0.map { UserRecord.name(of: user, $0) } ?? "" }
    }
}
