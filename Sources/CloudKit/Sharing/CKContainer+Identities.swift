/// Finds users who have granted it (B388). All of it is deprecated on Apple's platforms; sharing has its own lookups.
extension CKContainer {
    // MARK: One user

    /// Returns the user with an e-mail address; nil if there is none, or if the user has not
    /// granted to be found.
    ///
    /// - Throws: `notAuthenticated` if no user is signed in.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @discardableResult
    public func userIdentity(forEmailAddress email: String) async throws -> CKUserIdentity? {
        try await privateCloudDatabase.call.identities([.init(emailAddress: email)]).first?.identity
    }

    /// The same as ``userIdentity(forEmailAddress:)``, with a completion handler.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @preconcurrency
    public func discoverUserIdentity(
        withEmailAddress email: String, completionHandler: @escaping @Sendable (CKUserIdentity?, Error?) -> Void
    ) {
        discover(.init(emailAddress: email), completionHandler)
    }

    /// Returns the user with a phone number; nil if there is none, or if the user has not
    /// granted to be found.
    ///
    /// - Throws: `notAuthenticated` if no user is signed in.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @discardableResult
    public func userIdentity(forPhoneNumber phoneNumber: String) async throws -> CKUserIdentity? {
        try await privateCloudDatabase.call.identities([.init(phoneNumber: phoneNumber)]).first?.identity
    }

    /// The same as ``userIdentity(forPhoneNumber:)``, with a completion handler.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @preconcurrency
    public func discoverUserIdentity(
        withPhoneNumber phoneNumber: String, completionHandler: @escaping @Sendable (CKUserIdentity?, Error?) -> Void
    ) {
        discover(.init(phoneNumber: phoneNumber), completionHandler)
    }

    /// Returns the user with the ID of their own record; nil if there is none, or if the user has not
    /// granted to be found.
    ///
    /// - Throws: `notAuthenticated` if no user is signed in.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @discardableResult
    public func userIdentity(forUserRecordID userRecordID: CKRecord.ID) async throws -> CKUserIdentity? {
        try await privateCloudDatabase.call.identities([.init(userRecordID: userRecordID)]).first?.identity
    }

    /// The same as ``userIdentity(forUserRecordID:)``, with a completion handler.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @preconcurrency
    public func discoverUserIdentity(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKUserIdentity?, Error?) -> Void
    ) {
        discover(.init(userRecordID: userRecordID), completionHandler)
    }

    // MARK: Several users

    /// Returns the users with e-mail addresses; those who are not found are missing.
    ///
    /// - Throws: `notAuthenticated` if no user is signed in.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @discardableResult
    public func userIdentities(forEmailAddresses emails: [String]) async throws -> [String: CKUserIdentity] {
        try await privateCloudDatabase.call.identities(of: emails) { .init(emailAddress: $0) }
    }

    /// The same as ``userIdentities(forEmailAddresses:)``, with a completion handler.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @preconcurrency
    public func discoverUserIdentities(
        forEmailAddresses emails: [String],
        completionHandler: @escaping @Sendable (Result<[String: CKUserIdentity], Error>) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) {
            try await $0.identities(of: emails) { .init(emailAddress: $0) }
        }
    }

    /// Returns the users with phone numbers; those who are not found are missing.
    ///
    /// - Throws: `notAuthenticated` if no user is signed in.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @discardableResult
    public func userIdentities(forPhoneNumbers phoneNumbers: [String]) async throws -> [String: CKUserIdentity] {
        try await privateCloudDatabase.call.identities(of: phoneNumbers) { .init(phoneNumber: $0) }
    }

    /// The same as ``userIdentities(forPhoneNumbers:)``, with a completion handler.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @preconcurrency
    public func discoverUserIdentities(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler: @escaping @Sendable (Result<[String: CKUserIdentity], Error>) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) {
            try await $0.identities(of: phoneNumbers) { .init(phoneNumber: $0) }
        }
    }

    /// Returns the users with the IDs of their own records; those who are not found are missing.
    ///
    /// - Throws: `notAuthenticated` if no user is signed in.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @discardableResult
    public func userIdentities(forUserRecordIDs userRecordIDs: [CKRecord.ID]) async throws -> [CKRecord.ID:
        CKUserIdentity]
    {
        try await privateCloudDatabase.call.identities(of: userRecordIDs) { .init(userRecordID: $0) }
    }

    /// The same as ``userIdentities(forUserRecordIDs:)``, with a completion handler.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @preconcurrency
    public func discoverUserIdentities(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler: @escaping @Sendable (Result<[CKRecord.ID: CKUserIdentity], Error>) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) {
            try await $0.identities(of: userRecordIDs) { .init(userRecordID: $0) }
        }
    }

    // MARK: Contacts

    /// Returns no user, since there are no contacts here (B389).
    ///
    /// - Throws: `notAuthenticated` if no user is signed in.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @discardableResult
    public func allUserIdentitiesFromContacts() async throws -> [CKUserIdentity] {
        try await privateCloudDatabase.call.identities([]).map(\.identity)
    }

    /// The same as ``allUserIdentitiesFromContacts()``, with a completion handler.
    @available(*, deprecated, message: "No longer supported. See CKShare.")
    @preconcurrency
    public func discoverAllIdentities(completionHandler: @escaping @Sendable ([CKUserIdentity]?, Error?) -> Void) {
        privateCloudDatabase.call.answer(completionHandler) { try await $0.identities([]).map(\.identity) }
    }

    private func discover(
        _ info: CKUserIdentity.LookupInfo, _ handler: @escaping @Sendable (CKUserIdentity?, Error?) -> Void
    ) {
        privateCloudDatabase.call.answer(handler) { try await $0.identities([info]).first?.identity }
    }
}
