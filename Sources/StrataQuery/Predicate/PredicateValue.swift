import StrataModel

/// A constant in a predicate, or what a record's field is compared as.
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
    /// Something that is there, and cannot be compared with anything: an asset, or what is encrypted. Not a constant.
    case opaque

    /// What a reference points at: predicates do not look at its action.
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

    /// Levels of its text.
    var depth: Int {
        switch self {
        case .null, .string, .int64, .double, .opaque: 1
        case .date, .data: 2
        case .location, .reference: 3
        case .list(let values): 1 + (values.lazy.map(\.depth).max() ?? 0)
        }
    }

    /// As the schema language names it.
    public var typeName: String {
        switch self {
        case .null: "NULL"
        case .list(let values): values.first.map { "LIST<\($0.typeName)>" } ?? "LIST"
        default: kind?.schemaName ?? "something that cannot be compared"
        }
    }

    /// Of the fields that have such values; nil for none, a list, and what is opaque.
    var kind: FieldKind? {
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
