extension CKError {
    /// The numeric codes of errors.
    public enum Code: Int, Sendable, Hashable, BitwiseCopyable {
        case internalError = 1
        /// Some items failed: see ``CKError/partialErrorsByItemID``.
        case partialFailure = 2
        case networkUnavailable = 3
        case networkFailure = 4
        case badContainer = 5
        case serviceUnavailable = 6
        case requestRateLimited = 7
        case missingEntitlement = 8
        case notAuthenticated = 9
        case permissionFailure = 10
        case unknownItem = 11
        case invalidArguments = 12
        @available(*, deprecated, message: "Results are no longer truncated.")
        case resultsTruncated = 13
        /// The stored record has a different version: see ``CKError/serverRecord``.
        case serverRecordChanged = 14
        case serverRejectedRequest = 15
        case assetFileNotFound = 16
        case assetFileModified = 17
        case incompatibleVersion = 18
        case constraintViolation = 19
        case operationCancelled = 20
        /// The token is no longer valid: discard it and fetch everything.
        case changeTokenExpired = 21
        /// Another item of the same zone failed.
        case batchRequestFailed = 22
        case zoneBusy = 23
        case badDatabase = 24
        case quotaExceeded = 25
        case zoneNotFound = 26
        /// The request is too large: try again with half of the items.
        case limitExceeded = 27
        case userDeletedZone = 28
        case tooManyParticipants = 29
        case alreadyShared = 30
        case referenceViolation = 31
        case managedAccountRestricted = 32
        case participantMayNeedVerification = 33
        /// The outcome is unknown: the request may have been executed.
        case serverResponseLost = 34
        case assetNotAvailable = 35
        case accountTemporarilyUnavailable = 36
        case participantAlreadyInvited = 37
    }

    public static var internalError: CKError.Code { .internalError }
    public static var partialFailure: CKError.Code { .partialFailure }
    public static var networkUnavailable: CKError.Code { .networkUnavailable }
    public static var networkFailure: CKError.Code { .networkFailure }
    public static var badContainer: CKError.Code { .badContainer }
    public static var serviceUnavailable: CKError.Code { .serviceUnavailable }
    public static var requestRateLimited: CKError.Code { .requestRateLimited }
    public static var missingEntitlement: CKError.Code { .missingEntitlement }
    public static var notAuthenticated: CKError.Code { .notAuthenticated }
    public static var permissionFailure: CKError.Code { .permissionFailure }
    public static var unknownItem: CKError.Code { .unknownItem }
    public static var invalidArguments: CKError.Code { .invalidArguments }
    @available(*, deprecated, message: "Results are no longer truncated.")
    public static var resultsTruncated: CKError.Code { .resultsTruncated }
    public static var serverRecordChanged: CKError.Code { .serverRecordChanged }
    public static var serverRejectedRequest: CKError.Code { .serverRejectedRequest }
    public static var assetFileNotFound: CKError.Code { .assetFileNotFound }
    public static var assetFileModified: CKError.Code { .assetFileModified }
    public static var incompatibleVersion: CKError.Code { .incompatibleVersion }
    public static var constraintViolation: CKError.Code { .constraintViolation }
    public static var operationCancelled: CKError.Code { .operationCancelled }
    public static var changeTokenExpired: CKError.Code { .changeTokenExpired }
    public static var batchRequestFailed: CKError.Code { .batchRequestFailed }
    public static var zoneBusy: CKError.Code { .zoneBusy }
    public static var badDatabase: CKError.Code { .badDatabase }
    public static var quotaExceeded: CKError.Code { .quotaExceeded }
    public static var zoneNotFound: CKError.Code { .zoneNotFound }
    public static var limitExceeded: CKError.Code { .limitExceeded }
    public static var userDeletedZone: CKError.Code { .userDeletedZone }
    public static var tooManyParticipants: CKError.Code { .tooManyParticipants }
    public static var alreadyShared: CKError.Code { .alreadyShared }
    public static var referenceViolation: CKError.Code { .referenceViolation }
    public static var managedAccountRestricted: CKError.Code { .managedAccountRestricted }
    public static var participantMayNeedVerification: CKError.Code { .participantMayNeedVerification }
    public static var serverResponseLost: CKError.Code { .serverResponseLost }
    public static var assetNotAvailable: CKError.Code { .assetNotAvailable }
    public static var accountTemporarilyUnavailable: CKError.Code { .accountTemporarilyUnavailable }
    public static var participantAlreadyInvited: CKError.Code { .participantAlreadyInvited }
}
