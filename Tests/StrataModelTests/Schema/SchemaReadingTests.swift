import StrataModel
import Testing

/// What of CloudKit's schema language is read: docs/schema.md.
@Suite("Reading a schema")
struct SchemaReadingTests {
    private typealias Field = SchemaDefinition.Field

    private static func fields(_ text: String) throws -> [SchemaDefinition.Field] {
        try #require(try SchemaDefinition(reading: "DEFINE SCHEMA RECORD TYPE T (\(text));").recordTypes.first).fields
    }

    @Test("A schema as the console exports it")
    func exported() throws {
        let schema = try SchemaDefinition(
            reading: """
                DEFINE SCHEMA

                    CREATE ROLE Moderators;

                    RECORD TYPE Note (
                        "___createTime" TIMESTAMP QUERYABLE,
                        "___createdBy"  REFERENCE QUERYABLE,
                        "___etag"       STRING,
                        "___modTime"    TIMESTAMP SORTABLE,
                        "___modifiedBy" REFERENCE,
                        "___recordID"   REFERENCE QUERYABLE,
                        title           STRING QUERYABLE SEARCHABLE SORTABLE,
                        tags            LIST<STRING> QUERYABLE,
                        secret          ENCRYPTED BYTES,
                        GRANT WRITE TO "_creator",
                        GRANT CREATE TO "_icloud",
                        GRANT READ, CREATE, WRITE TO Moderators,
                        GRANT READ TO "_world"
                    );

                    RECORD TYPE Empty ();
                """)
        #expect(schema.roles == ["Moderators"])
        #expect(schema.recordTypes.map(\.name) == ["Note", "Empty"])
        let note = schema.recordTypes[0]
        #expect(
            note.fields == [
                Field("___createTime", .date, indexes: .queryable),
                Field("___createdBy", .reference, indexes: .queryable), Field("___etag", .string),
                Field("___modTime", .date, indexes: .sortable), Field("___modifiedBy", .reference),
                Field("___recordID", .reference, indexes: .queryable),
                Field("title", .string, indexes: [.queryable, .searchable, .sortable]),
                Field("tags", FieldKind.string.list, indexes: .queryable),
                Field("secret", .data, isEncrypted: true),
            ])
        #expect(note.grants == SchemaGrant.merged(SchemaGrant.standard + [SchemaGrant("Moderators", .all)]))
        #expect(schema.recordTypes[1] == .init("Empty"))
    }

    @Test("Every type, alone, in a list, encrypted")
    func types() throws {
        let kinds: [(String, FieldKind)] = [
            ("STRING", .string), ("INT64", .int64), ("DOUBLE", .double), ("TIMESTAMP", .date), ("BYTES", .data),
            ("LOCATION", .location), ("REFERENCE", .reference), ("ASSET", .asset),
            ("NUMBER PREFERRED AS INT64", .int64), ("NUMBER PREFERRED AS DOUBLE", .double),
        ]
        for (name, kind) in kinds {
            #expect(try Self.fields("a \(name)") == [Field("a", kind)])
            #expect(try Self.fields("a LIST<\(name)>") == [Field("a", kind.list)])
            for (text, isList) in [
                ("ENCRYPTED \(name)", false), ("LIST<ENCRYPTED \(name)>", true), ("ENCRYPTED LIST<\(name)>", true),
            ] {
                if kind == .asset || kind == .reference {
                    #expect(throws: StrataError.self) { try Self.fields("a \(text)") }
                } else {
                    let expected = Field("a", isList ? kind.list : kind, isEncrypted: true)
                    #expect(try Self.fields("a \(text)") == [expected])
                }
            }
        }
    }

    @Test("Keywords in any case, comments of three forms, a comma at the end, names that are keywords")
    func freedoms() throws {
        let schema = try SchemaDefinition(
            reading: """
                -- first
                define /* a
                comment */ Schema // more
                reCord tyPe type(list int64 Queryable,"grant" list < String > searchable,/**/"Sortable" doublE,
                grant read,write to "_world",);create role "role";
                """)
        #expect(schema.roles == ["role"])
        #expect(
            schema.recordTypes == [
                .init(
                    "type",
                    fields: [
                        Field("list", .int64, indexes: .queryable),
                        Field("grant", FieldKind.string.list, indexes: .searchable), Field("Sortable", .double),
                    ], grants: [SchemaGrant("_world", [.read, .write])])
            ])
        #expect(try SchemaDefinition(reading: "DEFINE SCHEMA") == SchemaDefinition())
    }

    @Test("Grants of one role are one, wherever the role is created")
    func grants() throws {
        let schema = try SchemaDefinition(
            reading: """
                DEFINE SCHEMA RECORD TYPE T (GRANT READ TO R, a STRING, GRANT WRITE TO "R"); CREATE ROLE R;
                """)
        #expect(schema.recordTypes[0].grants == [SchemaGrant("R", [.read, .write])])
    }

    struct Mistake: Sendable, CustomTestStringConvertible {
        var text: String
        var line = 1
        var column: Int
        var expected: String
        var found: String

        init(_ text: String, _ line: Int = 1, _ column: Int, _ expected: String, _ found: String) {
            (self.text, self.line, self.column, self.expected, self.found) = (text, line, column, expected, found)
        }

        var testDescription: String { text }
    }

    static let mistakes = [
        Mistake("", 1, 1, "DEFINE", "the end of the text"),
        Mistake("DEFINE TABLE", 1, 8, "SCHEMA", "'TABLE'"),
        Mistake("\"DEFINE\" SCHEMA", 1, 1, "DEFINE", "\"DEFINE\""),
        Mistake("DEFINE SCHEMA\n  DROP", 2, 3, "CREATE ROLE, RECORD TYPE or the end of the text", "'DROP'"),
        Mistake("DEFINE SCHEMA CREATE ROLE R", 1, 28, ";", "the end of the text"),
        Mistake("DEFINE SCHEMA CREATE ROLE R; CREATE ROLE R;", 1, 42, "a role's name that is not used before", "'R'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (); RECORD TYPE T ();", 1, 45, "name that is not used before", "'T'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T [", 1, 29, "(", "'['"),
        Mistake("DEFINE SCHEMA RECORD TYPE ___T ();", 1, 27, "in double quotes", "'___T'"),
        Mistake("DEFINE SCHEMA RECORD TYPE \"___T\" ();", 1, 27, "a letter, then", "\"___T\""),
        Mistake("DEFINE SCHEMA RECORD TYPE 1T ();", 1, 27, "a letter, then", "'1T'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (\na STRING\nb STRING);", 3, 1, "a comma or )", "'b'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (a STRING, a INT64);", 1, 40, "not used before in T", "'a'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (,);", 1, 30, "a field's name", "','"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (a TEXT);", 1, 32, "a type: STRING, INT64", "'TEXT'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (a \"STRING\");", 1, 32, "a type: STRING", "\"STRING\""),
        Mistake("DEFINE SCHEMA RECORD TYPE T (a LIST<LIST<STRING>>);", 1, 37, "a type: STRING", "'LIST'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (a LIST STRING);", 1, 37, "<", "'STRING'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (a NUMBER);", 1, 38, "PREFERRED", "')'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (a NUMBER PREFERRED AS STRING);", 1, 52, "INT64 or DOUBLE", "'STRING'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (a ENCRYPTED ASSET);", 1, 42, "a type: STRING", "'ASSET'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (queryable STRING);", 1, 30, "only in double quotes", "'queryable'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (___etag STRING);", 1, 30, "in double quotes", "'___etag'"),
        Mistake(
            "DEFINE SCHEMA RECORD TYPE T (\"___etag\" INT64);", 1, 40, "STRING, the type of the system field ___etag",
            "'INT64'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (\"___other\" INT64);", 1, 30, "a letter, then", "\"___other\""),
        Mistake("DEFINE SCHEMA RECORD TYPE T (a LIST<INT64> SORTABLE);", 1, 44, "can have: QUERYABLE", "'SORTABLE'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (a ASSET QUERYABLE);", 1, 38, "no index", "'QUERYABLE'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (a ENCRYPTED STRING QUERYABLE);", 1, 49, "no index", "'QUERYABLE'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (a INT64 QUERYABLE queryable);", 1, 48, "once", "'queryable'"),
        Mistake(
            "DEFINE SCHEMA RECORD TYPE T (GRANT DELETE TO \"_world\");", 1, 36, "READ, CREATE or WRITE", "'DELETE'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (GRANT READ \"_world\");", 1, 41, "TO", "\"_world\""),
        Mistake("DEFINE SCHEMA RECORD TYPE T (GRANT READ TO _world);", 1, 44, "in double quotes", "'_world'"),
        Mistake("DEFINE SCHEMA RECORD TYPE T (GRANT READ TO \"_me\");", 1, 44, "a letter, then", "\"_me\""),
        Mistake("DEFINE SCHEMA\nRECORD TYPE T (GRANT READ TO R);", 2, 30, "a role that the schema creates", "'R'"),
        Mistake("DEFINE SCHEMA\n\n /* comment", 3, 2, "*/ at the end", "the end of the text"),
        Mistake("DEFINE SCHEMA RECORD TYPE \"T\n\" ();", 1, 27, "a quote at the end", "the end of the line"),
        Mistake("DEFINE SCHEMA /* ä€𝄞 */ ß", 1, 25, "CREATE ROLE", "'ß'"),
        Mistake("DEFINE SCHEMA -- \r\n\t~", 2, 2, "CREATE ROLE", "'~'"),
    ]

    @Test("A mistake is named with its line, its column, what was expected and what was found", arguments: mistakes)
    func mistake(_ mistake: Mistake) throws {
        let error = try #require(thrownError { _ = try SchemaDefinition(reading: mistake.text) })
        #expect(error.code == .invalidArgument)
        #expect(error.context.line == mistake.line && error.context.column == mistake.column, "\(error)")
        #expect(error.context.expected?.contains(mistake.expected) == true, "\(error)")
        #expect(error.context.found == mistake.found, "\(error)")
    }

    @Test("Names have at most 255 characters, what is quoted in an error at most 60")
    func nameLength() throws {
        let longest = String(repeating: "n", count: SchemaName.maximumCharacters)
        let schema = try SchemaDefinition(reading: "DEFINE SCHEMA RECORD TYPE \(longest) (\"\(longest)\" STRING);")
        #expect(schema.recordTypes[0].name == longest && schema.recordTypes[0].fields[0].name == longest)
        let error = try #require(
            thrownError { _ = try SchemaDefinition(reading: "DEFINE SCHEMA RECORD TYPE \(longest)n ();") })
        #expect(error.context.expected?.contains("255 at most") == true)
        #expect(error.context.found == "'\(longest.prefix(60))…'")
    }

    @Test("As many fields, types, roles and grants as fit a record, and one more is a mistake")
    func counts() throws {
        let limit = FieldTable.maximumCount
        let texts: [(@Sendable (Int) -> String)] = [
            { count in "DEFINE SCHEMA RECORD TYPE T (" + (0..<count).map { "f\($0) INT64," }.joined() + ");" },
            { count in "DEFINE SCHEMA " + (0..<count).map { "RECORD TYPE t\($0) ();" }.joined() },
            { count in "DEFINE SCHEMA " + (0..<count).map { "CREATE ROLE r\($0);" }.joined() },
            { count in
                "DEFINE SCHEMA RECORD TYPE T (" + String(repeating: "GRANT READ TO \"_world\",", count: count) + ");"
            },
        ]
        for text in texts {
            #expect(thrownError { _ = try SchemaDefinition(reading: text(limit)) } == nil)
            let error = try #require(thrownError { _ = try SchemaDefinition(reading: text(limit + 1)) })
            #expect(error.context.expected?.hasPrefix("at most 65535 ") == true, "\(error)")
        }
    }

    @Test("A text of more than 64 MiB is not looked at")
    func textLength() throws {
        let blanks = String(repeating: " ", count: SchemaDefinition.maximumTextBytes - 13)
        #expect(thrownError { _ = try SchemaDefinition(reading: "DEFINE SCHEMA" + blanks) } == nil)
        #expect(thrownError { _ = try SchemaDefinition(reading: "DEFINE SCHEMA " + blanks) }?.code == .tooLarge)
    }
}
