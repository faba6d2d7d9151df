import Foundation

/// Finds users by their addresses, if they have granted it.
// @unchecked: like its superclass.
@available(*, deprecated, message: "No longer supported. See CKShare.")
public final class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    /// The addresses to look up.
    public var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []

    /// Called for each user who is found.
    public var userIdentityDiscoveredBlock: ((CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?
    /// Called once, at the end.
    public var discoverUserIdentitiesResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?
    /// Called once, at the end, unless `discoverUserIdentitiesResultBlock` is set.
    public var discoverUserIdentitiesCompletionBlock: ((Error?) -> Void)?

    /// Creates an operation that finds no user until it has addresses.
    public override init() { super.init() }

    /// Creates an operation that finds users.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    override func makeRun() -> (any OperationRun)? {
        let call = containerCall
        let (discovered, completion) = (userIdentityDiscoveredBlock, discoverUserIdentitiesCompletionBlock)
        return FetchRun<CKUserIdentity.LookupInfo, CKUserIdentity>(
            settings: call.settings, ids: userIdentityLookupInfos, failureMessage: "Failed to find some users",
            fetch: { infos, _ in try await call.identities(infos ?? []).map { ($0.info, .success($0.identity)) } },
            item: { info, result in if case .success(let identity) = result { discovered?(identity, info) } },
            result: discoverUserIdentitiesResultBlock, completion: { completion?($1) })
    }
}

/// Finds no user, since there are no contacts here (B389).
// @unchecked: like its superclass.
@available(*, deprecated, message: "No longer supported. See CKShare.")
public final class CKDiscoverAllUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    /// Not called.
    public var userIdentityDiscoveredBlock: ((CKUserIdentity) -> Void)?
    /// Called once, at the end.
    public var discoverAllUserIdentitiesResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?
    /// Called once, at the end, unless `discoverAllUserIdentitiesResultBlock` is set.
    public var discoverAllUserIdentitiesCompletionBlock: ((Error?) -> Void)?

    /// Creates an operation that finds no user.
    public override init() { super.init() }

    override func makeRun() -> (any OperationRun)? {
        let call = containerCall
        let (discovered, completion) = (userIdentityDiscoveredBlock, discoverAllUserIdentitiesCompletionBlock)
        return FetchRun<CKUserIdentity.LookupInfo, CKUserIdentity>(
            settings: call.settings, ids: nil, failureMessage: "Failed to find some users",
            fetch: { _, _ in try await call.identities([]).map { ($0.info, .success($0.identity)) } },
            item: { _, result in if case .success(let identity) = result { discovered?(identity) } },
            result: discoverAllUserIdentitiesResultBlock, completion: { completion?($1) })
    }
}

extension CKOperation {
    /// The call of an operation that works in a container, not in one of its databases.
    var containerCall: DatabaseCall {
        DatabaseCall(client: effectiveContainer.client, scope: .private, settings: settings)
    }
}
