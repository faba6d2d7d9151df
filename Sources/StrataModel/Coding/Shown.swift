/// A value that declares once how tools show it: the body of an event, or a part of one. The text of the tools, their
/// JSON and its reference all follow from the fields.
///
/// ```swift
/// package static let shownFields = ShownFields<Self> {
///     Shown(.zone, after: "") { $0.zone }
///     Shown("database", "ordinal of the zone's database") { $0.database }
///     Shown("reason", "`deleted`, `purged` or `encrypted data reset`", after: "  ") { $0.reason.name }
/// }
/// ```
package protocol Described: Sendable {
    /// A title that no other described type has. That of an event is its kind.
    static var title: String { get }
    /// The fields in the order in which they are shown.
    static var shownFields: ShownFields<Self> { get }
}

/// A field of a value as tools show it.
package struct Shown<Value>: Sendable {
    /// The key in JSON; nil for a field that only the text has. A name's key is that of its ordinal, and `Name`.
    package let key: StaticString?
    package let kind: ShownKind
    package let meaning: String
    /// The condition under which the key is present; nil if it always is.
    package let condition: String?
    /// The text before the value; nil for a field that only JSON has. Zero, empty text and false are not in the text,
    /// and neither is the word for true.
    package let words: String?
    /// Returns the value of the field; nil if there is none.
    package let content: @Sendable (Value) -> ShownContent?

    package init<Part: Showable>(
        _ key: StaticString, _ meaning: String, if condition: String? = nil, after words: String? = nil,
        _ part: @escaping @Sendable (Value) -> Part?
    ) {
        (self.key, kind, self.meaning) = (key, Part.kind, meaning)
        (self.condition, self.words, content) = (condition, words, { part($0)?.shown })
    }

    /// An ordinal, which is shown with its name. The key is that of its namespace.
    package init(
        _ namespace: Namespace, _ meaning: String = "ordinal", if condition: String? = nil, after words: String? = nil,
        _ ordinal: @escaping @Sendable (Value) -> UInt64?
    ) {
        (key, kind, self.meaning) = (namespace.key, .name(namespace), meaning)
        (self.condition, self.words) = (condition, words)
        content = { ordinal($0).map { .name(namespace, $0) } }
    }

    /// An ordinal in the text only, which shows its name.
    package init(after words: String, _ namespace: Namespace, _ ordinal: @escaping @Sendable (Value) -> UInt64) {
        (key, kind, meaning, condition) = (nil, .name(namespace), "", nil)
        (self.words, content) = (words, { .name(namespace, ordinal($0)) })
    }

    /// A field of the text only.
    package init<Part: Showable>(after words: String, _ part: @escaping @Sendable (Value) -> Part?) {
        (key, kind, meaning, condition) = (nil, Part.kind, "", nil)
        (self.words, content) = (words, { part($0)?.shown })
    }
}

/// The fields of a value.
package struct ShownFields<Value>: Sendable {
    package let all: [Shown<Value>]

    package init(@Builder _ fields: () -> [Shown<Value>]) { all = fields() }

    @resultBuilder package enum Builder {
        package static func buildExpression(_ field: Shown<Value>) -> Shown<Value> { field }
        package static func buildBlock(_ fields: Shown<Value>...) -> [Shown<Value>] { fields }
    }
}

/// The content of a field.
package enum ShownContent: Sendable {
    case number(UInt64)
    case text(String)
    case flag(Bool)
    case version(Version)
    case name(Namespace, UInt64)
    case person(Person)
    case request(KeptRequest)
    case list([any Described])
}

/// The kind of a field's content.
package enum ShownKind: Sendable {
    case number, text, flag, version
    case name(Namespace)
    /// A person, whose keys stand beside those of the value.
    case person
    case list(any Described.Type)
}

/// A value that a field can have.
package protocol Showable: SendableMetatype {
    static var kind: ShownKind { get }
    var shown: ShownContent { get }
}

/// Tools show a request in words.
extension KeptRequest: Showable {
    package static var kind: ShownKind { .text }
    package var shown: ShownContent { .request(self) }
}

extension UInt64 {
    /// Nil for 0, which is not shown.
    var nonzero: UInt64? { self == 0 ? nil : self }
}

extension UInt64: Showable {
    package static var kind: ShownKind { .number }
    package var shown: ShownContent { .number(self) }
}

extension String: Showable {
    package static var kind: ShownKind { .text }
    package var shown: ShownContent { .text(self) }
}

extension Bool: Showable {
    package static var kind: ShownKind { .flag }
    package var shown: ShownContent { .flag(self) }
}

extension Version: Showable {
    package static var kind: ShownKind { .version }
    package var shown: ShownContent { .version(self) }
}

extension Person: Showable {
    package static var kind: ShownKind { .person }
    package var shown: ShownContent { .person(self) }
}

extension Array: Showable where Element: Described {
    package static var kind: ShownKind { .list(Element.self) }
    package var shown: ShownContent { .list(self) }
}

extension Namespace {
    /// The key of an ordinal in JSON, and the word for it in the text.
    package var key: StaticString {
        switch self {
        case .user: "user"
        case .device: "device"
        case .database: "database"
        case .zone: "zone"
        case .recordType: "type"
        case .field: "field"
        }
    }
}

/// Returns the name of a case in words: `private user` for `privateUser`.
func words(of value: some Any) -> String {
    "\(value)".reduce(into: "") { $0 += $1.isUppercase ? " " + $1.lowercased() : String($1) }
}

/// Returns bytes in hexadecimal.
package func hexadecimal(of bytes: [UInt8]) -> String { bytes.map { hexadecimal($0) }.joined() }
