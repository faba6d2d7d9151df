import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import StrataTree
import StrataViews

/// The secret of the store (docs/security.md).
extension StoreEngine {
    /// Returns the secret of the newest state; of a store without one, the secret that a commit will record.
    ///
    /// - Throws: ``StrataError`` `notFound` if the store is only read and has none.
    func secret() throws -> StoreSecret {
        if let found = foundSecret.withLock({ $0 }) { return found }
        let found = try reader.context.reading(views.trees.snapshot(), acceptsNewer: true) { try $0.secret() }
        foundSecret.withLock { $0 = found }
        guard let secret = found ?? newSecret else { throw StoreSecret.missing }
        return secret
    }

    /// Draws the secret of a store that was made before secrets, and gives its shares new URLs (docs/security.md §4).
    ///
    /// Many shares take several commits. The last one draws the secret, so an interrupted run is repeated by the next
    /// opening.
    ///
    /// - Parameter maximumBytes: the approximate bytes of a commit.
    /// - Throws: ``Refusal`` if nothing can be written now; the next opening tries again.
    func drawMissingSecret(maximumBytes: Int = 1 << 20) throws {
        let state = views.trees.snapshot()
        guard newSecret != nil, state.foldedOffset(ViewTree.records) > 0, try state.secret() == nil else { return }
        var (first, bytes) = (UInt64(1), 0)
        for number in 1..<(try state.shareCount() + 1) {
            let record = try state.share(number).map(\.record)
            bytes += Self.renewalBytes + (try record.flatMap { try state.withRecord($0, \.count) } ?? 0)
            guard bytes >= maximumBytes else { continue }
            try submit(.drawSecret(from: first, before: number + 1))
            (first, bytes) = (number + 1, 0)
        }
        try submit(.drawSecret(from: first, before: 0))
    }

    /// The bytes of the events that give a share new URLs, besides its record.
    private static let renewalBytes = 1_024

    private func submit(_ request: AdministerRequest) throws {
        _ = try router.submit(
            Request(database: DatabaseID(.private), .administer(request)), as: .service, OperationInfo())
    }

    /// Returns a secret for a store that has none and can be written.
    static func newSecret(_ log: any EventLog, _ views: Views, _ platform: Platform) throws -> StoreSecret? {
        guard !(log is any ReadOnlyLog), try views.trees.snapshot().secret() == nil else { return nil }
        return StoreSecret(from: platform.random)
    }
}
