import Testing

@testable import StrataTool

/// Limits, commits and ranges have the same spellings in every command.
@Suite struct SpellingTests {
    // MARK: Limits

    @Test func limitsHaveThreeSpellings() throws {
        var names: Set<String> = []
        for command in CommandRegistry.commands {
            guard let limit = command.options.first(where: { ["-n", "--limit"].contains($0.name) }) else { continue }
            names.insert(command.name)
            let operands = command.operands.filter(\.isRequired).map { _ in "x" }
            let typed = Option<UInt64>.limit(limit.name, help: "")
            for words in [["-n", "2"], ["-n2"], ["--limit", "2"], ["--limit=2"], ["-2"]] {
                let arguments = try ArgumentParser(command).parse(operands + words)
                #expect(arguments[typed] == 2 && arguments.operands == operands, "\(command.name) \(words)")
            }
        }
        #expect(names == ["doctor", "log", "history", "frames", "dump", "records", "query", "feed"])
    }

    @Test(arguments: [
        (["log", "S", "-n", "1", "-2"], "-n is given twice"), (["query", "S", "N", "--limit", "x"], "--limit takes a"),
        (["query", "S", "N", "-0"], "-n 0 is out of range: 1 to 10000"), (["stats", "S", "-5"], "unknown option -5"),
        (["history", "S", "r", "--limt", "1"], "unknown option --limt; did you mean --limit?"),
    ])
    func otherLimitsAreRefused(_ words: [String], _ problem: String) throws {
        let result = try ToolProcess.run(words, in: "/tmp")
        #expect(result.code == 2 && result.errors.hasPrefix("strata \(words[0]): \(problem)"), "\(result)")
    }

    // MARK: Commits

    @Test(
        arguments: [
            ("7", .offset(7)), ("last", .fromEnd(1)), ("HEAD", .fromEnd(1)), ("-1", .fromEnd(1)), ("-3", .fromEnd(3)),
            ("head~1", .fromEnd(2)), ("last~3", .fromEnd(4)), ("HEAD~0", .fromEnd(1)), ("HEAD^", nil), ("HEAD~", nil),
            ("HEAD~x", nil), ("last week", nil), ("-0", nil), ("two", nil), ("", nil),
            ("HEAD~99999999999999999999", nil),
        ] as [(String, CommitOperand?)])
    func commits(_ text: String, _ commit: CommitOperand?) {
        #expect(CommitOperand(parsing: text) == commit)
    }

    @Test func everyOffsetMayBeCountedFromTheEnd() throws {
        let forms = ["--edit": "HEAD~1 a=1", "--policy": "HEAD~1=all-keys"]
        for command in CommandRegistry.commands {
            for option in command.options where option.valueName?.contains("OFFSET") == true {
                #expect(throws: Never.self, "\(command.name) \(option.name)") {
                    _ = try option.parse(forms[option.name] ?? "HEAD~1")
                }
            }
        }
    }

    @Test(arguments: [
        (["show", "HEAD~1"], ["show", "4"]), (["explain", "last~1"], ["explain", "4"]),
        (["log", "--from", "last~1"], ["log", "--from", "4"]), (["log", "--to", "-2"], ["log", "--to", "4"]),
        (["log", "2..4"], ["log", "--from", "2", "--to", "4"]), (["log", "HEAD~1.."], ["log", "--from", "4"]),
        (["log", "..HEAD~1", "-2"], ["log", "--to", "4", "-n", "2"]),
        (["stats", "2..4"], ["stats", "--from", "2", "--to", "4"]),
        (["frames", "2..4"], ["frames", "--from", "2", "--to", "4"]),
        (["export", "2..4"], ["export", "--from", "2", "--to", "4"]),
        (["play", "2..4"], ["play", "--from", "2", "--to", "4"]), (["diff", "3..5"], ["diff", "3", "5"]),
        (["diff", "HEAD~2.."], ["diff", "3"]), (["diff", "..4"], ["diff", "0", "4"]),
        (["records", "--user", "anna", "--at", "HEAD~1"], ["records", "--user", "anna", "--at", "4"]),
        (["records", "--user", "anna", "-1"], ["records", "--user", "anna", "--limit", "1"]),
        (["dump", "--offset", "last"], ["dump", "--offset", "5"]),
        (["compact", "--before", "HEAD"], ["compact", "--before", "5"]),
        (["what-if", "--drop", "HEAD~1"], ["what-if", "--drop", "4"]),
        (["verify", "--judge", "--from", "HEAD~1"], ["verify", "--judge", "--from", "4"]),
        (
            ["feed", "Notes", "--user", "anna", "--since", "HEAD~2"],
            ["feed", "Notes", "--user", "anna", "--since", "3"]
        ),
        (["report", "-", "2..4"], ["report", "-", "--from", "2", "--to", "4"]),
    ])
    func spellingsMeanTheSame(_ words: [String], _ usual: [String]) throws {
        let fixture = try StateFixture()
        func run(_ words: [String]) throws -> ToolResult {
            try fixture.run([words[0], fixture.name] + words.dropFirst())
        }
        let (result, expected) = (try run(words), try run(usual))
        #expect(expected.code < 2 && !expected.output.isEmpty, "\(usual): \(expected)")
        #expect(result.code == expected.code && result.output == expected.output, "\(words): \(result)")
    }

    @Test(
        arguments: [
            (["log", "2...4"], 2, "unexpected argument '2...4'; a range of commits is written 10..20"),
            (["log", "yesterday..today"], 2, "one of times with --since and --until"),
            (["log", "--from", "3", "2..4"], 2, "2..4 and --from cannot be combined"),
            (["log", "--from", "HEAD^"], 2, "--from takes a number, not 'HEAD^'; last and HEAD~1 count from the end"),
            (["log", "--from", "HEAD", "--to", "HEAD~2"], 2, "--from 5 is after --to 3"),
            (["show", "HEAD~9"], 1, "no commit 0; this store has commits 1 to 5"),
            (["records", "--user", "anna", "--at", "HEAD~9"], 1, "The store has no state at that point."),
            (["feed", "--user", "anna", "--since", "soon"], 2, "--since is not a change token"),
        ] as [([String], Int32, String)])
    func whatDoesNotWorkIsExplained(_ words: [String], _ code: Int32, _ problem: String) throws {
        let fixture = try StateFixture()
        let result = try fixture.run([words[0], fixture.name] + words.dropFirst())
        #expect(result.code == code && result.errors.contains(problem), "\(words): \(result)")
    }

    @Test func aRangeLeavesTheStoreToItsVariable() throws {
        let parser = ArgumentParser(LogCommand.self, variables: [.store: "S"])
        let arguments = try parser.parse(["10..HEAD"])
        #expect(arguments.operands == ["S"] && arguments[LogCommand.from] == .offset(10))
        #expect(arguments[LogCommand.to] == .fromEnd(1))
        #expect(
            try ArgumentParser(DiffCommand.self, variables: [.store: "S"]).parse(["1..2"]).operands == ["S", "1..2"])
    }
}
