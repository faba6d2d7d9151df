import Foundation
import StrataReplication
import StrataStore

extension CloudStore {
    /// The place where the changes of a store get their order.
    public typealias LogPlace = StrataReplication.LogPlace

    /// The progress of a store that several processes write, and the reason if it cannot go on.
    public struct Replication: Sendable {
        /// The number of the last entry of the log's place that this process has read.
        public var entry: UInt64
        /// The number of batches of changes that this process wrote since it opened the store.
        public var appendedBatches: UInt64
        /// The number of batches that came second to another process's, and were decided again.
        public var lostBatches: UInt64
        /// The reason why changes of other processes cannot be read at present; nil if they can.
        public var interruption: CKError?
        /// The reason why the store takes no changes until it is opened again; nil if it does.
        public var failure: CKError?
    }

    /// The progress of a store that several processes write; nil for a store that only this process writes.
    public var replication: Replication? {
        guard let status = store.replication else { return nil }
        return Replication(
            entry: status.entry, appendedBatches: status.appendedBatches, lostBatches: status.lostBatches,
            interruption: status.interruption.map(CKError.init(engine:)),
            failure: status.failure.map(CKError.init(engine:)))
    }

    /// Returns once the store has every change that was acknowledged to anyone before the call.
    ///
    /// A store that only this process writes always has them. In other stores, another process's change arrives within
    /// milliseconds; call this before reading what must be up to date.
    ///
    /// - Throws: `CKError`: `serviceUnavailable` if the place of the log does not answer.
    public func confirm() async throws {
        guard store.replication != nil else { return }
        let result = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [store] in
                continuation.resume(returning: Result { try store.confirm() })
            }
        }
        do { try result.get() } catch { throw CKError(engine: error) }
    }
}
