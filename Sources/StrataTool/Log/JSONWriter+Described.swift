import StrataModel

extension ShapeDescription {
    /// The keys of a described type.
    init<Value: Described>(of _: Value.Type) {
        self.init(name: Value.title, text: "", keys: Value.shownFields.all.flatMap(KeyDescription.keys))
    }
}

extension KeyDescription {
    /// Returns the keys that a field has in JSON.
    fileprivate static func keys<Value>(of field: Shown<Value>) -> [KeyDescription] {
        guard let key = field.key?.description else { return [] }
        func described(_ kind: JSONKind) -> KeyDescription {
            KeyDescription(key: key, kind: kind, text: field.meaning, condition: field.condition)
        }
        switch field.kind {
        case .number: return [described(UInt64.jsonKind)]
        case .text: return [described(String.jsonKind)]
        case .flag: return [described(Bool.jsonKind)]
        case .version: return [described(Version.jsonKind)]
        case .person: return Person.shape.description.keys
        case .list(let part): return [described(.array(of: .object(ShapeDescription(of: part))))]
        case .name(let namespace):
            let condition = field.condition.map { "\($0): if known" } ?? "if known"
            let name = KeyDescription(
                key: "\(namespace.key)Name", kind: String.jsonKind, text: "its name", condition: condition)
            return [described(UInt64.jsonKind), name]
        }
    }
}

extension JSONWriter {
    /// Writes the keys of a value into an open object.
    mutating func fields<Value: Described>(of value: Value, _ names: KnownNames) throws {
        for field in Value.shownFields.all {
            guard let key = field.key, let content = field.content(value) else { continue }
            try write(content, under: key, names)
        }
    }

    private mutating func write(_ content: ShownContent, under key: StaticString, _ names: KnownNames) throws {
        switch content {
        case .number(let number): try field(key, number)
        case .text(let text): try field(key, text)
        case .flag(let flag): try field(key, flag)
        case .version(let version): try field(key, version)
        case .request(let request): try field(key, AuditText.request(request.bytes, byteCount: request.byteCount))
        case .person(let person): try fields(of: person, as: Person.shape)
        case .name(let namespace, let ordinal):
            try field(key, ordinal)
            guard let name = names.name(namespace, ordinal) else { return }
            self.key("\(namespace.key)Name")
            value(name)
        case .list(let parts):
            beginArray(key)
            for part in parts {
                beginObject()
                try fields(of: part, names)
                endObject()
            }
            endArray()
        }
    }
}
