/// The value of one key of a record (docs/format.md §16).
///
/// Two values are equal if their encodings are: every bit of a double counts, so a NaN equals itself and −0 differs
/// from 0, and texts are compared by their bytes. Queries use their own comparison.
///
/// ```swift
/// let title = FieldValue.string("Groceries")
/// let tags = FieldValue.list(try FieldList([.string("home"), .string("weekly")]))
/// let bytes = try title.encoded()
/// try FieldValue(decoding: bytes[...]) == title
/// ```
public enum FieldValue: Sendable {
    case string(String)
    case int64(Int64)
    case double(Double)
    /// A date in seconds since 2001-01-01T00:00:00Z.
    case date(Double)
    case data([UInt8])
    case location(Location)
    case reference(Reference)
    case asset(Asset)
    case list(FieldList)
    /// An encrypted value, whose kind is sealed too.
    case sealed(Sealed)

    public static let maximumBytes = 32 << 20

    /// A location, with all parts of a `CLLocation` that CloudKit keeps.
    public struct Location: Sendable {
        public var latitude: Double
        public var longitude: Double
        public var altitude: Double
        public var horizontalAccuracy: Double
        public var verticalAccuracy: Double
        public var course: Double
        public var speed: Double
        /// The time in seconds since 2001-01-01T00:00:00Z.
        public var timestamp: Double

        public init(
            latitude: Double, longitude: Double, altitude: Double = 0, horizontalAccuracy: Double = 0,
            verticalAccuracy: Double = -1, course: Double = -1, speed: Double = -1, timestamp: Double = 0
        ) {
            self.latitude = latitude
            self.longitude = longitude
            self.altitude = altitude
            self.horizontalAccuracy = horizontalAccuracy
            self.verticalAccuracy = verticalAccuracy
            self.course = course
            self.speed = speed
            self.timestamp = timestamp
        }
    }

    /// A link to another record.
    public struct Reference: Sendable, Hashable {
        public enum Action: UInt8, Sendable, CaseIterable {
            case none, deleteSelf
        }

        public var target: RecordKey
        public var action: Action
        /// True if the user who saved this `deleteSelf` reference lacked write permission on its target (docs/rules.md
        /// §5.12). The store sets it with each save, and equality ignores it.
        public var isLoose = false

        public init(_ target: RecordKey, action: Action = .none) {
            self.target = target
            self.action = action
        }

        public static func == (left: Self, right: Self) -> Bool {
            left.target == right.target && left.action == right.action
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(target)
            hasher.combine(action)
        }
    }

    /// A file, identified by its content.
    public struct Asset: Sendable, Hashable {
        public static let hashBytes = 32

        /// The BLAKE2b-256 hash of the file's bytes.
        public var hash: ContentHash
        public var size: UInt64

        public init(hash: ContentHash, size: UInt64) {
            self.hash = hash
            self.size = size
        }
    }

    /// An encrypted value, which can be read only with its key.
    public struct Sealed: Sendable, Hashable {
        public static let nonceBytes = 24

        public var keyID: UInt64
        public var nonce: [UInt8]
        /// The encrypted bytes, with the authentication tag at the end.
        public var ciphertext: [UInt8]

        public init(keyID: UInt64, nonce: [UInt8], ciphertext: [UInt8]) {
            self.keyID = keyID
            self.nonce = nonce
            self.ciphertext = ciphertext
        }
    }

    public var kind: FieldKind {
        switch self {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .date: .date
        case .data: .data
        case .location: .location
        case .reference: .reference
        case .asset: .asset
        case .list(let list): list.kind
        case .sealed: .sealed
        }
    }
}

/// Values of one kind, in order. The empty list has no kind and fits every kind.
///
/// ```swift
/// let numbers = try FieldList([.int64(1), .int64(2)])
/// numbers.kind == FieldKind.int64.list
/// ```
public struct FieldList: Sendable, Hashable {
    public static let maximumCount = 1 << 20
    public static let empty = FieldList()

    public let elements: [FieldValue]

    private init() { elements = [] }

    /// - Throws: ``StrataError`` if the elements differ in kind, are lists or encrypted, or are too many.
    public init(_ elements: [FieldValue]) throws {
        try StrataError.check("a list's count", count: elements.count, atMost: Self.maximumCount)
        if let kind = elements.first?.kind {
            guard kind.isScalar, elements.allSatisfy({ $0.kind == kind }) else {
                throw StrataError(
                    .invalidArgument,
                    "The elements of a list must be of one kind, and neither lists nor encrypted values.",
                    .init(found: elements.first { !$0.kind.isScalar || $0.kind != kind }.map { "\($0.kind)" }))
            }
        }
        self.elements = elements
    }

    public var kind: FieldKind { elements.first?.kind.list ?? .emptyList }
}

/// The kind of a value, known from its first byte without decoding. The numbers are on disk.
public struct FieldKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    // Computed, so that a comparison in another module needs no call.
    @inlinable
    public static var string: Self { Self(rawValue: 1) }
    @inlinable
    public static var int64: Self { Self(rawValue: 2) }
    @inlinable
    public static var double: Self { Self(rawValue: 3) }
    @inlinable
    public static var date: Self { Self(rawValue: 4) }
    @inlinable
    public static var data: Self { Self(rawValue: 5) }
    public static let location = Self(rawValue: 6)
    public static let reference = Self(rawValue: 7)
    public static let asset = Self(rawValue: 8)
    public static let emptyList = Self(rawValue: 0x40)
    public static let sealed = Self(rawValue: 0x81)

    static let scalarNames = ["", "string", "int64", "double", "date", "data", "location", "reference", "asset"]

    public var isList: Bool { rawValue & 0xC0 == 0x40 }
    public var isSealed: Bool { rawValue & 0x80 != 0 }
    /// The bits that mark assets, lists of assets and encrypted values. The other known kinds have none of them.
    public static let specialBits: UInt8 = 0x88
    var isScalar: Bool { rawValue > 0 && rawValue < UInt8(Self.scalarNames.count) }

    /// The kind of a list's elements; for other kinds, the kind itself.
    public var element: FieldKind { isList ? Self(rawValue: rawValue & 0x3F) : self }
    /// The kind of a list with elements of this kind.
    public var list: FieldKind { Self(rawValue: rawValue | 0x40) }

    public var description: String {
        if isScalar { return Self.scalarNames[Int(rawValue)] }
        if self == .emptyList { return "empty list" }
        if isList, element.isScalar { return "list of \(element)" }
        return self == .sealed ? "encrypted" : "unknown value \(rawValue)"
    }
}
