import Foundation

/// The methods for completion handlers that a client's protocol does not declare `@Sendable`. Calls choose those of
/// ``SendableHandlers``.
extension CKContainer {
    @_disfavoredOverload
    public func accountStatus(completionHandler: @escaping (CKAccountStatus, Error?) -> Void) {
        accountStatus(completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchUserRecordID(completionHandler: @escaping (CKRecord.ID?, Error?) -> Void) {
        fetchUserRecordID(completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchAllLongLivedOperationIDs(completionHandler: @escaping ([CKOperation.ID]?, Error?) -> Void) {
        fetchAllLongLivedOperationIDs(completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchLongLivedOperation(
        withID operationID: CKOperation.ID, completionHandler: @escaping (CKOperation?, Error?) -> Void
    ) {
        fetchLongLivedOperation(withID: operationID, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchShareMetadata(with url: URL, completionHandler: @escaping (CKShare.Metadata?, Error?) -> Void) {
        fetchShareMetadata(with: url, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchShareMetadatas(
        for urls: [URL],
        completionHandler: @escaping (Result<[URL: Result<CKShare.Metadata, Error>], Error>) -> Void
    ) {
        fetchShareMetadatas(for: urls, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func accept(_ metadata: CKShare.Metadata, completionHandler: @escaping (CKShare?, Error?) -> Void) {
        accept(metadata, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func accept(
        _ metadatas: [CKShare.Metadata],
        completionHandler: @escaping (Result<[CKShare.Metadata: Result<CKShare, Error>], Error>) -> Void
    ) {
        accept(metadatas, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchShareParticipant(
        withEmailAddress email: String, completionHandler: @escaping (CKShare.Participant?, Error?) -> Void
    ) {
        fetchShareParticipant(withEmailAddress: email, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchShareParticipant(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping (CKShare.Participant?, Error?) -> Void
    ) {
        fetchShareParticipant(withPhoneNumber: phoneNumber, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchShareParticipant(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping (CKShare.Participant?, Error?) -> Void
    ) {
        fetchShareParticipant(withUserRecordID: userRecordID, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchShareParticipants(
        forEmailAddresses emails: [String],
        completionHandler: @escaping (Result<[String: Result<CKShare.Participant, Error>], Error>) -> Void
    ) {
        fetchShareParticipants(forEmailAddresses: emails, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchShareParticipants(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler: @escaping (Result<[String: Result<CKShare.Participant, Error>], Error>) -> Void
    ) {
        fetchShareParticipants(forPhoneNumbers: phoneNumbers, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchShareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping (Result<[CKRecord.ID: Result<CKShare.Participant, Error>], Error>) -> Void
    ) {
        fetchShareParticipants(forUserRecordIDs: userRecordIDs, completionHandler: sendable(completionHandler))
    }
}
