import Foundation
import StrataQuery

extension PredicateArgument {
    private static let maximumDepth = 8

    init(_ object: Any) { self.init(object, depth: 1) }

    private init(_ object: Any, depth: Int) {
        if let value = Self.scalar(object) {
            self = .value(value)
        } else if let elements = Self.elements(object), depth < Self.maximumDepth {
            self.init(elements, depth: depth)
        } else {
            self.init(contentOf: object, depth: depth)
        }
    }

    private init(_ elements: [Any], depth: Int) {
        var values: [PredicateValue] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            switch PredicateArgument(element, depth: depth + 1) {
            case .value(let value): values.append(value)
            case .unsupported(let type):
                self = .unsupported(type: "a list of \(type)")
                return
            }
        }
        self = .value(.list(values))
    }

    /// Uses the wrapped value of an optional.
    private init(contentOf object: Any, depth: Int) {
        let mirror = Mirror(reflecting: object)
        guard mirror.displayStyle == .optional, depth < Self.maximumDepth else {
            self = .unsupported(type: "\(Swift.type(of: object))")
            return
        }
        guard let content = mirror.children.first?.value else {
            self = .value(.null)
            return
        }
        self.init(content, depth: depth + 1)
    }

    private static func elements(_ object: Any) -> [Any]? {
        switch object {
        case let array as [Any]: array
        case let array as NSArray: Array(array)
        case let set as NSSet: set.allObjects
        case let set as Set<AnyHashable>: set.map(\.base)
        default: nil
        }
    }

    private static func scalar(_ object: Any) -> PredicateValue? {
        // First, because a cast to Bool or Int also succeeds for other kinds of number objects and loses the kind.
        if let number = object as? NSNumber, type(of: object) is NSNumber.Type { return value(of: number) }
        return switch object {
        case let text as String: .string(text)
        case let text as Substring: .string(String(text))
        case let text as NSString: .string(text.description)
        case let isTrue as Bool: .int64(isTrue ? 1 : 0)
        case let number as any BinaryInteger:
            Int64(exactly: number).map(PredicateValue.int64) ?? .double(Double(number))
        case let number as any BinaryFloatingPoint: .double(Double(number))
        case let number as Decimal: .double(NSDecimalNumber(decimal: number).doubleValue)
        case let date as Date: .date(date.timeIntervalSinceReferenceDate)
        case let date as NSDate: .date(date.timeIntervalSinceReferenceDate)
        case let data as Data: .data([UInt8](data))
        case let data as NSData: .data([UInt8](Data(referencing: data)))
        case let place as CLLocation:
            .location(latitude: place.coordinate.latitude, longitude: place.coordinate.longitude)
        case let id as CKRecordID: .reference(PredicateValue.Target(id))
        case let reference as CKReference: .reference(PredicateValue.Target(reference.recordID))
        case let record as CKRecord: .reference(PredicateValue.Target(record.recordID))
        case is NSNull: .null
        default: nil
        }
    }

    private static func value(of number: NSNumber) -> PredicateValue {
        let isFraction = ["d", "f"].contains(String(cString: number.objCType))
        if !isFraction, let whole = Int64(exactly: number) { return .int64(whole) }
        return .double(number.doubleValue)
    }
}

extension PredicateValue.Target {
    init(_ id: CKRecordID) {
        self.init(recordName: id.recordName, zoneName: id.zoneID.zoneName, ownerName: id.zoneID.ownerName)
    }
}
