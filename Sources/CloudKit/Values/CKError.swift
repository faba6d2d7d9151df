import Foundation

/// The reason why an operation, or one item of it, failed.
///
/// ```swift
/// do { _ = try await database.save(record) } catch let error as CKError where error.code == .serverRecordChanged {
///     if let server = error.serverRecord { try await merge(record, into: server) }
/// }
/// ```
// @unchecked: the user info never changes.
public struct CKError: Error, CustomNSError, LocalizedError, Hashable, @unchecked Sendable {
    /// The error as a Foundation object.
    public let _nsError: NSError

    /// Creates an error from a Foundation error of the domain ``CKErrorDomain``.
    public init(_nsError error: NSError) { _nsError = error }

    /// Creates an error with a code and details.
    public init(_ code: CKError.Code, userInfo: [String: Any] = [:]) {
        var userInfo = userInfo
        // Foundation's default text on Linux differs.
        if userInfo[NSLocalizedDescriptionKey] == nil {
            userInfo[NSLocalizedDescriptionKey] = Self.plainText(code.rawValue)
        }
        _nsError = NSError(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// The domain of every error: ``CKErrorDomain``.
    public static var errorDomain: String { CKErrorDomain }

    public static func == (left: CKError, right: CKError) -> Bool { left._nsError == right._nsError }

    // Foundation's own hash of an NSError never terminates on Linux.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.domain)
        hasher.combine(_nsError.code)
    }
}

extension CKError {
    /// The kind of error.
    public var code: Code { Code(rawValue: _nsError.code) ?? .internalError }
    /// The number of ``code``.
    public var errorCode: Int { _nsError.code }
    /// The details of the error, under keys such as ``CKErrorRetryAfterKey``.
    public var userInfo: [String: Any] { _nsError.userInfo }
    /// The same as ``userInfo``.
    public var errorUserInfo: [String: Any] { _nsError.userInfo }
    /// The problem, the item and the reason. Of an error that was made without a message: domain and number.
    public var localizedDescription: String {
        userInfo[NSLocalizedDescriptionKey] as? String ?? Self.plainText(errorCode)
    }
    /// The same as ``localizedDescription``.
    public var errorDescription: String? { localizedDescription }

    private static func plainText(_ code: Int) -> String {
        "The operation couldn’t be completed. (\(CKErrorDomain) error \(code).)"
    }

    /// The errors of a partial failure, by the ID of the failed item.
    public var partialErrorsByItemID: [AnyHashable: any Error]? {
        userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
    }

    /// The record of a conflict as it was before the client's edit.
    public var ancestorRecord: CKRecord? { userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord }
    /// The record of a conflict that is stored now. Edit and save this one to resolve the conflict.
    public var serverRecord: CKRecord? { userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord }
    /// The record of a conflict that the client tried to save.
    public var clientRecord: CKRecord? { userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord }
    /// The number of seconds to wait before retrying.
    public var retryAfterSeconds: Double? { (userInfo[CKErrorRetryAfterKey] as? NSNumber)?.doubleValue }
}

extension CKError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The code, number and message, and the number of failed items.
    public var description: String {
        let parts = partialErrorsByItemID.map { "; \($0.count) of its items failed" } ?? ""
        return "<CKError: \(code) (\(errorCode)): \(localizedDescription)\(parts)>"
    }
    public var debugDescription: String { description }
}

// Without Objective-C, casts ignore an `NSError`'s domain; the standard library's own bridging checks it.
extension CKError: _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CKError?) {
        result = CKError(_nsError: source)
    }

    /// Lets `error as? CKError` convert an `NSError` of this domain.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout CKError?) -> Bool {
        result = source.domain == CKErrorDomain ? CKError(_nsError: source) : nil
        return result != nil
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CKError {
        source.map { CKError(_nsError: $0) } ?? CKError(.internalError)
    }
}

extension CKError.Code {
    /// Lets `catch CKError.unknownItem` and `case CKError.zoneNotFound` match an error.
    public static func ~= (code: CKError.Code, error: any Error) -> Bool { (error as? CKError)?.code == code }
}
