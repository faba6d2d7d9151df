import Foundation
import StrataModel

extension CloudStore {
    /// Lets `CKContainer(identifier:)` return the container of a user's device in a store, for code that makes its
    /// containers itself.
    ///
    /// ```swift
    /// let store = try CloudStore.inMemory()
    /// try CloudStore.use(store, forContainer: "iCloud.com.example.notes", user: "anna", device: "phone")
    /// let app = App()  // It calls CKContainer(identifier: "iCloud.com.example.notes").
    /// ```
    ///
    /// This applies to the whole process, to containers that are made from now on: a container that the program holds
    /// already keeps its store. The container has the name that it was requested by, and so has the store from now on.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - identifier: The name of the container; nil for `CKContainer.default()`.
    ///   - user: Any name; nil if no user is signed in.
    ///   - device: Distinguishes the devices of a user.
    /// - Throws: ``CKError`` for a closed store or an invalid identifier.
    public static func use(
        _ store: CloudStore, forContainer identifier: String? = nil, user: String?, device: String = "default"
    ) throws {
        let (name, container) = try store.chosen(identifier, user: user, device: device)
        NamedContainers.shared.use(container, for: name)
    }

    /// The same for the user and device that the environment names (`STRATA_USER`, `STRATA_DEVICE`), by default the
    /// login user; with nil, the container is opened by its name again.
    public static func use(_ store: CloudStore?, forContainer identifier: String? = nil) throws {
        let containers = NamedContainers.shared
        if let store {
            let device = containers.namedDevice ?? "default"
            return try use(store, forContainer: identifier, user: containers.user, device: device)
        }
        let identifier = identifier ?? NamedContainers.defaultIdentifier
        try NamedContainers.requireValid(identifier)
        containers.use(nil, for: ExactName(text: identifier))
    }

    /// Calls a closure in which `CKContainer(identifier:)` returns the container of a user's device in a store, for
    /// tests that run in parallel.
    ///
    /// ```swift
    /// try await CloudStore.with(store, forContainer: "iCloud.com.example.notes", user: "anna") {
    ///     try await App().sync()
    /// }
    /// ```
    ///
    /// This applies to the current task and to the tasks and operations that it creates, but not to detached tasks and
    /// dispatch queues. Otherwise it is like ``use(_:forContainer:user:device:)``, over which it takes precedence.
    public static func with<R>(
        _ store: CloudStore, forContainer identifier: String? = nil, user: String?, device: String = "default",
        isolation: isolated (any _Concurrency.Actor)? = #isolation, _ body: () async throws -> R
    ) async throws -> R {
        let (name, container) = try store.chosen(identifier, user: user, device: device)
        let containers = NamedContainers.ofTask.merging([name: container]) { $1 }
        return try await NamedContainers.$ofTask.withValue(containers, operation: body)
    }

    /// The same as the other `with`, for a synchronous closure.
    public static func with<R>(
        _ store: CloudStore, forContainer identifier: String? = nil, user: String?, device: String = "default",
        _ body: () throws -> R
    ) throws -> R {
        let (name, container) = try store.chosen(identifier, user: user, device: device)
        let containers = NamedContainers.ofTask.merging([name: container]) { $1 }
        return try NamedContainers.$ofTask.withValue(containers, operation: body)
    }

    private func chosen(
        _ identifier: String?, user: String?, device: String
    ) throws(CKError) -> (ExactName, NamedContainers.Known) {
        let identifier = identifier ?? NamedContainers.defaultIdentifier
        try NamedContainers.requireValid(identifier)
        do { _ = try store.account(of: user ?? "") } catch {
            let reported = CKError(engine: error)
            throw CKError(
                reported.code,
                message: "The container '\(identifier)' cannot use this store. \(reported.localizedDescription)",
                cause: error)
        }
        containerIdentifier.withLock { $0 = identifier }
        let container = NamedContainers.Known(container: container(user: user, device: device), store: self)
        return (ExactName(text: identifier), container)
    }
}
