import Foundation
import StrataSystem

/// Observes what a user saves and ends in the sharing interface of the system, for which
/// ``CloudStore/Console/sharingSheet(for:of:)`` stands here.
///
/// The blocks are called one at a time, on a queue of the observer's own.
// @unchecked: the lock protects all mutable state.
public final class CKSystemSharingUIObserver: NSObject, @unchecked Sendable {
    private struct Blocks {
        var didSave: (@Sendable (CKRecord.ID, Result<CKShare, Error>) -> Void)?
        var didStop: (@Sendable (CKRecord.ID, Result<Void, Error>) -> Void)?
    }

    private let blocks = Lock(Blocks())
    private let queue = DispatchQueue(label: "CloudKit.sharing")
    private let container: CKContainer

    /// Creates an observer of the shares in a container.
    public init(container: CKContainer) {
        self.container = container
        super.init()
        (try? container.client.opened())?.sharingObservers.withLock { $0.add(self) }
    }

    var user: String { container.client.actor.user }

    /// Called when a share was saved, or could not be saved.
    public var systemSharingUIDidSaveShareBlock:
        (@Sendable (_ recordID: CKRecord.ID, _ saveResult: Result<CKShare, Error>) -> Void)?
    {
        get { blocks.withLock { $0.didSave } }
        set { blocks.withLock { $0.didSave = newValue } }
    }

    /// Called when a share was deleted, or could not be deleted.
    public var systemSharingUIDidStopSharingBlock:
        (@Sendable (_ recordID: CKRecord.ID, _ deleteResult: Result<Void, Error>) -> Void)?
    {
        get { blocks.withLock { $0.didStop } }
        set { blocks.withLock { $0.didStop = newValue } }
    }

    func didSave(_ id: CKRecord.ID, _ result: Result<CKShare, Error>) {
        queue.async { self.blocks.withLock { $0.didSave }?(id, result) }
    }

    func didStop(_ id: CKRecord.ID, _ result: Result<Void, Error>) {
        queue.async { self.blocks.withLock { $0.didStop }?(id, result) }
    }
}
