import StrataModel
import StrataRules

/// Prints a field value in full. For people, data is shortened.
struct ValueDetail {
    private static let mostDataBytes = 32

    let state: ContainerState
    /// The name of the record's zone.
    let zone: String

    /// Returns the value on one line, for people.
    func text(of value: FieldValue) throws -> String {
        switch value {
        case .data(let bytes):
            let digits = bytes.prefix(Self.mostDataBytes).map { hexadecimal($0) }.joined()
            let rest = bytes.count > Self.mostDataBytes ? "…" : ""
            return "<\(bytes.count.counted("byte")): \(digits)\(rest)>"
        case .location(let place):
            return "<\(place.latitude), \(place.longitude), altitude \(place.altitude), accuracy "
                + "\(place.horizontalAccuracy) and \(place.verticalAccuracy), course \(place.course), speed "
                + "\(place.speed), \(ValueText.text(of: .date(place.timestamp)))>"
        case .reference(let reference):
            let place = try otherZone(of: reference).map { " in " + Printable.escaped($0) } ?? ""
            return ValueText.text(of: value) + place + ValueText.mark(reference.action)
        case .asset(let asset):
            return "<asset of \(asset.size.counted("byte")), \(asset.hash)>"
        case .list(let list): return "[" + (try list.elements.map(text)).joined(separator: ", ") + "]"
        default: return ValueText.text(of: value)
        }
    }

    static let shape = Shape<(value: FieldValue, detail: ValueDetail)>("A value in full") {
        Key("type", "as in a field of an event") { "\($0.value.kind)" }
        Key("value", "its content, with more parts") { ValueContent(value: $0.value, detail: $0.detail) }
    }

    /// Returns nil for a record of the same zone.
    fileprivate func otherZone(of reference: FieldValue.Reference) throws -> String? {
        let name = try state.zone(reference.target.zone)
        return isSameText(name, zone) ? nil : name
    }
}

/// The content of a value without its type.
struct ValueContent: JSONValue {
    let value: FieldValue
    /// Adds the parts that only `get`, `feed`, `play` and other commands about single records print.
    let detail: ValueDetail?

    static var jsonKind: JSONKind { "[content](#contents-of-values)" }

    /// The section of the reference that says how the types are written.
    static let reference = """
        | type | content |
        |---|---|
        | `string`, `int64`, `double` | a text or a number, and `"nan"`, `"inf"` and `"-inf"` for numbers that JSON \
        lacks |
        | `date` | microseconds since 1970, or null for a date that is too far away |
        | `data` | base64 |
        | `location` | object: `latitude`, `longitude`, `altitude`, and in full also \
        `horizontalAccuracy`, `verticalAccuracy`, `course`, `speed` and `time` |
        | `reference` | object: `record` (its name), `deletesWithTarget`, `loose` (true, if it or a parent is \
        loose, [rules.md](../rules.md) §5.12), and in full `zone`, if it is another one |
        | `asset` | object: `bytes` (its size), and in full also `hash` |
        | `encrypted` | null, or with `--reveal` the decrypted value |
        | `list of …` | array of these, empty for `empty list` |
        """

    func write(to json: inout JSONWriter) throws {
        switch value {
        case .string(let text): json.value(text)
        case .int64(let number): json.value(number)
        case .double(let number): json.value(number)
        case .date(let seconds): try ValueText.microseconds(seconds).write(to: &json)
        case .data(let bytes): json.value(Base64.text(bytes))
        case .sealed: json.nullValue()
        case .list(let list):
            json.beginArray()
            for element in list.elements { try ValueContent(value: element, detail: detail).write(to: &json) }
            json.endArray()
        default:
            json.beginObject()
            try writeParts(to: &json)
            json.endObject()
        }
    }

    private func writeParts(to json: inout JSONWriter) throws {
        switch value {
        case .location(let place):
            try json.field("latitude", place.latitude)
            try json.field("longitude", place.longitude)
            try json.field("altitude", place.altitude)
            guard detail != nil else { return }
            try json.field("horizontalAccuracy", place.horizontalAccuracy)
            try json.field("verticalAccuracy", place.verticalAccuracy)
            try json.field("course", place.course)
            try json.field("speed", place.speed)
            try json.field("time", ValueText.microseconds(place.timestamp))
        case .reference(let reference):
            try json.field("record", reference.target.name)
            try json.fields(ofLink: reference)
            if let zone = try detail?.otherZone(of: reference) { try json.field("zone", zone) }
        case .asset(let asset):
            try json.field("bytes", asset.size)
            if detail != nil { try json.field("hash", "\(asset.hash)") }
        default: break
        }
    }
}

extension JSONWriter {
    /// Writes the action of a reference.
    mutating func fields(ofLink reference: FieldValue.Reference) throws {
        try field("deletesWithTarget", reference.action == .deleteSelf)
        if reference.isLoose { try field("loose", true) }
    }
}

/// The values of a record by key, in order.
struct ValueMap: JSONValue {
    let fields: [(key: String, value: FieldValue)]
    /// Writes the values in full.
    var detail: ValueDetail?

    static var jsonKind: JSONKind { .map(of: FieldValue.jsonKind) }

    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        for (key, value) in fields {
            json.key(key)
            if let detail {
                try json.value((value, detail), as: ValueDetail.shape)
            } else {
                try value.write(to: &json)
            }
        }
        json.endObject()
    }
}
