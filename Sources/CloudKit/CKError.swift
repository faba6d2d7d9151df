import Foundation
import StrataModel

/// Why an operation, or one item of it, failed.
///
/// ```swift
/// do { _ = try await database.save(record) } catch let error as CKError where error.code == .serverRecordChanged {
///     if let server = error.serverRecord { try await merge(record, into: server) }
/// }
/// ```
public struct CKError: Error, CustomNSError, LocalizedError, Hashable, @unchecked Sendable {
    // @unchecked: what is in its user info is not changed by anybody.
    public let _nsError: NSError

    public init(_nsError error: NSError) { _nsError = error }

    public init(_ code: CKError.Code, userInfo: [String: Any] = [:]) {
        _nsError = NSError(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    public static var errorDomain: String { CKErrorDomain }

    public static func == (left: CKError, right: CKError) -> Bool { left._nsError == right._nsError }

    // Foundation's own hash of an NSError does not come to an end on Linux.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.domain)
        hasher.combine(_nsError.code)
    }
}

extension CKError {
    public var code: Code { Code(rawValue: _nsError.code) ?? .internalError }
    public var errorCode: Int { _nsError.code }
    public var userInfo: [String: Any] { _nsError.userInfo }
    public var errorUserInfo: [String: Any] { _nsError.userInfo }
    public var localizedDescription: String { errorDescription ?? "\(code)" }
    public var errorDescription: String? { userInfo[NSLocalizedDescriptionKey] as? String }

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
        let message = errorDescription.map { ": \($0)" } ?? ""
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
