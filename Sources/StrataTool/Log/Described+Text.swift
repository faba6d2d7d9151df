import StrataModel

extension Event {
    /// Returns the body; nil for a kind that this release does not know.
    func described() throws -> (any Described)? {
        kind == .nameInterned ? try InternedName(decoding: body) : try kind.body?.init(decoding: body)
    }

    /// Returns the record of an event of a record, and its type.
    func record() throws -> (key: RecordKey, type: UInt64) {
        try body.withUnsafeBytes { bytes in
            let record = try RecordEvent(kind, bytes)
            return (try record.key, record.type)
        }
    }
}

extension Described {
    /// Returns the fields in text for people, escaped.
    func text(_ names: KnownNames) -> String {
        var text = ""
        for field in Self.shownFields.all {
            guard let words = field.words, let content = field.content(self)?.text(names) else { continue }
            text += words
            text += content
        }
        return text
    }
}

extension ShownContent {
    /// The text of the content; nil if it is not in the text.
    fileprivate func text(_ names: KnownNames) -> String? {
        switch self {
        case .number(0), .flag(false), .text(""), .name(_, 0): nil
        case .number(let number): "\(number)"
        case .text(let text): Printable.escaped(text)
        case .flag: ""
        case .version(let version): version.tag
        case .name(let namespace, let ordinal): names.shown(namespace, ordinal)
        case .request(let request): AuditText.request(request.bytes, byteCount: request.byteCount)
        case .person(let person): person.lines.map { "\($0.0) \($0.1)" }.joined(separator: ", ").nonempty
        case .list(let parts): parts.map { $0.text(names) }.joined(separator: ", ").nonempty
        }
    }
}
