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
/// `CKContainer.default()` and `CKContainer(identifier:)` open a store in the user's data directory and never fail: if
/// the store cannot be opened, every call fails with that error. To open stores elsewhere, or for several users and
/// devices, see ``CloudStore``; ``CloudStore/use(_:forContainer:user:device:)`` gives one to code that makes its
/// containers itself.
public final class CKContainer: NSObject, NamedContainer, SendableHandlers, CVarArg, Sendable {
    let client: Client
    /// The settings that `configuredWith` gave this object; nil for the container itself.
    let scope: CallScope?
    /// Held so that a program may keep the container and refer to its databases weakly.
    private let databases = Lock<[CKDatabase.Scope: CKDatabase]>([:])

    /// Only the client creates the container itself, since it knows whether one exists.
    init(_ client: Client, scope: CallScope?) {
        self.client = client
        self.scope = scope
        super.init()
    }

    /// Returns this program's container: `iCloud.` and the bundle identifier, or the name of the executable.
    public class func `default`() -> CKContainer { NamedContainers.shared.container(NamedContainers.defaultIdentifier) }

    /// The name of the container.
    public var containerIdentifier: String? { client.containerIdentifier }

    // MARK: Databases

    /// The user's own records, which no other user sees.
    public var privateCloudDatabase: CKDatabase { database(with: .private) }
    /// The records that every user can read.
    public var publicCloudDatabase: CKDatabase { database(with: .public) }
    /// The records that other users have shared with the user.
    public var sharedCloudDatabase: CKDatabase { database(with: .shared) }

    /// Returns the database of a scope: always the same object, which the container holds.
    public func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
        databases.withLock { databases in
            if let database = databases[databaseScope] { return database }
            let database =
                scope == nil ? client.database(databaseScope) : CKDatabase(client, databaseScope, within: scope)
            databases[databaseScope] = database
            return database
        }
    }

    /// Runs an operation, in the private database unless it has another. Adding it again has no effect; if it has
    /// ended, it reports an error.
    public func add(_ operation: CKOperation) {
        guard operation.markAdded(to: self, scope) else { return operation.refuseSecondRun() }
        client.operations.addOperation(operation)
    }

    /// Calls a closure with a container whose calls use a configuration and a group. They apply only to calls on that
    /// container, and only until the closure returns.
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

    /// The same as the other `configuredWith`, for an asynchronous closure.
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
}
