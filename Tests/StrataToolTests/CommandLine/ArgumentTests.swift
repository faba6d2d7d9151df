import Testing

@testable import StrataTool

/// Command lines that cannot be understood end with 2 and say why, on the standard error alone.
@Suite struct ArgumentTests {
    struct Mistake: Sendable, CustomTestStringConvertible {
        let words: [String]
        let message: String
        var testDescription: String { words.joined(separator: " ") }

        init(_ line: String, _ message: String) {
            words = line.split(separator: " ").map { $0 == "''" ? "" : String($0) }
            self.message = message
        }
    }

    static let mistakes = [
        Mistake("", "strata: a command is missing; see 'strata help'"),
        Mistake("lgo", "strata: unknown command lgo; did you mean log? see 'strata help'"),
        Mistake("quux", "strata: unknown command quux; see 'strata help'"),
        Mistake("--vresion", "strata: unknown option --vresion; did you mean --version? see 'strata help'"),
        Mistake("--version log", "strata: unexpected argument 'log'; see 'strata help'"),
        Mistake("--help lgo", "strata: unknown command lgo; did you mean log? see 'strata help'"),
        Mistake("--help log info", "strata: unexpected argument 'info'; see 'strata help'"),
        Mistake(
            "log",
            "strata log: STORE is missing: the store's directory, such as Notes.strata, or the address of its "
                + "sequencer, such as file:///shared/Notes.sequence; see 'strata help log'"),
        Mistake("log ''", "strata log: STORE is empty; see 'strata help log'"),
        Mistake("log S --folow", "strata log: unknown option --folow; did you mean --follow? see 'strata help log'"),
        Mistake("log S --zzzzzzzz", "strata log: unknown option --zzzzzzzz; see 'strata help log'"),
        Mistake("log S -n", "strata log: -n needs a value: -n N; see 'strata help log'"),
        Mistake("log S --from=", "strata log: --from needs a value: --from OFFSET; see 'strata help log'"),
        Mistake("log S -n ten", "strata log: -n takes a number, not 'ten'; see 'strata help log'"),
        Mistake("log S -n -1", "strata log: -n -1 is out of range: 0 to 18446744073709551615; see 'strata help log'"),
        Mistake("log S --from 0", "strata log: --from 0 is out of range: 1 to 8796093022207; see 'strata help log'"),
        Mistake("log S T", "strata log: unexpected argument 'T'; see 'strata help log'"),
        Mistake("log S --json=yes", "strata log: --json takes no value; see 'strata help log'"),
        Mistake("log S --json --json", #"{"error":{"code":"usage","message":"--json is given twice"}}"#),
        Mistake(
            "log S --oneline --json",
            #"{"error":{"code":"usage","message":"--oneline and --json cannot be combined"}}"#),
        Mistake("log S --from 9 --to 8", "strata log: --from 9 is after --to 8; see 'strata help log'"),
        Mistake(
            "log S --since tomorrow",
            "strata log: --since takes a time such as 2026-11-21, 2026-11-21T05:18:03Z, 90s, 15m, 2h, 3d, "
                + "\"2 hours ago\", \"last week\", yesterday or @MICROSECONDS, not 'tomorrow'; see 'strata help log'"),
        Mistake(
            "info",
            "strata info: STORE is missing: the store's directory, such as Notes.strata, or the address of its "
                + "sequencer, such as file:///shared/Notes.sequence; see 'strata help info'"
        ),
        Mistake(
            "schema S", "strata schema: ACTION is missing: export, import or validate; see 'strata help schema'"),
        Mistake(
            "schema exprot",
            "strata schema: 'exprot' is not one of export, import, validate; did you mean export?"
                + " see 'strata help schema'"),
        Mistake(
            "schema export",
            "strata schema: STORE is missing: the store's directory, such as Notes.strata; see 'strata help schema'"),
        Mistake(
            "diff S",
            "strata diff: A is missing: an offset or a time, a range such as 10..20 for A and B, or the directory of "
                + "another store; see 'strata help diff'"
        ),
        Mistake("verify S --follow", "strata verify: unknown option --follow; see 'strata help verify'"),
        Mistake("help lgo", "strata help: unknown command lgo; did you mean log? see 'strata help help'"),
    ]

    @Test(arguments: mistakes) func isExplained(_ mistake: Mistake) throws {
        let result = try ToolProcess.run(mistake.words, in: "/tmp")
        #expect(result.code == 2)
        #expect(result.output.isEmpty)
        #expect(result.errors == mistake.message + "\n")
    }

    @Test(arguments: [
        ["-n", "1", "S"], ["-n1", "S"], ["S", "-n", "1"], ["--", "S"], ["--from=2", "S"], ["--from", "2", "S"],
    ])
    func isUnderstood(_ words: [String]) throws {
        let arguments = try ArgumentParser(LogCommand.self).parse(words)
        #expect(arguments.operands == ["S"])
        if words.contains(where: { $0.hasPrefix("-n") }) { #expect(arguments[LogCommand.limit] == 1) }
        if words.contains(where: { $0.hasPrefix("--from") }) { #expect(arguments[LogCommand.from] == .offset(2)) }
    }

    @Test(
        "A file beside the store that cannot be opened is named without the store's terms",
        arguments: [
            (["import", "New.strata", "x.jsonl"], "x.jsonl"), (["export", "Notes.strata", "no/x.jsonl"], "no/x.jsonl"),
            (["report", "Notes.strata", "no/x.html"], "no/x.html"),
        ])
    func fileThatIsNotThere(_ words: [String], _ file: String) throws {
        let fixture = try StoreFixture.small()
        let result = try ToolProcess.run(words, in: fixture.directory.path)
        let path = file.contains("/") ? fixture.directory.path(file) : file
        let problem = "strata \(words[0]): cannot open \(path): no such file or directory\n"
        // An import has no store yet, and its file is the only path that could be wrong.
        let advice = words[0] == "import" ? "" : "  Check the path of the file.\n"
        #expect(result.code == 3 && result.output.isEmpty && result.errors == problem + advice, "\(result)")
    }

    @Test(
        "The usage has no brackets around options that a command needs",
        arguments: [
            ("feed", "--user NAME"), ("compact", "--before OFFSET"), ("trim", "--before OFFSET"),
            ("minimize", "--where PREDICATE"),
        ])
    func requiredOptions(_ command: String, _ option: String) throws {
        let usage = try CommandRegistry.command(named: command).usage
        #expect(usage.contains(" \(option)") && !usage.contains("[\(option)]"), "\(usage)")
    }

    @Test("Help says what zone and time mean for each command")
    func helpOfSharedOptions() throws {
        func help(_ command: String, _ option: String) throws -> String? {
            try CommandRegistry.command(named: command).options.first { $0.name == option }?.help
        }
        #expect(try help("erase", "--zone")?.contains("default zone") == true)
        #expect(try help("minimize", "--at")?.contains("predicate holds") == true)
        #expect(try help("export", "--at")?.contains("--records") == true)
        #expect(try help("get", "--at")?.hasPrefix("show the state at this point: an offset, ") == true)
    }

    /// Text of ours cannot name such a file, and the one that it would name instead is another.
    @Test func whatIsNotUTF8IsNotTakenForAnotherName() throws {
        let line = "\"$0\" info \"$(printf 'b\\377d')\""
        let result = try ToolProcess.run(["-c", line, try ToolProcess.toolPath], in: "/tmp", program: "/bin/sh")
        #expect(result.code == 2 && result.output.isEmpty)
        let name = "'b\u{FFFD}d'"
        #expect(
            result.errors
                == "strata: \(name) is not valid UTF-8; use a symbolic link whose name is; see 'strata help'\n")
    }

    @Test func behindTwoDashesEverythingIsAnOperand() throws {
        #expect(try ArgumentParser(LogCommand.self).parse(["--", "--json"]).operands == ["--json"])
    }
}
