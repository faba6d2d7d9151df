import Foundation
import StrataSystem

/// The base class of all operations on a database; use its subclasses.
// A new operation is a subclass with a `makeRun` (CKOperation). One that can be long-lived also has an `archive`, a
// kind in `LongLivedOperation.Kind`, and a case in `CKDatabaseOperation.make` (CKContainer+LongLived).
// @unchecked: like its superclass; a lock protects the database.
public class CKDatabaseOperation: CKOperation, @unchecked Sendable {
    private let chosen = Lock<CKDatabase?>(nil)

    /// Creates an operation that does nothing: only subclasses can be executed.
    public override init() { super.init() }

    override init(operationID: ID) { super.init(operationID: operationID) }

    /// The database to work in; nil for the container's private database.
    public var database: CKDatabase? {
        get { chosen.withLock { $0 } }
        set { chosen.withLock { $0 = newValue } }
    }

    /// The call that the operation makes, with its current settings.
    var call: DatabaseCall {
        let database = database ?? effectiveContainer.privateCloudDatabase
        return DatabaseCall(
            client: database.client, scope: database.databaseScope, settings: settings, resentSince: resentSince)
    }

    /// The properties that a later process needs to run the operation; nil if it cannot be kept.
    var archive: (kind: LongLivedOperation.Kind, properties: OperationArchive)? { nil }

    // MARK: Long-lived operations

    private struct Keeping {
        /// The end of the log before an earlier process ran the operation; nil if none did.
        var resentSince: UInt64?
        /// The place where the operation is kept until it has ended, regardless of later changes to its properties
        /// (B201).
        var place: LongLivedOperations?
    }

    private let keeping = Lock(Keeping())

    private var resentSince: UInt64? { keeping.withLock { $0.resentSince } }

    /// Records that an earlier process kept the operation, and where.
    func markReplay(since offset: UInt64, from place: LongLivedOperations) {
        keeping.withLock { $0 = Keeping(resentSince: offset, place: place) }
    }

    override func makeKeeper() -> (@Sendable () throws -> Void)? {
        guard settings.isLongLived, resentSince == nil, case (let kind, var properties)? = archive else {
            return nil
        }
        let call = call
        properties.scope = call.scope
        properties.quality = call.settings.qualityOfService
        properties.group = effectiveGroup
        // Encoded now, since records may change while the operation runs (B201).
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
        // If the file remains, the operation is listed once more, and its recorded answer is returned.
        try? place?.remove(operationID)
    }

    /// Cancels the operation; a long-lived one is no longer listed.
    public override func cancel() {
        super.cancel()
        if resentSince != nil, !isExecuting { forget() }
    }
}
