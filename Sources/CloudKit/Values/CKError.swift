import Foundation
import StrataModel

/// Why an operation, or one item of it, failed.
///
/// ```swift
/// do { _ = try await database.save(record) } catch let error as CKError where error.code == .serverRecordChanged {
///     if let server = error.serverRecord { try await merge(record, into: server) }
/// }
/// ```
// @unchecked: what is in its user info is not changed by anybody.
public struct CKError: Error, CustomNSError, LocalizedError, Hashable, @unchecked Sendable {
    /// What Foundation makes of the error.
    public let _nsError: NSError

    /// An error as Foundation knows it, of the domain ``CKErrorDomain``.
    public init(_nsError error: NSError) { _nsError = error }

    /// An error with a code and what there is to say about it.
    public init(_ code: CKError.Code, userInfo: [String: Any] = [:]) {
        var userInfo = userInfo
        // Foundation's own text on Linux is another one.
        if userInfo[NSLocalizedDescriptionKey] == nil {
            userInfo[NSLocalizedDescriptionKey] = Self.plainText(code.rawValue)
        }
        _nsError = NSError(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// ``CKErrorDomain``.
    public static var errorDomain: String { CKErrorDomain }

    public static func == (left: CKError, right: CKError) -> Bool { left._nsError == right._nsError }

    // Foundation's own hash of an NSError does not come to an end on Linux.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.domain)
        hasher.combine(_nsError.code)
    }
}

extension CKError {
    /// What went wrong.
    public var code: Code { Code(rawValue: _nsError.code) ?? .internalError }
    /// The number of ``code``.
    public var errorCode: Int { _nsError.code }
    /// All that the error says, by keys such as ``CKErrorRetryAfterKey``.
    public var userInfo: [String: Any] { _nsError.userInfo }
    /// The same as ``userInfo``.
    public var errorUserInfo: [String: Any] { _nsError.userInfo }
    /// A text for users, in the form that Apple's platforms have: domain and number. ``debugDescription`` says more.
    public var localizedDescription: String {
        userInfo[NSLocalizedDescriptionKey] as? String ?? Self.plainText(errorCode)
    }
    /// The same as ``localizedDescription``.
    public var errorDescription: String? { localizedDescription }

    /// What went wrong, with which item, and why; nil if nothing is said.
    var detail: String? { userInfo[NSDebugDescriptionErrorKey] as? String }

    private static func plainText(_ code: Int) -> String {
        "The operation couldn’t be completed. (\(CKErrorDomain) error \(code).)"
    }

    /// Of a partial failure: the error of each item that failed, by its ID.
    public var partialErrorsByItemID: [AnyHashable: any Error]? {
        userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
    }

    /// Of a conflict: the record as the client's edit found it.
    public var ancestorRecord: CKRecord? { userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord }
    /// Of a conflict: the record that is stored now. Edit and save this one to resolve it.
    public var serverRecord: CKRecord? { userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord }
    /// Of a conflict: the record that the client tried to save.
    public var clientRecord: CKRecord? { userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord }
    /// How long to wait before another try.
    public var retryAfterSeconds: Double? { (userInfo[CKErrorRetryAfterKey] as? NSNumber)?.doubleValue }
}

extension CKError: CustomStringConvertible, CustomDebugStringConvertible {
    /// Code, number and message, and how many items failed.
    public var description: String {
        let parts = partialErrorsByItemID.map { "; \($0.count) of its items failed" } ?? ""
        let message = (detail ?? userInfo[NSLocalizedDescriptionKey] as? String).map { ": \($0)" } ?? ""
        return "<CKError: \(code) (\(errorCode))\(message)\(parts)>"
    }
    public var debugDescription: String { description }
}

// Without Objective-C no cast looks at an `NSError`'s domain; the standard library's own bridging does.
extension CKError: _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CKError?) {
        result = CKError(_nsError: source)
    }

    /// Lets `error as? CKError` give an error of this domain that came along as an `NSError`.
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
