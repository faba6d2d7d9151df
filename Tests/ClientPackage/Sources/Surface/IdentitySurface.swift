import CloudKit

/// The surface of identities, of user discovery and of its permission.
struct IdentitySurface: Section {
    @available(*, deprecated)
    func check() async throws {
        let store = try CloudStore.inMemory()
        try console(store.console)
        let container = store.container(user: "anna")
        try await permissions(container)
        try await discovery(container)
        lists(of: container)
        operations(in: container)
        try lookups()
        let found = try await container.userIdentity(forEmailAddress: "anna@example.com")
        guard let found else { throw Unexpected("anna is not found") }
        try identity(found)
    }

    private func console(_ console: CloudStore.Console) throws {
        var name = PersonNameComponents()
        name.givenName = "Anna"
        try console.addUser("anna", nameComponents: name, emails: ["anna@example.com"], phones: ["1"], recordName: nil)
        try console.addAddress("2", to: "anna")
        try console.setRole("Editors", of: ["anna"])
        try console.setDiscoverable(true, for: "anna")
        let _: [CloudStore.RequestKind] = [.fetchUserIdentities, .requestPermission]
    }

    @available(*, deprecated)
    private func permissions(_ container: CKContainer) async throws {
        let _: CKContainer.ApplicationPermissions.Type = CKContainer.Application.Permissions.self
        let _: CKContainer.ApplicationPermissionStatus.Type = CKContainer.Application.PermissionStatus.self
        let _: CKContainer.ApplicationPermissionBlock.Type = CKContainer.Application.PermissionBlock.self
        let _: CKContainer.ApplicationPermissions.Type = CKContainer_Application_Permissions.self
        let _: CKContainer.ApplicationPermissionStatus.Type = CKContainer_Application_PermissionStatus.self
        let _: CKContainer.ApplicationPermissionBlock.Type = CKContainer_Application_PermissionBlock.self
        let asked: CKContainer.ApplicationPermissions = .userDiscoverability
        let raw: UInt = asked.rawValue
        try expect(CKContainer.ApplicationPermissions(rawValue: raw) == asked && raw == 1)
        let all: [CKContainer.ApplicationPermissionStatus] = [.initialState, .couldNotComplete, .denied, .granted]
        try expect(all.map(\.rawValue) == Array(0...3))
        try expect(CKContainer.ApplicationPermissionStatus(rawValue: 3) == .granted)
        try await container.requestApplicationPermission(asked)
        try expect(try await container.applicationPermissionStatus(for: asked) == .granted)
        let _: (CKContainer.ApplicationPermissions, @escaping CKContainer.ApplicationPermissionBlock) -> Void =
            container.status(forApplicationPermission:completionHandler:)
        let _: (CKContainer.ApplicationPermissions, @escaping CKContainer.ApplicationPermissionBlock) -> Void =
            container.requestApplicationPermission(_:completionHandler:)
    }

    @available(*, deprecated)
    private func discovery(_ container: CKContainer) async throws {
        let _: (String) async throws -> CKUserIdentity? = container.userIdentity(forEmailAddress:)
        let _: (String) async throws -> CKUserIdentity? = container.userIdentity(forPhoneNumber:)
        let _: (CKRecord.ID) async throws -> CKUserIdentity? = container.userIdentity(forUserRecordID:)
        let _: (String, @escaping Handler<CKUserIdentity>) -> Void =
            container.discoverUserIdentity(withEmailAddress:completionHandler:)
        let _: (String, @escaping Handler<CKUserIdentity>) -> Void =
            container.discoverUserIdentity(withPhoneNumber:completionHandler:)
        let _: (CKRecord.ID, @escaping Handler<CKUserIdentity>) -> Void =
            container.discoverUserIdentity(withUserRecordID:completionHandler:)
        try expect(try await container.allUserIdentitiesFromContacts().isEmpty)
        let _: (@escaping Handler<[CKUserIdentity]>) -> Void = container.discoverAllIdentities(completionHandler:)
    }

    @available(*, deprecated)
    private func lists(of container: CKContainer) {
        typealias ByText = [String: CKUserIdentity]
        typealias ByID = [CKRecord.ID: CKUserIdentity]
        let _: ([String]) async throws -> ByText = container.userIdentities(forEmailAddresses:)
        let _: ([String]) async throws -> ByText = container.userIdentities(forPhoneNumbers:)
        let _: ([CKRecord.ID]) async throws -> ByID = container.userIdentities(forUserRecordIDs:)
        let _: ([String], @escaping ResultHandler<ByText>) -> Void =
            container.discoverUserIdentities(forEmailAddresses:completionHandler:)
        let _: ([String], @escaping ResultHandler<ByText>) -> Void =
            container.discoverUserIdentities(forPhoneNumbers:completionHandler:)
        let _: ([CKRecord.ID], @escaping ResultHandler<ByID>) -> Void =
            container.discoverUserIdentities(forUserRecordIDs:completionHandler:)
    }

    @available(*, deprecated)
    private func operations(in container: CKContainer) {
        let infos = [CKUserIdentity.LookupInfo(emailAddress: "anna@example.com")]
        let some = CKDiscoverUserIdentitiesOperation(userIdentityLookupInfos: infos)
        keeps(some, \.userIdentityLookupInfos, [CKUserIdentity.LookupInfo].self)
        keeps(some, \.userIdentityDiscoveredBlock, ((CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?.self)
        keeps(some, \.discoverUserIdentitiesResultBlock, ((Result<Void, Error>) -> Void)?.self)
        keeps(some, \.discoverUserIdentitiesCompletionBlock, ((Error?) -> Void)?.self)
        container.add(some)
        container.add(CKDiscoverUserIdentitiesOperation())
        let all = CKDiscoverAllUserIdentitiesOperation()
        keeps(all, \.userIdentityDiscoveredBlock, ((CKUserIdentity) -> Void)?.self)
        keeps(all, \.discoverAllUserIdentitiesResultBlock, ((Result<Void, Error>) -> Void)?.self)
        keeps(all, \.discoverAllUserIdentitiesCompletionBlock, ((Error?) -> Void)?.self)
        container.add(all)
    }

    private func lookups() throws {
        typealias Info = CKUserIdentity.LookupInfo
        try expect(CKUserIdentityLookupInfo.self == Info.self)
        let id = CKRecord.ID(recordName: "anna")
        let infos: [Info] =
            Info.lookupInfos(withEmails: ["a@x.org"]) + Info.lookupInfos(withPhoneNumbers: ["1"])
            + Info.lookupInfos(with: [id])
        try expect(infos == [Info(emailAddress: "a@x.org"), Info(phoneNumber: "1"), Info(userRecordID: id)])
        gives(infos[0], \.emailAddress, String?.self)
        gives(infos[1], \.phoneNumber, String?.self)
        gives(infos[2], \.userRecordID, CKRecord.ID?.self)
        let _: [KeyPath<Info, String>] = [\.description, \.debugDescription]
        let _: KeyPath<Info, Int> = \.hash
        let _: (Info) -> (Any?) -> Bool = Info.isEqual
        let _: (Info, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (Info) -> (NSCoder) -> Void = Info.encode(with:)
        let _: (NSCoder) -> Info? = Info.init(coder:)
        try expect(Info.supportsSecureCoding)
    }

    @available(*, deprecated)
    private func identity(_ identity: CKUserIdentity) throws {
        gives(identity, \.lookupInfo, CKUserIdentity.LookupInfo?.self)
        gives(identity, \.nameComponents, PersonNameComponents?.self)
        gives(identity, \.userRecordID, CKRecord.ID?.self)
        gives(identity, \.hasiCloudAccount, Bool.self)
        gives(identity, \.contactIdentifiers, [String].self)
        let _: [KeyPath<CKUserIdentity, String>] = [\.description, \.debugDescription]
        let _: KeyPath<CKUserIdentity, Int> = \.hash
        let _: (CKUserIdentity) -> (Any?) -> Bool = CKUserIdentity.isEqual
        let _: (CKUserIdentity, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKUserIdentity) -> (NSCoder) -> Void = CKUserIdentity.encode(with:)
        let _: (NSCoder) -> CKUserIdentity? = CKUserIdentity.init(coder:)
        try expect(CKUserIdentity.supportsSecureCoding && identity.nameComponents?.givenName == "Anna")
    }
}
