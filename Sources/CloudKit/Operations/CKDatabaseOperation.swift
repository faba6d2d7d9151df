import Foundation
import StrataSystem

/// What all operations on a database have in common; programs use its subclasses.
// @unchecked: as its superclass; the database is behind a lock.
public class CKDatabaseOperation: CKOperation, @unchecked Sendable {
    private let chosen = Lock<CKDatabase?>(nil)

    /// Nothing runs: only subclasses can be executed.
    public override init() { super.init() }

    override init(operationID: ID) { super.init(operationID: operationID) }

    /// The database to work in; nil means the private one of the container.
    public var database: CKDatabase? {
        get { chosen.withLock { $0 } }
        set { chosen.withLock { $0 = newValue } }
    }

    /// The call that the operation makes, with the settings that it has now.
    var call: DatabaseCall {
        let database = database ?? effectiveContainer.privateCloudDatabase
        return DatabaseCall(
            client: database.client, scope: database.databaseScope, settings: settings, replayedSince: replayedSince)
    }

    /// What a process that comes later needs to run the operation; nil if it cannot.
    var archive: (kind: LongLivedOperation.Kind, properties: OperationArchive)? { nil }

    // MARK: Long-lived operations

    private struct Keeping {
        /// The end of the log before an earlier process ran the operation; nil if none did.
        var replayedSince: UInt64?
        /// Where the operation is kept until it has ended, whatever its properties become meanwhile (B201).
        var place: LongLivedOperations?
    }

    private let keeping = Lock(Keeping())

    private var replayedSince: UInt64? { keeping.withLock { $0.replayedSince } }

    /// Notes that an earlier process kept the operation, and where.
    func markReplay(since offset: UInt64, from place: LongLivedOperations) {
        keeping.withLock { $0 = Keeping(replayedSince: offset, place: place) }
    }

    override func makeKeeper() -> (@Sendable () throws -> Void)? {
        guard settings.isLongLived, replayedSince == nil, case (let kind, var properties)? = archive else {
            return nil
        }
        let call = call
        properties.scope = call.scope
        properties.quality = call.settings.qualityOfService
        properties.group = effectiveGroup
        // Now, since records may be changed while the operation runs (B201).
        let encoded = Result { try properties.encoded() }
        let isSecret = properties.holdsEncryptedValues
        return { [self] in
            let opened = try call.client.writable()
            let id = call.settings.operation.id
            let properties = try LongLivedOperation.properties(
                try encoded.get(), isSecret: isSecret, of: id, for: call.client, in: opened.store)
            try opened.longLived.keep(
                LongLivedOperation(
                    id: id, user: call.client.actor.user, device: call.client.actor.device,
                    offset: opened.store.offset, kind: kind, properties: properties))
            keeping.withLock { $0.place = opened.longLived }
        }
    }

    override func forget() {
        let place = keeping.withLock { keeping in
            defer { keeping.place = nil }
            return keeping.place
        }
        // If its file stays it is listed once more, and answered by what it has done.
        try? place?.remove(operationID)
    }

    /// Cancels the operation; a long-lived one is not listed any more.
    public override func cancel() {
        super.cancel()
        if replayedSince != nil, !isExecuting { forget() }
    }
}
