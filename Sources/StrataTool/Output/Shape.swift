/// The shape of a JSON object: its keys in the order in which they are written, each with its meaning. Shapes write the
/// objects of `--json` and also docs/reference/json.md.
struct Shape<Value>: DescribedShape {
    let description: ShapeDescription
    /// The writers of the keys without their descriptions: each copy of those would cost more than the key.
    fileprivate let writers: [@Sendable (Value, inout JSONWriter) throws -> Void]

    /// - Parameters:
    ///   - name: a name that no other shape has.
    ///   - text: sentences about the object.
    init(_ name: String, _ text: String = "", @KeyBuilder<Value> _ keys: () -> [Key<Value>]) {
        let keys = keys()
        writers = keys.map(\.write)
        description = ShapeDescription(name: name, text: text, keys: keys.flatMap(\.descriptions))
    }
}

protocol DescribedShape: Sendable {
    var description: ShapeDescription { get }
}

/// The description of a shape.
struct ShapeDescription: Sendable {
    let name: String
    let text: String
    let keys: [KeyDescription]
}

/// The description of a key.
struct KeyDescription: Sendable {
    let key: String
    var kind: JSONKind
    let text: String
    /// The condition under which the key is present; nil if it always is.
    var condition: String?
    /// The shape whose keys it is one of, if that is chosen from several.
    var part: String?
}

@resultBuilder enum KeyBuilder<Value> {
    static func buildExpression(_ key: Key<Value>) -> Key<Value> { key }
    static func buildBlock(_ keys: Key<Value>...) -> [Key<Value>] { keys }
}

/// A key of an object, or several, with their meaning and the way to find their values.
struct Key<Value>: Sendable {
    fileprivate let descriptions: [KeyDescription]
    fileprivate let write: @Sendable (Value, inout JSONWriter) throws -> Void

    /// A key that is always present.
    init<Part: JSONValue>(
        _ key: StaticString, _ text: String, _ part: @escaping @Sendable (Value) throws -> Part
    ) {
        descriptions = [KeyDescription(key: key.description, kind: Part.jsonKind, text: text)]
        write = { value, json in try json.field(key, try part(value)) }
    }

    /// A key that is absent if it has no value.
    init<Part: JSONValue>(
        _ key: StaticString, _ text: String, if condition: String,
        _ part: @escaping @Sendable (Value) throws -> Part?
    ) {
        descriptions = [
            KeyDescription(key: key.description, kind: Part.jsonKind, text: text, condition: condition)
        ]
        write = { value, json in
            if let part = try part(value) { try json.field(key, part) }
        }
    }

    /// A key with an object.
    init<Part>(
        _ key: StaticString, _ text: String, as shape: Shape<Part>, if condition: String? = nil,
        _ part: @escaping @Sendable (Value) throws -> Part?
    ) {
        descriptions = [
            KeyDescription(key: key.description, kind: .object(shape.description), text: text, condition: condition)
        ]
        write = { value, json in
            if let part = try part(value) {
                json.key(key)
                try json.value(part, as: shape)
            } else if condition == nil {
                json.key(key)
                json.nullValue()
            }
        }
    }

    /// A key with an array of objects.
    init<Parts: Sequence & SendableMetatype>(
        _ key: StaticString, _ text: String, each shape: Shape<Parts.Element>, if condition: String? = nil,
        _ parts: @escaping @Sendable (Value) throws -> Parts?
    ) where Parts.Iterator: SendableMetatype {
        descriptions = [
            KeyDescription(
                key: key.description, kind: .array(of: .object(shape.description)), text: text, condition: condition)
        ]
        write = { value, json in
            guard let parts = try parts(value) else { return }
            json.beginArray(key)
            for part in parts { try json.value(part, as: shape) }
            json.endArray()
        }
    }

    /// A key with an ordinal, and one with its name if that is known.
    init(
        _ key: StaticString, name nameKey: StaticString, _ text: String, if condition: String? = nil,
        _ part: @escaping @Sendable (Value) throws -> (ordinal: UInt64, name: String?)?
    ) {
        descriptions = [
            KeyDescription(key: key.description, kind: UInt64.jsonKind, text: text, condition: condition),
            KeyDescription(
                key: nameKey.description, kind: String.jsonKind, text: "its name",
                condition: condition.map { "\($0): if known" } ?? "if known"),
        ]
        write = { value, json in
            guard let (ordinal, name) = try part(value) else { return }
            try json.field(key, ordinal, nameKey: nameKey, name: name)
        }
    }

    /// The keys of another shape.
    init<Part>(
        of shape: Shape<Part>, if condition: String? = nil, _ part: @escaping @Sendable (Value) throws -> Part?
    ) {
        descriptions = shape.description.keys.map { key in
            var key = key
            if let condition { key.condition = key.condition.map { "\(condition): \($0)" } ?? condition }
            return key
        }
        write = { value, json in
            if let part = try part(value) { try json.fields(of: part, as: shape) }
        }
    }

    /// The keys of one of several shapes.
    init(
        oneOf shapes: [ShapeDescription], _ write: @escaping @Sendable (Value, inout JSONWriter) throws -> Void
    ) {
        descriptions = shapes.flatMap { shape in
            shape.keys.map { key in
                var key = key
                key.part = shape.name
                return key
            }
        }
        self.write = write
    }
}

extension JSONWriter {
    /// Writes an object.
    mutating func value<Value>(_ value: Value, as shape: Shape<Value>) throws {
        beginObject()
        try fields(of: value, as: shape)
        endObject()
    }

    /// Writes the keys of a shape into an open object.
    mutating func fields<Value>(of value: Value, as shape: Shape<Value>) throws {
        try shape.writers.withUnsafeBufferPointer { writers in
            for index in writers.indices { try writers[index](value, &self) }
        }
    }
}

extension Output {
    /// Writes an object on a line of its own.
    func writeJSON<Value>(_ value: Value, as shape: Shape<Value>) throws {
        var json = JSONWriter(self)
        try json.value(value, as: shape)
        try endLine()
    }

    func writeJSON<Value: Shaped>(_ value: Value) throws { try writeJSON(value, as: Value.shape) }
}
