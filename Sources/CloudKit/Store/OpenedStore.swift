import Foundation
import StrataModel
import StrataStore
import StrataSystem

/// Keeps a store open for the objects that use it, and closes it when the last of them is released.
final class HeldStore: Sendable {
    let store: Store

    init(_ store: Store) { self.store = store }

    deinit {
        if store.isClosed { return }
        // On a thread of its own: a thread of the store may release the last object, and closing waits for that thread.
        Thread.detachNewThread { [store] in try? store.close() }
    }
}

/// Owns what all clients of a store use: the engine's store, the faults injected into it, its long-lived operations and
/// its staged assets.
final class OpenedStore: Sendable {
    private let held: HeldStore
    var store: Store { held.store }
    let faults: FaultInjector
    let longLived: LongLivedOperations
    let stagedAssets: StagedAssets
    let options: CloudStore.Options
    /// The name of the container, which ``CloudStore/use(_:forContainer:user:device:)`` changes.
    let containerIdentifier: Lock<String>
    let sharingObservers = Lock<[CKSystemSharingUIObserver.Reference]>([])

    init(_ options: CloudStore.Options, at path: String?, _ open: () throws -> Store) throws {
        self.options = options
        containerIdentifier = Lock(options.containerIdentifier)
        do {
            let store = try open()
            held = HeldStore(store)
            let files = try path.map { try RealFileSystem().anchored(at: $0) }
            longLived = LongLivedOperations(in: path.map(KeptOperation.directory), files ?? RealFileSystem())
            faults = FaultInjector.of(store)
            stagedAssets = StagedAssets(of: store, held: held)
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
