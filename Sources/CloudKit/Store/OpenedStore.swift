import StrataModel
import StrataStore
import StrataSystem

/// Owns what all clients of a store use: the engine's store, the faults injected into it, its long-lived operations and
/// its staged assets.
final class OpenedStore: Sendable {
    let store: Store
    let faults: FaultInjector
    let longLived: LongLivedOperations
    let stagedAssets: StagedAssets
    let options: CloudStore.Options
    let sharingObservers = Lock<[CKSystemSharingUIObserver.Reference]>([])

    init(_ options: CloudStore.Options, at path: String?, _ open: () throws -> Store) throws {
        self.options = options
        do {
            store = try open()
            let files = try path.map { try RealFileSystem().anchored(at: $0) }
            longLived = LongLivedOperations(in: path.map(KeptOperation.directory), files ?? RealFileSystem())
            faults = FaultInjector.of(store)
            stagedAssets = StagedAssets(of: store)
            longLived.removeDrafts()
            // A process that died during an erasure may have left them.
            try longLived.removeErased(in: store, endsUnreadable: store.hasResumedErasure)
            store.watchErasures { [weak self] in self?.removeErased() }
        } catch {
            throw CKError(engine: error)
        }
    }

    /// Removes erased data that this process keeps outside the store, after another process's erasure.
    private func removeErased() {
        try? longLived.removeErased(in: store, endsUnreadable: true)
        stagedAssets.removeRetired()
    }

    func close() throws {
        defer {
            faults.wakeAll()
            stagedAssets.removeAll()
        }
        do { try store.close() } catch { throw CKError(engine: error) }
    }
}
