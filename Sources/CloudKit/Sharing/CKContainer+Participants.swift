/// Looks up users to be added to shares, whether or not they are discoverable (B388).
extension CKContainer {
    // MARK: One user

    /// Returns a participant for the user with an e-mail address. An address that no user has
    /// yields one too (B327).
    @discardableResult
    public func shareParticipant(forEmailAddress email: String) async throws -> CKShare.Participant {
        try await privateCloudDatabase.call.shareParticipants([.init(emailAddress: email)]).only()
    }

    /// Returns a participant for the user with a phone number. An address that no user has
    /// yields one too (B327).
    @discardableResult
    public func shareParticipant(forPhoneNumber phoneNumber: String) async throws -> CKShare.Participant {
        try await privateCloudDatabase.call.shareParticipants([.init(phoneNumber: phoneNumber)]).only()
    }

    /// Returns a participant for the user with the ID of a user's record. Fails with
    /// `unknownItem` if there is no such user (B327).
    @discardableResult
    public func shareParticipant(forUserRecordID userRecordID: CKRecord.ID) async throws -> CKShare.Participant {
        try await privateCloudDatabase.call.shareParticipants([.init(userRecordID: userRecordID)]).only()
    }

    // MARK: Several users

    /// Returns participants for the users with e-mail addresses.
    @discardableResult
    public func shareParticipants(
        forEmailAddresses emails: [String]
    ) async throws -> [String: Result<CKShare.Participant, Error>] {
        try await privateCloudDatabase.call.shareParticipants(of: emails) { .init(emailAddress: $0) }
    }

    /// Returns participants for the users with phone numbers.
    @discardableResult
    public func shareParticipants(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: Result<CKShare.Participant, Error>] {
        try await privateCloudDatabase.call.shareParticipants(of: phoneNumbers) { .init(phoneNumber: $0) }
    }

    /// Returns participants for the users with the IDs of users' records.
    @discardableResult
    public func shareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKShare.Participant, Error>] {
        try await privateCloudDatabase.call.shareParticipants(of: userRecordIDs) { .init(userRecordID: $0) }
    }

    /// Returns participants for the users with addresses of any kind.
    @discardableResult
    public func shareParticipants(
        for lookupInfos: [CKUserIdentity.LookupInfo]
    ) async throws -> [CKUserIdentity.LookupInfo: Result<CKShare.Participant, Error>] {
        try await privateCloudDatabase.call.shareParticipants(lookupInfos).byItem()
    }
}

extension DatabaseCall {
    /// Returns the participants by what the users were looked up by.
    fileprivate func shareParticipants<Key: Hashable & Sendable>(
        of keys: [Key], _ info: (Key) -> CKUserIdentity.LookupInfo
    ) async throws(CKError) -> [Key: Result<CKShare.Participant, Error>] {
        let infos = keys.map(info)
        let found = try await shareParticipants(infos).byItem()
        return Dictionary(zip(keys, infos).compactMap { key, info in found[info].map { (key, $0) } }) { first, _ in
            first
        }
    }
}

extension SendableHandlers where Self: CKContainer {
    /// The same as ``CKContainer/shareParticipant(forEmailAddress:)``, with a completion handler.
    @preconcurrency
    public func fetchShareParticipant(
        withEmailAddress email: String, completionHandler: @escaping @Sendable (CKShare.Participant?, Error?) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) {
            try await $0.shareParticipants([.init(emailAddress: email)]).only()
        }
    }

    /// The same as ``CKContainer/shareParticipant(forPhoneNumber:)``, with a completion handler.
    @preconcurrency
    public func fetchShareParticipant(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, Error?) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) {
            try await $0.shareParticipants([.init(phoneNumber: phoneNumber)]).only()
        }
    }

    /// The same as ``CKContainer/shareParticipant(forUserRecordID:)``, with a completion handler.
    @preconcurrency
    public func fetchShareParticipant(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKShare.Participant?, Error?) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) {
            try await $0.shareParticipants([.init(userRecordID: userRecordID)]).only()
        }
    }

    /// The same as ``CKContainer/shareParticipants(forEmailAddresses:)``, with a completion handler.
    @preconcurrency
    public func fetchShareParticipants(
        forEmailAddresses emails: [String],
        completionHandler: @escaping @Sendable (Result<[String: Result<CKShare.Participant, Error>], Error>) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) {
            try await $0.shareParticipants(of: emails) { .init(emailAddress: $0) }
        }
    }

    /// The same as ``CKContainer/shareParticipants(forPhoneNumbers:)``, with a completion handler.
    @preconcurrency
    public func fetchShareParticipants(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler: @escaping @Sendable (Result<[String: Result<CKShare.Participant, Error>], Error>) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) {
            try await $0.shareParticipants(of: phoneNumbers) { .init(phoneNumber: $0) }
        }
    }

    /// The same as ``CKContainer/shareParticipants(forUserRecordIDs:)``, with a completion handler.
    @preconcurrency
    public func fetchShareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping @Sendable (Result<[CKRecord.ID: Result<CKShare.Participant, Error>], Error>) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) {
            try await $0.shareParticipants(of: userRecordIDs) { .init(userRecordID: $0) }
        }
    }
}
