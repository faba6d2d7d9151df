import Testing

@testable import StrataTool

/// `STRATA_STORE` and `STRATA_USER` stand for what a command line leaves out.
@Suite struct CommandVariableTests {
    private static let set: [CommandVariable: String] = [.store: "S", .user: "anna"]

    private func parsed(_ command: any Command.Type, _ words: String...) throws -> Arguments {
        try ArgumentParser(command, variables: Self.set).parse(words)
    }

    struct Line: Sendable, CustomTestStringConvertible {
        let command: String
        let words: [String]
        let operands: [String]
        var testDescription: String { "\(command) \(words)" }

        init(_ command: String, _ words: [String], _ operands: [String]) {
            (self.command, self.words, self.operands) = (command, words, operands)
        }
    }

    @Test(arguments: [
        Line("info", [], ["S"]), Line("info", ["Nope.strata"], ["Nope.strata"]), Line("info", ["/tmp"], ["/tmp"]),
        Line("get", ["milk"], ["S", "milk"]), Line("get", ["milk", "bread"], ["S", "milk", "bread"]),
        Line("get", ["/tmp", "milk"], ["/tmp", "milk"]), Line("get", ["file:///a", "milk"], ["file:///a", "milk"]),
        Line("show", ["-1"], ["S", "-1"]), Line("show", ["/tmp", "-1"], ["/tmp", "-1"]),
        Line("diff", ["3"], ["S", "3"]), Line("diff", ["3", "4"], ["S", "3", "4"]),
        Line("token", ["AgEB"], ["S", "AgEB"]),
        Line("report", ["Notes.html"], ["S", "Notes.html"]), Line("report", ["/etc/passwd"], ["S", "/etc/passwd"]),
        Line("query", ["Note", "rank > 3"], ["S", "Note", "rank > 3"]),
        Line("device", ["phone"], ["S", "anna", "phone"]), Line("device", ["ben", "phone"], ["S", "ben", "phone"]),
        Line("device", ["/tmp", "phone"], ["/tmp", "anna", "phone"]),
        Line("device", ["/tmp", "ben", "phone"], ["/tmp", "ben", "phone"]),
    ])
    func operands(_ line: Line) throws {
        let command = try CommandRegistry.command(named: line.command)
        #expect(try ArgumentParser(command, variables: Self.set).parse(line.words).operands == line.operands)
    }

    @Test func userIsTheDefaultWhereACommandActsAsOne() throws {
        #expect(try parsed(GetCommand.self, "milk")[DatabaseOptions.user] == "anna")
        #expect(try parsed(GetCommand.self, "milk", "--user", "ben")[DatabaseOptions.user] == "ben")
        for command in ["records", "zones", "subscriptions", "feed", "shares", "debug", "play"] {
            let arguments = try ArgumentParser(CommandRegistry.command(named: command), variables: Self.set).parse([])
            #expect(arguments[DatabaseOptions.user] == "anna", "\(command)")
        }
        // These choose among commits, or compare all.
        for words in [["log"], ["explain", "4"], ["diff", "3"], ["what-if"]] {
            let command = try CommandRegistry.command(named: words[0])
            let arguments = try ArgumentParser(command, variables: Self.set).parse(Array(words.dropFirst()))
            #expect(arguments[DatabaseOptions.user] == nil, "\(words)")
        }
    }

    @Test func whatChangesAStoreIsTyped() throws {
        let expected =
            "STORE is missing: the store's directory, such as Notes.strata; it must be typed: a command that changes "
            + "stores does not use STRATA_STORE"
        let local: [any Command.Type] = [RepairCommand.self, CompactCommand.self, RebuildViewsCommand.self]
        for command in local {
            let error = #expect(throws: UsageError.self) { try parsed(command) }
            #expect(error?.problem == expected)
        }
        let changing = CommandRegistry.commands.filter { $0.changesStores && $0.name != SchemaCommand.name }
        #expect(changing.count == 11)
        for command in changing {
            let error = #expect(throws: UsageError.self) { try parsed(command) }
            #expect(error?.problem.contains("does not use STRATA_STORE") == true, "\(command.name)")
        }
        let schema = #expect(throws: UsageError.self) { try parsed(SchemaCommand.self, "export") }
        #expect(schema?.problem.contains("does not use STRATA_STORE") == true)
        let file = #expect(throws: UsageError.self) { try parsed(ImportCommand.self, "New.strata") }
        #expect(file?.problem == "FILE is missing: the export; - for standard input")
        #expect(try parsed(EraseCommand.self, "/tmp", "card")[DatabaseOptions.user] == nil)
    }

    @Test func emptyIsNotSet() {
        #expect(CommandVariable.values { $0 == "STRATA_STORE" ? "" : nil }.isEmpty)
        #expect(CommandVariable.values { $0 == "STRATA_USER" ? "anna" : "" } == [.user: "anna"])
    }

    @Test func commandLinesAreShorter() throws {
        let fixture = try StateFixture()
        func run(_ words: String..., store: String = "Notes.strata", user: String = "anna") throws -> ToolResult {
            try ToolProcess.run(
                words, in: fixture.directory.path, environment: ["STRATA_STORE=\(store)", "STRATA_USER=\(user)"])
        }
        let typed = try fixture.run("get", "Notes.strata", "milk", "--user", "anna", "--zone", "Notes")
        let short = try run("get", "milk", "--zone", "Notes")
        #expect(short.code == 0 && short.output == typed.output && short.errors.isEmpty, "\(short)")

        // An error says where the store and the user come from, unless they were typed.
        let missing = try run("info", store: "Nope.strata")
        #expect(missing.code == 3 && missing.errors.hasSuffix("\n  The store is that of STRATA_STORE.\n"), "\(missing)")
        let unknown = try run("records", "Notes.strata", user: "nobody")
        #expect(unknown.code == 1 && unknown.errors.hasSuffix("\n  The user is that of STRATA_USER.\n"), "\(unknown)")
        let other = try run("info", "Other.strata")
        #expect(other.code == 3 && !other.errors.contains("STRATA_STORE"), "\(other)")

        let empty = try run("info", store: "")
        #expect(empty.code == 2 && empty.errors.hasPrefix("strata info: STORE is missing"), "\(empty)")
        let search = try run("bisect", "--run", "exit 0")
        #expect(search.code == 1 && search.errors.contains("it does not hold"), "\(search)")
    }

    @Test func helpNamesThem() throws {
        for word in ["help", "manual"] {
            let result = try ToolProcess.run(word, in: "/tmp")
            for variable in CommandVariable.allCases { #expect(result.output.contains(variable.rawValue)) }
        }
        #expect(try ToolProcess.run("help", "get", in: "/tmp").output.contains("by default $STRATA_STORE"))
        #expect(try !ToolProcess.run("help", "repair", in: "/tmp").output.contains("STRATA_STORE"))
    }
}
