import StrataModel

extension Person {
    /// The known parts of a person, each with the word for it.
    var lines: [(String, String)] {
        var lines: [(String, String)] = []
        if !fullName.isEmpty { lines.append(("name", Printable.escaped(fullName))) }
        if !nickname.isEmpty { lines.append(("nickname", Printable.escaped(nickname))) }
        for (what, texts) in [("e-mail", emails), ("phone", phones), ("role", roles)] {
            lines += texts.map { (what, Printable.escaped($0)) }
        }
        if discoverability != .initial { lines.append(("found", "\(discoverability)")) }
        return lines
    }
}

extension JSONWriter {
    /// Writes the keys of what is known of a person.
    mutating func write(_ person: Person) {
        let keys = ["namePrefix", "givenName", "middleName", "familyName", "nameSuffix", "nickname"]
        beginObject("nameParts")
        for (key, part) in zip(keys, person.nameParts) where !part.isEmpty {
            self.key(key)
            value(part)
        }
        endObject()
        write("emails", person.emails)
        write("phones", person.phones)
        write("roles", person.roles)
        field("discoverability", "\(person.discoverability)")
    }

    private mutating func write(_ key: StaticString, _ texts: [String]) {
        beginArray(key)
        for text in texts { value(text) }
        endArray()
    }
}
