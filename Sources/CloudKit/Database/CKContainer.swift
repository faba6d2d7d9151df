import Foundation
import StrataSystem

/// A container as one device of one user sees it: its databases and the user's account.
///
/// ```swift
/// let container = CKContainer(identifier: "iCloud.com.example.notes")
/// guard try await container.accountStatus() == .available else { return }
/// let database = container.privateCloudDatabase
/// ```
///
/// `CKContainer.default()` and `CKContainer(identifier:)` open a store in the user's data directory and never fail:
/// what went wrong is the error of each call. See ``CloudStore`` for stores elsewhere and for several users and
/// devices.
public final class CKContainer: NSObject, NamedContainer, CVarArg, Sendable {
    let client: Client
    /// What `configuredWith` put on this object; nil for the container itself.
    let scope: CallScope?
    /// Held, so that a program may keep the container and refer to its databases weakly.
    private let databases = Lock<[CKDatabase.Scope: CKDatabase]>([:])

    /// The container itself is made by its client, which knows whether there is one.
    init(_ client: Client, scope: CallScope?) {
        self.client = client
        self.scope = scope
        super.init()
    }

    /// The container of this program: `iCloud.` and the bundle identifier, or the name of the executable.
    public class func `default`() -> CKContainer { NamedContainers.shared.container(NamedContainers.defaultIdentifier) }

    /// The container's name.
    public var containerIdentifier: String? { client.containerIdentifier }

    // MARK: Databases

    /// The records of the user, which nobody else sees.
    public var privateCloudDatabase: CKDatabase { database(with: .private) }
    /// The records that everybody can read.
    public var publicCloudDatabase: CKDatabase { database(with: .public) }
    /// The records that others have shared with the user.
    public var sharedCloudDatabase: CKDatabase { database(with: .shared) }

    /// The database of a scope, always the same object, which the container holds.
    public func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
        databases.withLock { databases in
            if let database = databases[databaseScope] { return database }
            let database =
                scope == nil ? client.database(databaseScope) : CKDatabase(client, databaseScope, within: scope)
            databases[databaseScope] = database
            return database
        }
    }

    /// Runs an operation; one without a database works in the private one. What runs already is left alone.
    public func add(_ operation: CKOperation) {
        guard operation.markAdded(to: self, scope) else { return operation.refuseSecondRun() }
        client.operations.addOperation(operation)
    }

    /// Runs a piece of work, under a configuration and in a group that hold for what is called on the passed container
    /// only, and only until the body returns.
    ///
    /// ```swift
    /// try container.configuredWith(group: firstSync) { container in
    ///     container.privateCloudDatabase.add(operation)
    /// }
    /// ```
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (_ configuredContainer: CKContainer) throws -> R
    ) rethrows -> R {
        let scope = CallScope(configuration, group, within: scope)
        defer { scope.end() }
        return try body(CKContainer(client, scope: scope))
    }

    /// As the other `configuredWith`, for a body that suspends.
    @discardableResult @preconcurrency
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: @Sendable (_ configuredContainer: CKContainer) async throws -> R
    ) async rethrows -> R {
        let scope = CallScope(configuration, group, within: scope)
        defer { scope.end() }
        return try await body(CKContainer(client, scope: scope))
    }

    public override var description: String {
        let user = client.actor.user.isEmpty ? "nobody" : client.actor.user
        return "<CKContainer \(client.containerIdentifier): \(user) on \(client.actor.device)>"
    }

    public override var debugDescription: String { description }
}
