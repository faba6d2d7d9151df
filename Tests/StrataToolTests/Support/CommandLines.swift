import Foundation
import StrataSystem
import Testing

@testable import StrataTool

/// How each command is called on the store of ``StateFixture``, for tests that call them all. A command that is missing
/// here fails those tests.
enum CommandLines {
    struct Line: Sendable, CustomTestStringConvertible {
        var command: String
        var words: [String]
        /// Tables of the guide, one of which each line of `--json` follows; empty if there is no `--json`.
        var headings: [String]
        /// Whether it prints JSON whether it is asked to or not.
        var isAlwaysJSON = false
        /// What it ends with.
        var code: Int32 = 0

        var testDescription: String { words.joined(separator: " ") }
        var forms: [[String]] { headings.isEmpty || isAlwaysJSON ? [words] : [words, words + ["--json"]] }
        func isJSON(_ form: [String]) -> Bool { isAlwaysJSON || form.last == "--json" }
    }

    static let store = "Notes.strata"
    /// These have no store to read.
    static let withoutStore: Set<String> = [
        "import", "create", "join", "replicate", "trim", "assets", "promote", "completions", "manual", "help", "exec",
        "mcp",
    ]

    /// These print nothing with `--json` if the store has none of what they list.
    static let mayPrintNothing: Set<String> = ["subscriptions", "shares"]

    static let all: [Line] = [
        line("info", [], ["What `info` prints"]),
        Line(
            command: "doctor", words: ["doctor", store], headings: ["A finding", "The end of an examination"], code: 1),
        line("stats", [], ["What `stats` prints"]),
        line("log", [], ["A commit"]),
        line("log", ["--patch"], ["A commit"]),
        line("history", ["milk", "--user", "anna", "--zone", "Notes"], ["A version"]),
        line("blame", ["milk", "--user", "anna", "--zone", "Notes"], ["Who set a field"]),
        line("show", ["4"], ["A commit"]),
        line("explain", ["4"], ["An explanation"]),
        line("explain", ["4", "--notifications"], ["Who was notified"]),
        line("segments", [], ["What `segments` prints"]),
        line("frames", [], ["A file of the log", "A piece of a file", "A footer"]),
        line("dump", [], []),
        line("verify", [], ["What `verify` prints"]),
        line("verify", ["--deep"], ["What `verify` prints"]),
        line("verify", ["--judge"], ["What `verify` prints"]),
        line("repair", [], ["What `repair` prints"]),
        line("get", ["milk", "--user", "anna", "--zone", "Notes"], ["A record in full"]),
        line("records", ["--user", "anna"], ["A record in a list", "The end of a list of records"]),
        line("query", ["Note", "--user", "anna"], ["A record", "The end of a query"]),
        Line(
            command: "diff", words: ["diff", store, "3"],
            headings: ["A record that differs", "The end of a diff"], code: 1),
        line(
            "bisect", ["Note", "--where", "creationDate != nil OR creationDate == nil", "--user", "anna"],
            ["A flip", "The end of a bisection"]),
        line(
            "debug", ["-e", "step", "-e", "step", "-e", "list", "-e", "diff", "-e", "back"],
            ["A stop of a debugger", "A commit", "A record that differs", "The end of a diff"]),
        line("zones", [], ["A zone"]),
        line("subscriptions", [], ["A subscription"]),
        line("users", [], ["A user"]),
        line("shares", [], ["A share"]),
        line(
            "access", ["milk", "--user", "anna", "--owner", "anna", "--zone", "Notes"],
            ["The rights of a user to a record"]),
        line("device", ["anna", "phone"], ["What a device knew"]),
        line(
            "feed", ["Notes", "--user", "anna"],
            ["A record in full", "What is gone, or a zone that has changed", "The end of a page of a feed"]),
        line(
            "play", ["--user", "anna", "--device", "tablet"],
            [
                "A commit that is played", "A record in full", "What is gone, or a zone that has changed",
                "A notification that is played",
            ]),
        line("token", [], ["A change token"]),
        Line(command: "schema", words: ["schema", "export", store], headings: []),
        Line(
            command: "what-if", words: ["what-if", store, "--drop", "4"],
            headings: [
                "A request that was judged again", "A record that differs", "The end of a diff", "The end of a what-if",
                "A what-if without an answer",
            ], code: 1),
        line(
            "minimize", ["Note", "--where", "creationDate != nil OR creationDate == nil", "--user", "anna"],
            ["A commit that is left", "The end of a minimization"]),
        line("report", ["-"], []),
        Line(
            command: "export", words: ["export", store],
            headings: [
                "The first line of an export", "A commit of an export", "A payload of a base",
                "The last line of an export",
            ], isAlwaysJSON: true),
        line("compact", ["--before", "4"], ["What `compact` plans"]),
        line("erase", ["milk", "--user", "anna", "--zone", "Notes"], ["What `erase` prints"]),
        line("rebuild-views", [], ["What `rebuild-views` prints"]),
    ]

    private static func line(_ command: String, _ words: [String], _ headings: [String]) -> Line {
        Line(command: command, words: [command, store] + words, headings: headings)
    }

    /// With a token of the store in the place of the one that is still to come.
    static func lines(_ token: String) -> [Line] {
        all.map { line in
            guard line.command == "token" else { return line }
            var line = line
            line.words.append(token)
            return line
        }
    }

    /// That every command is here, so that none is forgotten.
    static func requireAll() {
        let known = Set(all.map(\.command)).union(withoutStore)
        let registered = Set(CommandRegistry.commands.map { $0.name })
        #expect(registered == known, "commands that tests of all commands do not know, or that are gone")
        for command in CommandRegistry.commands where command.options.contains(where: { $0.name == "--json" }) {
            guard !withoutStore.contains(command.name) else { continue }
            #expect(all.contains { $0.command == command.name && !$0.headings.isEmpty }, "\(command.name) --json")
        }
    }

    /// That each line is an object which follows one of the tables of the guide.
    static func expectJSON(_ result: ToolResult, of line: Line) throws {
        for text in result.lines {
            let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            guard let object else {
                Issue.record("\(line.testDescription): no object: \(text.prefix(200))")
                continue
            }
            let fits = try line.headings.contains { try PromisedKeys.follows(object, $0) }
            #expect(fits, "\(line.testDescription): keys of no documented object: \(object.keys.sorted())")
        }
    }
}
