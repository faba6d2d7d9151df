import StrataModel

/// A constant in a predicate, or the value of a record's field for comparisons.
public enum PredicateValue: Sendable, Hashable {
    case null
    case string(String)
    case int64(Int64)
    case double(Double)
    /// Seconds since 2001-01-01T00:00:00Z.
    case date(Double)
    case data([UInt8])
    case location(latitude: Double, longitude: Double)
    case reference(Target)
    case list([PredicateValue])
    /// A value that exists but cannot be compared: an asset or an encrypted value. Never a constant.
    case opaque

    /// The target of a reference: predicates ignore its action.
    public struct Target: Sendable, Hashable {
        public var recordName: String
        public var zoneName: String
        public var ownerName: String

        public init(recordName: String, zoneName: String, ownerName: String) {
            self.recordName = recordName
            self.zoneName = zoneName
            self.ownerName = ownerName
        }
    }

    /// The nesting depth of its text.
    var depth: Int {
        switch self {
        case .null, .string, .int64, .double, .opaque: 1
        case .date, .data: 2
        case .location, .reference: 3
        case .list(let values): 1 + (values.lazy.map(\.depth).max() ?? 0)
        }
    }

    /// The type's name in the schema language.
    public var typeName: String {
        switch self {
        case .null: "NULL"
        case .list(let values): values.first.map { "LIST<\($0.typeName)>" } ?? "LIST"
        default: kind?.schemaName ?? "something that cannot be compared"
        }
    }

    /// The kind of fields with such values; nil for null, lists and opaque values.
    package var kind: FieldKind? {
        switch self {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .date: .date
        case .data: .data
        case .location: .location
        case .reference: .reference
        case .null, .list, .opaque: nil
        }
    }

    public var number: Double? {
        switch self {
        case .int64(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }
}
