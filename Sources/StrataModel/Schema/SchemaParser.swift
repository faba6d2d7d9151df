/// Parses CloudKit's schema language (docs/schema.md).
struct SchemaParser {
    private var lexer: SchemaLexer
    private var token: SchemaToken
    private var schema = SchemaDefinition()
    private var roleNames = Set<String>()
    private var typeNames = Set<String>()
    /// The container's own roles in grants; a role may be created after its grants.
    private var grantedRoles: [SchemaToken] = []

    init(_ text: String) throws {
        lexer = SchemaLexer(text)
        token = try lexer.next()
    }

    mutating func parse() throws -> SchemaDefinition {
        try take("DEFINE")
        try take("SCHEMA")
        while token.kind != .end {
            if token.isKeyword("CREATE") {
                try parseRole()
            } else if token.isKeyword("RECORD") {
                try parseRecordType()
            } else {
                throw token.mistake(expected: "CREATE ROLE, RECORD TYPE or the end of the text")
            }
            try take(symbol: ";")
        }
        if let role = grantedRoles.first(where: { !roleNames.contains($0.text) }) {
            throw role.mistake(expected: "a role that the schema creates, \"_creator\", \"_icloud\" or \"_world\"")
        }
        return schema
    }

    // MARK: Statements

    private mutating func parseRole() throws {
        try take("CREATE")
        try take("ROLE")
        let name = try takeName("a role's name")
        guard roleNames.insert(name.text).inserted else {
            throw name.mistake(expected: "a role's name that is not used before")
        }
        try checkRoom(schema.roles.count, name, "roles")
        schema.roles.append(name.text)
    }

    private mutating func parseRecordType() throws {
        try take("RECORD")
        try take("TYPE")
        let name = try takeName("a record type's name")
        guard typeNames.insert(name.text).inserted else {
            throw name.mistake(expected: "a record type's name that is not used before")
        }
        try checkRoom(schema.recordTypes.count, name, "record types")
        var type = SchemaDefinition.RecordType(name.text)
        var fieldNames = Set<String>()
        try take(symbol: "(")
        while !token.isSymbol(")") {
            if token.isKeyword("GRANT") {
                try checkRoom(type.grants.count, token, "grants")
                type.grants.append(try parseGrant())
            } else {
                let start = token
                try checkRoom(type.fields.count, start, "fields")
                let field = try parseField()
                guard fieldNames.insert(field.name).inserted else {
                    throw start.mistake(expected: "a field's name that is not used before in \(name.text)")
                }
                type.fields.append(field)
            }
            if token.isSymbol(",") {
                try advance()
            } else if !token.isSymbol(")") {
                throw token.mistake(expected: "a comma or )")
            }
        }
        try take(symbol: ")")
        type.grants = SchemaGrant.merged(type.grants)
        schema.recordTypes.append(type)
    }

    private func checkRoom(_ count: Int, _ token: SchemaToken, _ what: StaticString) throws {
        guard count < FieldTable.maximumCount else {
            throw token.mistake(expected: "at most \(FieldTable.maximumCount) \(what)", found: "one more")
        }
    }

    private mutating func parseGrant() throws -> SchemaGrant {
        try take("GRANT")
        var permissions: SchemaGrant.Permissions = []
        while true {
            if token.isKeyword("READ") {
                permissions.insert(.read)
            } else if token.isKeyword("CREATE") {
                permissions.insert(.create)
            } else if token.isKeyword("WRITE") {
                permissions.insert(.write)
            } else {
                throw token.mistake(expected: "READ, CREATE or WRITE")
            }
            try advance()
            guard token.isSymbol(",") else { break }
            try advance()
        }
        try take("TO")
        if token.kind == .quoted, SchemaName.systemRoles.contains(token.text) {
            return SchemaGrant(try takeToken().text, permissions)
        }
        let role = try takeName("a role's name")
        grantedRoles.append(role)
        return SchemaGrant(role.text, permissions)
    }

    // MARK: Fields

    private mutating func parseField() throws -> SchemaDefinition.Field {
        let systemKind = token.kind == .quoted ? SchemaName.systemKind(of: token.text) : nil
        let name = systemKind == nil ? try takeName("a field's name") : try takeToken()
        var field = SchemaDefinition.Field(name.text, .string)
        let kindToken = token
        (field.kind, field.isEncrypted) = try parseKind()
        if let systemKind, field.kind != systemKind || field.isEncrypted {
            throw kindToken.mistake(expected: "\(systemKind.schemaName), the type of the system field \(name.text)")
        }
        while let index = index(token) {
            let possible = field.kind.possibleIndexes(isEncrypted: field.isEncrypted)
            guard possible.contains(index) else {
                let kind = (field.isEncrypted ? "an encrypted " : "") + field.kind.schemaName
                throw token.mistake(
                    expected: possible.isEmpty
                        ? "no index, because \(kind) cannot have one"
                        : "an index that \(kind) can have: \(possible.schemaNames)")
            }
            guard field.indexes.insert(index).inserted else {
                throw token.mistake(expected: "each index of a field once")
            }
            try advance()
        }
        return field
    }

    private func index(_ token: SchemaToken) -> SchemaField.Indexes? {
        if token.isKeyword("QUERYABLE") { return .queryable }
        if token.isKeyword("SORTABLE") { return .sortable }
        return token.isKeyword("SEARCHABLE") ? .searchable : nil
    }

    private mutating func parseKind() throws -> (kind: FieldKind, isEncrypted: Bool) {
        var isEncrypted = false
        if token.isKeyword("ENCRYPTED") {
            isEncrypted = true
            try advance()
        }
        guard token.isKeyword("LIST") else {
            return (try parseScalar(isEncrypted: isEncrypted), isEncrypted)
        }
        try advance()
        try take(symbol: "<")
        // Apple's grammar has the keyword inside, before the element; outside it has the same meaning.
        if token.isKeyword("ENCRYPTED"), !isEncrypted {
            isEncrypted = true
            try advance()
        }
        let element = try parseScalar(isEncrypted: isEncrypted)
        try take(symbol: ">")
        return (element.list, isEncrypted)
    }

    private mutating func parseScalar(isEncrypted: Bool) throws -> FieldKind {
        if token.isKeyword("NUMBER") { return try parseNumber() }
        let kind = FieldKind.scalars.first { kind in
            token.kind == .word && isSameText(kind.schemaName, token.text.uppercased())
        }
        guard let kind, !isEncrypted || ![.reference, .asset].contains(kind) else {
            let names = FieldKind.scalars.filter { !isEncrypted || ![.reference, .asset].contains($0) }
            let list = isEncrypted ? "" : ", LIST<…>"
            throw token.mistake(expected: "a type: " + names.map(\.schemaName).joined(separator: ", ") + list)
        }
        try advance()
        return kind
    }

    /// Parses a number whose type the service could not infer; here the type must be stated.
    private mutating func parseNumber() throws -> FieldKind {
        try advance()
        try take("PREFERRED")
        try take("AS")
        let kind: FieldKind
        if token.isKeyword("INT64") {
            kind = .int64
        } else if token.isKeyword("DOUBLE") {
            kind = .double
        } else {
            throw token.mistake(expected: "INT64 or DOUBLE")
        }
        try advance()
        return kind
    }

    // MARK: Words

    private mutating func advance() throws { token = try lexer.next() }

    private mutating func takeToken() throws -> SchemaToken {
        let taken = token
        try advance()
        return taken
    }

    private mutating func take(_ keyword: StaticString) throws {
        guard token.isKeyword(keyword) else { throw token.mistake(expected: "\(keyword)") }
        try advance()
    }

    private mutating func take(symbol: StaticString) throws {
        guard token.isSymbol(symbol) else { throw token.mistake(expected: "\(symbol)") }
        try advance()
    }

    private mutating func takeName(_ what: String) throws -> SchemaToken {
        guard token.kind == .word || token.kind == .quoted else { throw token.mistake(expected: what) }
        if token.kind == .word, SchemaName.isReserved(token.text) {
            throw token.mistake(expected: "\(what); this word is a name only in double quotes")
        }
        if token.kind == .word, token.text.utf8.first == UInt8(ascii: "_") {
            throw token.mistake(expected: "\(what); names of the system are written in double quotes")
        }
        guard SchemaName.isIdentifier(token.text) else {
            throw token.mistake(
                expected: "\(what): a letter, then letters, digits and underscores, "
                    + "\(SchemaName.maximumCharacters) at most")
        }
        return try takeToken()
    }
}

extension SchemaDefinition {
    /// The maximum length of a text to parse.
    public static let maximumTextBytes = 64 << 20

    /// Parses CloudKit's schema language, as `cktool` and the console export it.
    ///
    /// - Throws: ``StrataError`` whose context has the line and the column of a mistake, with the expected and the
    ///   found token.
    public init(reading text: String) throws {
        try StrataError.check("the bytes of a schema", count: text.utf8.count, atMost: Self.maximumTextBytes)
        var parser = try SchemaParser(text)
        self = try parser.parse()
    }
}
