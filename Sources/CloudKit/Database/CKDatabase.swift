import Foundation

/// A database of a container: records in zones, as one device of one user sees them.
///
/// ```swift
/// let database = CKContainer.default().privateCloudDatabase
/// let note = CKRecord(recordType: "Note")
/// note["text"] = "Buy milk"
/// try await database.save(note)
/// let same = try await database.record(for: note.recordID)
/// ```
///
/// The methods run with the quality of service `.utility`; for others, use `configuredWith` or operations. Completion
/// handlers are called on a queue of the container, never on the main queue.
public final class CKDatabase: NSObject, SendableHandlers, CVarArg, Sendable {
    /// The kinds of databases of a container.
    public enum Scope: Int, Sendable, BitwiseCopyable {
        case `public` = 1
        case `private` = 2
        case shared = 3
    }

    /// The kind of the database.
    public let databaseScope: Scope
    let client: Client
    /// The settings from `configuredWith`; nil for the database itself.
    private let callScope: CallScope?

    init(_ client: Client, _ scope: Scope, within callScope: CallScope?) {
        self.client = client
        self.callScope = callScope
        databaseScope = scope
        super.init()
    }

    /// Not stored, since the container holds its databases.
    private var container: CKContainer { callScope == nil ? client.container : CKContainer(client, scope: callScope) }

    /// Runs an operation in this database. Adding it again has no effect; if it has ended, it reports an error.
    public func add(_ operation: CKDatabaseOperation) {
        guard operation.markAdded(to: container, callScope) else { return operation.refuseSecondRun() }
        operation.database = self
        client.operations.addOperation(operation)
    }

    /// Calls a closure with a database whose calls use a configuration and a group. They apply only to calls on that
    /// database, and only until the closure returns.
    ///
    /// ```swift
    /// let configuration = CKOperation.Configuration()
    /// configuration.qualityOfService = .userInitiated
    /// let note = try await database.configuredWith(configuration: configuration) { database in
    ///     try await database.record(for: id)
    /// }
    /// ```
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (_ configuredDatabase: CKDatabase) throws -> R
    ) rethrows -> R {
        try container.configuredWith(configuration: configuration, group: group) { container in
            try body(container.database(with: databaseScope))
        }
    }

    /// The same as the other `configuredWith`, for an asynchronous closure.
    @discardableResult @preconcurrency
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: @Sendable (_ configuredDatabase: CKDatabase) async throws -> R
    ) async rethrows -> R {
        try await container.configuredWith(configuration: configuration, group: group) { container in
            try await body(container.database(with: databaseScope))
        }
    }

    /// A call with the current settings.
    var call: DatabaseCall {
        guard let values = callScope?.values else {
            return DatabaseCall(client: client, scope: databaseScope, settings: .convenience)
        }
        let explicit = values.explicit.merged(over: values.group?.defaultConfiguration.explicit ?? .init())
        let settings = CallSettings(explicit, group: values.group, id: "", quality: .utility)
        return DatabaseCall(client: client, scope: databaseScope, settings: settings)
    }

    public override var description: String { "<CKDatabase \(databaseScope) of \(container)>" }
}
