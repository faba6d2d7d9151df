import Foundation

/// A value of a record: a string, number, date, data, location, reference or asset, or an array of these.
///
/// ```swift
/// record["title"] = "Groceries"
/// record["items"] = ["Milk", "Bread"]
/// let title: String? = record["title"]
/// ```
///
/// Conforming your own type does not make it a valid value: saving a record with one fails with `invalidArguments`.
public protocol CKRecordValueProtocol {
    var _fieldContent: _FieldContent { get }
}

/// The type of values that the class-bound subscript and ``CKRecord/setObject(_:forKey:)`` accept.
///
/// On Apple's platforms Swift's values bridge to these classes; here they conform, so that `title as CKRecordValue`
/// means the same.
public protocol __CKRecordObjCValue {
    var _fieldContent: _FieldContent { get }
}

/// A value of a record, for methods that accept any type of value.
public typealias CKRecordValue = __CKRecordObjCValue

/// The stored form of a value. Not for use outside the module.
public struct _FieldContent: Sendable {
    let content: FieldContent

    init(_ content: FieldContent) { self.content = content }

    /// Returns nil for an optional without a value.
    init?(any value: Any) {
        switch value {
        case let value as any CKRecordValueProtocol: self = value._fieldContent
        case let list as [Any]: self = .init(.list(list.map { Self(any: $0)?.content ?? .mistake(of: $0) }))
        case Optional<Any>.none: return nil
        default: self.init(.mistake(of: value))
        }
    }
}

extension FieldContent {
    /// Returns the content for a value whose type a record cannot hold.
    static func mistake(of value: Any) -> FieldContent {
        .mistake("A value of type \(type(of: value)) cannot be stored in a record.")
    }
}

extension CKRecordValueProtocol {
    public var _fieldContent: _FieldContent { .init(.mistake(of: self)) }
}

extension __CKRecordObjCValue {
    public var _fieldContent: _FieldContent { .init(.mistake(of: self)) }
}

// MARK: Swift's own types

typealias RecordValue = CKRecordValueProtocol & __CKRecordObjCValue

extension String: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent { .init(.plain(.string(self))) }
}

extension Date: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent { .init(.plain(.date(timeIntervalSinceReferenceDate))) }
}

extension Data: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent { .init(.plain(.data([UInt8](self)))) }
}

extension Bool: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent { .init(.plain(.int64(self ? 1 : 0))) }
}

extension Double: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent { .init(.plain(.double(self))) }
}

extension Float: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent { .init(.plain(.double(Double(self)))) }
}

/// An integer, which a record holds if it fits into 64 bits with a sign.
protocol IntegerValue: BinaryInteger, RecordValue {}

extension IntegerValue {
    public var _fieldContent: _FieldContent { .init(.integer(self)) }
}

extension Int: CKRecordValueProtocol, __CKRecordObjCValue, IntegerValue {}
extension Int8: CKRecordValueProtocol, __CKRecordObjCValue, IntegerValue {}
extension Int16: CKRecordValueProtocol, __CKRecordObjCValue, IntegerValue {}
extension Int32: CKRecordValueProtocol, __CKRecordObjCValue, IntegerValue {}
extension Int64: CKRecordValueProtocol, __CKRecordObjCValue, IntegerValue {}
extension UInt: CKRecordValueProtocol, __CKRecordObjCValue, IntegerValue {}
extension UInt8: CKRecordValueProtocol, __CKRecordObjCValue, IntegerValue {}
extension UInt16: CKRecordValueProtocol, __CKRecordObjCValue, IntegerValue {}
extension UInt32: CKRecordValueProtocol, __CKRecordObjCValue, IntegerValue {}
extension UInt64: CKRecordValueProtocol, __CKRecordObjCValue, IntegerValue {}

extension Array: CKRecordValueProtocol where Element: CKRecordValueProtocol {
    public var _fieldContent: _FieldContent { .init(.list(map(\._fieldContent.content))) }
}

extension Array: __CKRecordObjCValue where Element: CKRecordValueProtocol {}

// MARK: Foundation's classes

extension NSString: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent { .init(.plain(.string(String(describing: self)))) }
}

extension NSDate: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent { .init(.plain(.date(timeIntervalSinceReferenceDate))) }
}

extension NSData: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent { .init(.plain(.data([UInt8](Data(referencing: self))))) }
}

extension NSNumber: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent {
        switch UInt8(bitPattern: objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): .init(.plain(.double(doubleValue)))
        case UInt8(ascii: "Q"), UInt8(ascii: "L"): .init(.integer(uint64Value))
        default: .init(.plain(.int64(int64Value)))
        }
    }
}

extension NSArray: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent {
        .init(.list(map { ($0 as? any CKRecordValueProtocol)?._fieldContent.content ?? .mistake(of: $0) }))
    }
}

// MARK: CloudKit's own

extension CKReference: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent { .init(.reference(self)) }
}

extension CKAsset: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent { .init(.asset(self)) }
}

extension CLLocation: CKRecordValueProtocol, __CKRecordObjCValue {
    public var _fieldContent: _FieldContent {
        .init(
            .plain(
                .location(
                    .init(
                        latitude: coordinate.latitude, longitude: coordinate.longitude, altitude: altitude,
                        horizontalAccuracy: horizontalAccuracy, verticalAccuracy: verticalAccuracy, course: course,
                        speed: speed, timestamp: timestamp.timeIntervalSinceReferenceDate))))
    }
}
