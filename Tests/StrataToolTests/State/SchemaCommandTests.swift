import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

@Suite struct SchemaCommandTests {
    private static let text = """
        DEFINE SCHEMA

            CREATE ROLE Editors;

            RECORD TYPE Note (
                "___createTime" TIMESTAMP,
                "___createdBy"  REFERENCE,
                "___etag"       STRING,
                "___modTime"    TIMESTAMP SORTABLE,
                "___modifiedBy" REFERENCE,
                "___recordID"   REFERENCE QUERYABLE,
                tags            LIST<STRING> QUERYABLE,
                title           STRING QUERYABLE SEARCHABLE SORTABLE,
                GRANT READ, CREATE, WRITE TO Editors,
                GRANT READ TO "_world"
            );

        """

    private let directory: TestDirectory
    private let path: String

    init() throws {
        directory = try TestDirectory()
        path = directory.path("Notes.strata")
        try Store.open(at: path).close()
        try write(Self.text, to: "Notes.ckdb")
    }

    private func write(_ text: String, to file: String) throws {
        let file = try RealFileSystem().open(directory.path(file), .create)
        defer { file.close() }
        try file.write(Array(text.utf8), at: 0)
    }

    private func run(_ words: String...) throws -> ToolResult {
        try ToolProcess.run(["schema"] + words, in: directory.path)
    }

    private func shell(_ line: String) throws -> ToolResult {
        try ToolProcess.run(["-c", line, try ToolProcess.toolPath], in: directory.path, program: "/bin/sh")
    }

    @Test func whatIsImportedIsExported() throws {
        #expect(try run("export", "Notes.strata").output == "DEFINE SCHEMA\n")
        let result = try run("import", "Notes.strata", "Notes.ckdb")
        #expect(result.code == 0 && result.output.isEmpty && result.errors.isEmpty, "\(result)")
        let exported = try run("export", "Notes.strata")
        #expect(exported.code == 0 && exported.errors.isEmpty)
        #expect(exported.output == Self.text)
    }

    @Test func importingAgainChangesNothing() throws {
        #expect(try run("import", "Notes.strata", "Notes.ckdb").code == 0)
        let commits = try ToolProcess.run("log", "Notes.strata", "--oneline", in: directory.path).output
        #expect(try run("import", "Notes.strata", "Notes.ckdb").code == 0)
        #expect(try ToolProcess.run("log", "Notes.strata", "--oneline", in: directory.path).output == commits)
        #expect(commits.contains("schema"), "canary: \(commits)")
    }

    @Test func theStandardInputIsAFile() throws {
        let validated = try shell("\"$0\" schema validate Notes.strata - < Notes.ckdb")
        #expect(validated.code == 0 && validated.output.isEmpty && validated.errors.isEmpty, "\(validated)")
        #expect(try run("export", "Notes.strata").output == "DEFINE SCHEMA\n")
        #expect(try shell("cat Notes.ckdb | \"$0\" schema import Notes.strata -").code == 0)
        #expect(try run("export", "Notes.strata").output == Self.text)
        let mistake = try shell("echo DEFINE | \"$0\" schema import Notes.strata -")
        #expect(mistake.code == 1)
        #expect(
            mistake.errors == "strata schema: standard input:2:1: expected SCHEMA, found the end of the text\n")
    }

    @Test func aMistakeIsNamedByFileLineAndColumn() throws {
        try write("DEFINE SCHEMA\n    RECORD TYPE Note (\n        title TEXT\n    );\n", to: "Wrong.ckdb")
        for action in ["import", "validate"] {
            let result = try run(action, "Notes.strata", "Wrong.ckdb")
            #expect(result.code == 1 && result.output.isEmpty)
            #expect(result.errors.hasPrefix("strata schema: Wrong.ckdb:3:15: expected a type: STRING, "), "\(result)")
            #expect(result.errors.hasSuffix(", found 'TEXT'\n"))
        }
    }

    @Test func whatDoesNotFitTheStoreIsSaid() throws {
        #expect(try run("import", "Notes.strata", "Notes.ckdb").code == 0)
        try write("DEFINE SCHEMA RECORD TYPE Note (title INT64);", to: "Other.ckdb")
        for action in ["import", "validate"] {
            let result = try run(action, "Notes.strata", "Other.ckdb")
            #expect(result.code == 1)
            #expect(
                result.errors == """
                    strata schema: Field 'title' of type Note is STRING, and cannot become INT64.

                    """)
        }
        #expect(try run("export", "Notes.strata").output == Self.text)
    }

    @Test func anEarlierSchemaIsExported() throws {
        #expect(try run("import", "Notes.strata", "Notes.ckdb").code == 0)
        try write("DEFINE SCHEMA RECORD TYPE Other (name STRING);", to: "Other.ckdb")
        #expect(try run("import", "Notes.strata", "Other.ckdb").code == 0)
        #expect(try run("export", "Notes.strata").output.contains("RECORD TYPE Other"))
        #expect(try run("export", "Notes.strata", "--at", "1").output == Self.text)
        #expect(try run("export", "Notes.strata", "--at", "0").output == "DEFINE SCHEMA\n")
        let ahead = try run("export", "Notes.strata", "--at", "3")
        #expect(ahead.code == 1 && ahead.output.isEmpty && ahead.errors.contains("found 3"), "\(ahead)")
        let imported = try run("import", "Notes.strata", "Notes.ckdb", "--at", "1")
        #expect(
            imported.code == 2
                && imported.errors == "strata schema: --at is only for export; see 'strata help schema'\n")
    }

    @Test func besideAWriterItExportsAndValidatesAndDoesNotImport() throws {
        let store = try Store.open(at: path)
        try store.declareSchema(try SchemaDefinition(reading: Self.text))
        #expect(try run("export", "Notes.strata").output == Self.text)
        #expect(try run("validate", "Notes.strata", "Notes.ckdb").code == 0)
        let refused = try run("import", "Notes.strata", "Notes.ckdb")
        #expect(refused.code == 3 && refused.errors.contains("(locked)"), "\(refused)")
        #expect(refused.errors.contains("\n  Stop the program that writes to the store"))
        try store.close()
        #expect(try run("import", "Notes.strata", "Notes.ckdb").code == 0)
    }

    @Test func whatCannotBeReadEndsWith3() throws {
        for words in [
            ["export", "Missing.strata"], ["import", "Missing.strata", "Notes.ckdb"],
            ["validate", "Notes.strata", "Missing.ckdb"], ["export", "Notes.strata/log"],
            ["import", "Notes.strata/log", "Notes.ckdb"],
        ] {
            let result = try ToolProcess.run(["schema"] + words, in: directory.path)
            #expect(result.code == 3 && result.output.isEmpty && !result.errors.isEmpty, "\(words) \(result)")
        }
        let file = try RealFileSystem().open(directory.path("Latin.ckdb"), .create)
        defer { file.close() }
        try file.write([0xE4], at: 0)
        let latin = try run("validate", "Notes.strata", "Latin.ckdb")
        #expect(latin.code == 3 && latin.errors.contains("valid UTF-8"))
        #expect(try !RealFileSystem().exists(directory.path("Missing.strata")))
    }

    @Test func whatCannotBeUnderstoodEndsWith2() throws {
        for words in [
            [], ["export"], ["import", "Notes.strata"], ["exprot", "Notes.strata"],
            ["export", "Notes.strata", "Notes.ckdb"], ["validate", "Notes.strata", "a", "b"],
        ] {
            let result = try ToolProcess.run(["schema"] + words, in: directory.path)
            #expect(result.code == 2 && result.errors.hasSuffix("see 'strata help schema'\n"), "\(words) \(result)")
        }
        #expect(try run("exprot", "Notes.strata").errors.contains("did you mean export?"))
    }
}
