import Foundation
import StrataModel

extension CKError {
    /// Creates an error with a message that names the problem and the item.
    init(_ code: Code, message: String, cause: (any Error)? = nil, userInfo: [String: Any] = [:]) {
        var userInfo = userInfo
        // Names in the message may contain terminal control sequences.
        userInfo[NSLocalizedDescriptionKey] = message.withoutControls
        if let cause { userInfo[NSUnderlyingErrorKey] = cause }
        self.init(code, userInfo: userInfo)
    }

    /// Creates the error for a refusal by the rules. The caller passes the records of a conflict, since a refusal names
    /// only their versions.
    init(
        _ refusal: Refusal, clientRecord: CKRecord? = nil, serverRecord: CKRecord? = nil,
        ancestorRecord: CKRecord? = nil
    ) {
        var userInfo: [String: Any] = [:]
        userInfo[CKRecordChangedErrorClientRecordKey] = clientRecord
        userInfo[CKRecordChangedErrorServerRecordKey] = serverRecord
        userInfo[CKRecordChangedErrorAncestorRecordKey] = ancestorRecord
        if refusal.didResetEncryptedData { userInfo[CKErrorUserDidResetEncryptedDataKey] = true }
        userInfo[CKErrorRetryAfterKey] = refusal.retryAfterSeconds.map { NSNumber(value: $0) }
        let code = Code(rawValue: Int(clamping: refusal.code.rawValue)) ?? .internalError
        self.init(code, message: refusal.message, userInfo: userInfo)
    }

    /// The part of a request that an item is in.
    enum ItemAction: String {
        case fetch = "fetching"
        case save = "saving"
        case delete = "deleting"
    }

    /// Returns the error with the record in its message: "Error saving record <CKRecordID: …> to server: …".
    func of(_ action: ItemAction, _ id: CKRecord.ID) -> CKError { of(action, "record \(id)") }

    /// Returns the error with the zone in its message.
    func of(_ action: ItemAction, _ id: CKRecordZone.ID) -> CKError { of(action, "record zone \(id)") }

    private func of(_ action: ItemAction, _ item: String) -> CKError {
        let place = action == .save ? "to" : "from"
        return CKError(
            code, message: "Error \(action.rawValue) \(item) \(place) server: \(localizedDescription)",
            userInfo: userInfo)
    }

    /// Creates the error for a partial failure.
    init(partialErrors: [AnyHashable: any Error], message: String, userInfo: [String: Any] = [:]) {
        var userInfo = userInfo
        userInfo[CKPartialErrorsByItemIDKey] = partialErrors
        self.init(.partialFailure, message: message, userInfo: userInfo)
    }

    /// Converts any error of the engine to an error for clients.
    init(engine error: any Error) {
        switch error {
        case let error as CKError: self = error
        case let refusal as Refusal: self.init(refusal)
        case let error as StrataError:
            let (code, advice) = error.isOfDescriptors ? Self.tooManyFiles : Self.meaning(of: error.code)
            let retry =
                [.unreachable, .viewsDamaged].contains(error.code) ? NSNumber(value: Refusal.serverRetrySeconds) : nil
            self.init(
                code, message: "\(advice) \(error)", cause: error,
                userInfo: retry.map { [CKErrorRetryAfterKey: $0] } ?? [:])
        case is CancellationError: self.init(.operationCancelled, message: "The operation was canceled.")
        default: self.init(.internalError, message: "The store failed: \(error)", cause: error)
        }
    }

    private static let tooManyFiles = (
        Code.serviceUnavailable, "Too many files are open: close some or raise the limit, and try again."
    )

    private static func meaning(of code: StrataError.Code) -> (Code, String) {
        switch code {
        case .locked: (.serviceUnavailable, "Another process is writing to the store: close it there and try again.")
        case .permissionDenied: (.permissionFailure, "This user may not write to the store's files.")
        case .readOnlyMedium: (.permissionFailure, "The store is on a read-only medium.")
        case .directoryGone: (.internalError, "The store's directory is no longer at the path where it was opened.")
        case .notAStore: (.internalError, "The directory is not a store.")
        case .noSpace: (.quotaExceeded, "The disk is full: free some space and try again.")
        case .closed: (.serviceUnavailable, "The store was closed: reopen it.")
        case .unreachable: (.serviceUnavailable, "The store's sequencer does not answer: try again.")
        case .unsuitable: (.serverRejectedRequest, "The store's sequencer is not configured to keep changes safely.")
        case .refusingWrites: (.serviceUnavailable, "The store rejects writes because one failed: reopen it.")
        case .viewsDamaged: (.serviceUnavailable, "The store's state is being folded again from the log: try again.")
        case .onlyRead: (.serverRejectedRequest, "This store is open for reading only: write to the store itself.")
        case .outcomeUnknown: (.serverResponseLost, "It is not known whether the request was applied: fetch to see.")
        case .assetFileNotFound: (.assetFileNotFound, "The asset's file does not exist or cannot be read.")
        case .assetFileModified: (.assetFileModified, "The asset's file was changed while it was saved: save again.")
        case .assetNotAvailable: (.assetNotAvailable, "The store does not have the file of an asset, or it is damaged.")
        case .tooLarge: (.limitExceeded, "A request or value is too large.")
        case .keyMissing, .keyDestroyed, .sealBroken: (.internalError, "An encrypted value cannot be decrypted.")
        case .invalidArgument: (.invalidArguments, "An argument is invalid.")
        default: (.internalError, "The store failed: see the underlying error.")
        }
    }
}

extension StrataError {
    /// True if the process or the system ran out of file descriptors.
    fileprivate var isOfDescriptors: Bool {
        if let number = context.errno { return number == EMFILE || number == ENFILE }
        return (cause as? StrataError)?.isOfDescriptors ?? false
    }
}
