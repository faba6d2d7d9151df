import StrataModel

extension CKContainer {
    /// The permissions that a program can ask the user for.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    public struct ApplicationPermissions: OptionSet, Sendable, BitwiseCopyable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Other users may find the user by an address.
        public static let userDiscoverability = Self(rawValue: 1)
    }

    /// The user's answer to the question for a permission.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    public enum ApplicationPermissionStatus: Int, Sendable, BitwiseCopyable {
        /// The user was not asked.
        case initialState = 0
        /// The question failed.
        case couldNotComplete
        case denied
        case granted
    }

    @available(*, deprecated, message: "No longer supported. See CKShare.")
    public typealias ApplicationPermissionBlock = @Sendable (ApplicationPermissionStatus, (any Error)?) -> Void

    /// Former names of the types of permissions.
    @available(*, deprecated, message: "Use the types of CKContainer.")
    public enum Application {
        public typealias Permissions = CKContainer.ApplicationPermissions
        public typealias PermissionStatus = CKContainer.ApplicationPermissionStatus
        public typealias PermissionBlock = CKContainer.ApplicationPermissionBlock
    }

    /// Returns the user's answer to the question for a permission, on whatever device it was given.
    ///
    /// - Throws: `notAuthenticated` if no user is signed in.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    public func applicationPermissionStatus(
        for applicationPermission: ApplicationPermissions
    ) async throws -> ApplicationPermissionStatus {
        ApplicationPermissionStatus(try await privateCloudDatabase.call.discoverability())
    }

    /// The same as ``applicationPermissionStatus(for:)``, with a completion handler.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @preconcurrency
    public func status(
        forApplicationPermission applicationPermission: ApplicationPermissions,
        completionHandler: @escaping ApplicationPermissionBlock
    ) {
        answer(completionHandler) { try await $0.discoverability() }
    }

    /// Asks for a permission, which is granted unless ``CloudStore/Console/setDiscoverable(_:for:)`` denied it (B388).
    ///
    /// - Throws: `notAuthenticated` if no user is signed in.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @discardableResult
    public func requestApplicationPermission(
        _ applicationPermission: ApplicationPermissions
    ) async throws -> ApplicationPermissionStatus {
        ApplicationPermissionStatus(try await privateCloudDatabase.call.requestDiscoverability())
    }

    /// The same as the asynchronous form, with a completion handler.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @preconcurrency
    public func requestApplicationPermission(
        _ applicationPermission: ApplicationPermissions, completionHandler: @escaping ApplicationPermissionBlock
    ) {
        answer(completionHandler) { try await $0.requestDiscoverability() }
    }

    @available(*, deprecated)
    private func answer(
        _ handler: @escaping ApplicationPermissionBlock,
        _ work: @escaping @Sendable (DatabaseCall) async throws -> Person.Discoverability
    ) {
        privateCloudDatabase.call.answer(
            { (answer: Person.Discoverability?, error) in
                handler(answer.map { ApplicationPermissionStatus($0) } ?? .couldNotComplete, error)
            }, with: work)
    }
}

@available(*, deprecated)
extension CKContainer.ApplicationPermissionStatus {
    fileprivate init(_ discoverability: Person.Discoverability) {
        switch discoverability {
        case .initial: self = .initialState
        case .granted: self = .granted
        case .denied: self = .denied
        }
    }
}

@available(*, deprecated, renamed: "CKContainer.ApplicationPermissions")
public typealias CKContainer_Application_Permissions = CKContainer.ApplicationPermissions
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionStatus")
public typealias CKContainer_Application_PermissionStatus = CKContainer.ApplicationPermissionStatus
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionBlock")
public typealias CKContainer_Application_PermissionBlock = CKContainer.ApplicationPermissionBlock
