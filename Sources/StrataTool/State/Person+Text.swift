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

extension Person: Shaped {
    static let shape = Shape<Self>("A person") {
        Key("nameParts", "the parts of the name", as: nameParts) { $0 }
        Key("emails", "the e-mail addresses") { $0.emails }
        Key("phones", "the phone numbers") { $0.phones }
        Key("roles", "the custom roles of the public database") { $0.roles }
        Key("discoverability", "`initial`, `granted` or `denied`") { "\($0.discoverability)" }
    }

    static let nameParts = Shape<Person>("The parts of a name") {
        Key("namePrefix", "such as Dr.", if: "if known") { $0.namePrefix.nonempty }
        Key("givenName", "the given name", if: "if known") { $0.givenName.nonempty }
        Key("middleName", "the middle name", if: "if known") { $0.middleName.nonempty }
        Key("familyName", "the family name", if: "if known") { $0.familyName.nonempty }
        Key("nameSuffix", "such as Jr.", if: "if known") { $0.nameSuffix.nonempty }
        Key("nickname", "the nickname", if: "if known") { $0.nickname.nonempty }
    }
}
