import StrataLog
import StrataModel

/// A value in JSON output.
protocol JSONValue: SendableMetatype {
    static var jsonKind: JSONKind { get }
    func write(to json: inout JSONWriter) throws
}

/// A value that is an object with keys of one shape.
protocol Shaped: JSONValue {
    static var shape: Shape<Self> { get }
}

/// The kind of a value, as the reference of JSON calls it.
struct JSONKind: Sendable, ExpressibleByStringLiteral {
    let text: String
    /// The shapes of the objects in the value.
    var shapes: [ShapeDescription] = []

    init(stringLiteral text: String) { self.text = text }

    private init(_ text: String, _ shapes: [ShapeDescription]) { (self.text, self.shapes) = (text, shapes) }

    static func object(_ shape: ShapeDescription) -> Self {
        Self("[object](#\(JSONReference.anchor(of: shape.name)))", [shape])
    }

    static func array(of kind: Self) -> Self { Self("array of \(kind.text)", kind.shapes) }

    static func map(of kind: Self) -> Self { Self("object: by key, an \(kind.text)", kind.shapes) }

    var orNull: Self { Self("\(text) or null", shapes) }
}

extension Shaped {
    static var jsonKind: JSONKind { .object(shape.description) }
    func write(to json: inout JSONWriter) throws { try json.value(self, as: Self.shape) }
}

extension String: JSONValue {
    static var jsonKind: JSONKind { "text" }
    func write(to json: inout JSONWriter) { json.value(self) }
}

extension String {
    /// Nil for an empty text.
    var nonempty: String? { isEmpty ? nil : self }
}

extension JSONValue where Self: FixedWidthInteger {
    static var jsonKind: JSONKind { "number" }
    func write(to json: inout JSONWriter) {
        if Self.isSigned { json.value(Int64(self)) } else { json.value(UInt64(self)) }
    }
}

extension UInt64: JSONValue {}
extension Int64: JSONValue {}
extension Int: JSONValue {}
extension UInt32: JSONValue {}

extension Double: JSONValue {
    static var jsonKind: JSONKind { "number" }
    func write(to json: inout JSONWriter) { json.value(self) }
}

extension Bool: JSONValue {
    static var jsonKind: JSONKind { "true or false" }
    func write(to json: inout JSONWriter) { json.value(self) }
}

extension Identifier: JSONValue {
    static var jsonKind: JSONKind { "id" }
    func write(to json: inout JSONWriter) { json.value(self) }
}

extension Version: JSONValue {
    static var jsonKind: JSONKind { "change tag" }
    func write(to json: inout JSONWriter) { json.value(tag) }
}

/// All hexadecimal digits of a number.
struct Hexadecimal: JSONValue {
    let number: UInt32

    init(_ number: UInt32) { self.number = number }

    static var jsonKind: JSONKind { "8 digits" }
    func write(to json: inout JSONWriter) { json.value(hexadecimal: number) }
}

extension FieldValue: JSONValue {
    static var jsonKind: JSONKind { .object(ValueText.shape.description) }
    func write(to json: inout JSONWriter) throws { try json.value(self, as: ValueText.shape) }
}

extension Optional: JSONValue where Wrapped: JSONValue {
    static var jsonKind: JSONKind { Wrapped.jsonKind.orNull }
    func write(to json: inout JSONWriter) throws {
        if let self { try self.write(to: &json) } else { json.nullValue() }
    }
}

extension Array: JSONValue where Element: JSONValue {
    static var jsonKind: JSONKind { .array(of: Element.jsonKind) }
    func write(to json: inout JSONWriter) throws {
        json.beginArray()
        for element in self { try element.write(to: &json) }
        json.endArray()
    }
}

extension OffsetRanges: JSONValue {
    private static let range = Shape<ClosedRange<UInt64>>("A range of offsets") {
        Key("first", "the first offset") { $0.lowerBound }
        Key("last", "the last offset") { $0.upperBound }
    }

    static var jsonKind: JSONKind { .array(of: .object(range.description)) }
    func write(to json: inout JSONWriter) throws {
        json.beginArray()
        for range in ranges { try json.value(range, as: Self.range) }
        json.endArray()
    }
}
