/// The names, addresses and roles of a user, as far as the service knows them (docs/format.md §18). Empty texts and
/// lists stand for what is unknown.
package struct Person: Sendable {
    package static let maximumNameBytes = 1_024
    package static let maximumAddressBytes = 254
    package static let maximumRoleBytes = 255
    /// The number of e-mail addresses, of phone numbers, and of roles that a person may have.
    package static let maximumListCount = 100

    /// The user's answer to the question whether other users may find them by an address.
    package enum Discoverability: UInt8, Sendable, CaseIterable {
        case initial, granted, denied
    }

    package var namePrefix = ""
    package var givenName = ""
    package var middleName = ""
    package var familyName = ""
    package var nameSuffix = ""
    package var nickname = ""
    package var emails: [String] = []
    package var phones: [String] = []
    /// The roles in the public database that the container defines.
    package var roles: [String] = []
    package var discoverability = Discoverability.initial

    package init() {}

    private typealias Path<Value> = WritableKeyPath<Person, Value> & Sendable

    /// The name's parts in the order in which a full name has them, keyed by their numbers on disk.
    private static let names: [(number: UInt64, path: Path<String>)] = [
        (1, \.namePrefix), (2, \.givenName), (3, \.middleName), (4, \.familyName), (5, \.nameSuffix), (6, \.nickname),
    ]
    private static let lists: [(number: UInt64, path: Path<[String]>, limit: Int)] = [
        (8, \.emails, maximumAddressBytes), (9, \.phones, maximumAddressBytes), (10, \.roles, maximumRoleBytes),
    ]
    private static let discoverabilityKey: UInt64 = 22

    /// The parts of the name that are known, without the nickname.
    package var fullName: String {
        Self.names.dropLast().map { self[keyPath: $0.path] }.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The parts of the name, from the prefix to the nickname.
    package var nameParts: [String] {
        get { Self.names.map { self[keyPath: $0.path] } }
        set { for (name, part) in zip(Self.names, newValue) { self[keyPath: name.path] = part } }
    }

    /// The addresses by which others find the user, in the form in which they are compared.
    package var addresses: [UserAddress] {
        emails.map { UserAddress(.email, $0) } + phones.map { UserAddress(.phone, $0) }
    }

    /// Returns the encoding, which contains no ordinals; nothing for a person of whom nothing is known.
    package func encoded() throws -> [UInt8] {
        var writer = ByteWriter(reserving: 64)
        try encode(into: &writer)
        return writer.bytes
    }

    func encode(into writer: inout ByteWriter) throws {
        for (number, path) in Self.names where !self[keyPath: path].isEmpty {
            try Self.check(self[keyPath: path], atMost: Self.maximumNameBytes)
            writer.appendField(number * 2, text: self[keyPath: path])
        }
        for (number, path, limit) in Self.lists where !self[keyPath: path].isEmpty {
            let list = self[keyPath: path]
            try StrataError.check("the texts of a person", count: list.count, atMost: Self.maximumListCount)
            try writer.appendField(number * 2) { writer in
                try writer.appendList(list) { text, writer in
                    try Self.check(text, atMost: limit)
                    writer.appendString(text)
                }
            }
        }
        writer.appendField(Self.discoverabilityKey, UInt64(discoverability.rawValue))
    }

    private static func check(_ text: String, atMost limit: Int) throws {
        try StrataError.check("a text of a person", count: text.utf8.count, atMost: limit)
    }

    /// Reads the fields up to the end of the reader.
    init(from reader: ByteReader) throws {
        var fields = KeyedFields(reader)
        while var field = try fields.next() {
            if let path = Self.names.first(where: { $0.number * 2 == field.key })?.path {
                self[keyPath: path] = try field.text("a person's name", atMost: Self.maximumNameBytes)
                guard !self[keyPath: path].isEmpty else { throw field.emptyError("a person's name") }
            } else if let list = Self.lists.first(where: { $0.number * 2 == field.key }) {
                let texts = try field.value.readList("the texts of a person") {
                    try $0.readString("a text of a person", atMost: list.limit)
                }
                guard (1...Self.maximumListCount).contains(texts.count) else {
                    throw field.emptyError("the texts of a person")
                }
                try field.value.expectEnd("the texts of a person")
                self[keyPath: list.path] = texts
            } else if field.key == Self.discoverabilityKey {
                discoverability = try field.numbered("a person's discoverability")
            } else {
                try field.skip()
            }
        }
    }
}

extension Person: Hashable {
    /// The texts in order, which are compared byte by byte like all names.
    private var texts: [[String]] { [nameParts, emails, phones, roles] }

    package static func == (left: Self, right: Self) -> Bool {
        left.discoverability == right.discoverability
            && left.texts.elementsEqual(right.texts) { $0.elementsEqual($1, by: isSameText) }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(discoverability)
        for text in texts.joined() { hasher.combine(bytesOf: text) }
    }
}

extension KeyedFields.Field {
    fileprivate func emptyError(_ what: StaticString) -> StrataError {
        value.malformed(what, expected: "1 to \(Person.maximumListCount), or left out")
    }
}
