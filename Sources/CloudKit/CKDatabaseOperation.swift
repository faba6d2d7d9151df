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
        return DatabaseCall(client: database.client, scope: database.databaseScope, settings: settings)
    }
}
