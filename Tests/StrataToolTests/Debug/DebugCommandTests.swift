import Foundation
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

/// `strata debug` from scripts: what it prints, what it refuses, and how it ends.
@Suite("strata debug")
struct DebugCommandTests {
    private let store = "Notes.strata"

    /// Commit 5 is the last one of the fixture; behind it `milk` gets these ranks, one commit each.
    private func fixture(_ ranks: [Int64] = [], keepsAudits: Bool = false) throws -> StateFixture {
        let fixture = try StateFixture(keepsAudits: keepsAudits)
        try fixture.change { store in
            for rank in ranks { try fixture.save("milk", ["rank": .int64(rank)], to: store) }
        }
        return fixture
    }

    private func run(_ fixture: StateFixture, _ commands: [String], _ more: [String] = []) throws -> ToolResult {
        try fixture.run(["debug", store] + more + commands.flatMap { ["-e", $0] })
    }

    /// The offsets at which it stops.
    private func stops(_ fixture: StateFixture, _ commands: [String], _ more: [String] = []) throws -> [Int] {
        let result = try run(fixture, commands, more + ["--json"])
        #expect(result.code == 0 && result.errors.isEmpty, "\(commands): \(result.errors)")
        return try result.lines.compactMap { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["reason"] == nil ? nil : object?["offset"] as? Int
        }
    }

    // MARK: Transcripts

    /// Each is a script that a golden transcript stands beside.
    @Test(arguments: ["debug-steps", "debug-breakpoints", "debug-watches", "debug-places", "debug-help", "debug-guide"])
    func transcripts(_ name: String) throws {
        let fixture = try fixture([7, 9, 2, 8])
        let script = try String(contentsOfFile: Golden.path(name + ".script"), encoding: .utf8)
        try Data(script.utf8).write(to: URL(fileURLWithPath: fixture.directory.path("script")))
        let result = try fixture.run("debug", store, "--user", "anna", "--script", "script")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
        // The same from a pipe.
        let line = "'\(try ToolProcess.toolPath)' debug \(store) --user anna < script"
        let piped = try ToolProcess.run(["-c", line], in: fixture.directory.path, program: "/bin/sh")
        #expect(piped.output == result.output && piped.code == 0 && piped.errors.isEmpty)
        if Golden.isUpdated { return try Golden.update(name + ".txt", result.output) }
        #expect(result.output == (try String(contentsOfFile: Golden.path(name + ".txt"), encoding: .utf8)))
    }

    @Test func theRunInTheGuideIsReal() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        let page = try String(contentsOfFile: root.joined(separator: "/") + "/docs/guide/tool.md", encoding: .utf8)
        let run = try String(contentsOfFile: Golden.path("debug-guide.txt"), encoding: .utf8)
        let isThere = page.contains("\n" + run.replacing(/\n+$/, with: "") + "\n```\n")
        #expect(isThere)
    }

    @Test func transcriptOfARefusal() throws {
        let fixture = try fixture(keepsAudits: true)
        try fixture.change { store in
            var request = RequestBuilder(DatabaseID(.private), policy: .ifServerRecordUnchanged)
            let seen = Version(offset: 2, eventIndex: 16)
            request.save(
                RecordID("milk", zone: StateFixture.notes), type: "Note", base: seen,
                fields: ["rank": .int64(5), "title": .string("Cheese")])
            let answer = try store.modify(request.request, as: StateFixture.phone)
            #expect(throws: Refusal.self) { try answer.result.saves[0].get() }
            try fixture.save("bread", ["rank": .int64(1)], to: store)
        }
        let result = try run(
            fixture,
            ["break refusal record milk", "continue", "why", "print milk rank --user anna", "rcontinue", "continue"])
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.contains("breakpoint 1: refusal record milk\ncommit "))
        #expect(result.output.contains("14 server record changed"))
        #expect(result.output.contains("rank = 3\n"))
        #expect(result.output.contains("the beginning: there is no commit yet"))
    }

    // MARK: Where it stops

    @Test func eachKindOfBreakpoint() throws {
        let fixture = try fixture([7, 9, 2, 8])
        for (what, wanted) in [
            ("record milk", [2, 4, 6, 7, 8, 9]), ("zone Notes", [1, 2, 4, 5, 6, 7, 8, 9]), ("zone Work", [1]),
            ("type Item", [3]), ("user bert", [3]), ("device tablet", [4]), ("user anna device tablet", [4]),
            ("field rank", [2, 4, 6, 7, 8, 9]), ("record milk field title", [2]),
            ("type Note field rank user bert", []),
            ("owner bert", [3]), ("where Note rank > 6", [6, 9]),
            ("record milk where Note rank >= 7 AND rank < 9", [6, 9]), ("user anna where Note rank > 6", [6, 9]),
        ] {
            let forward = Array(repeating: "continue", count: wanted.count + 1)
            let back = Array(repeating: "rcontinue", count: wanted.count + 1)
            let place = what.contains("where") || what.contains("owner") ? ["--user", "anna"] : []
            let found = try stops(fixture, ["break \(what)"] + forward, place)
            #expect(found == wanted + [9], "\(what)")
            // At the end itself nothing is in front of it.
            let behind = wanted.filter { $0 < 9 }
            let commands = ["break \(what)", "goto end"] + back.dropLast(wanted.count - behind.count)
            let again = try stops(fixture, commands, place)
            #expect(again == [9] + behind.reversed() + [0], "\(what), back")
        }
    }

    @Test func untilGoesBothWays() throws {
        let fixture = try fixture([7, 9, 2, 8])
        let user = ["--user", "anna"]
        #expect(try stops(fixture, Array(repeating: "until Note rank > 6", count: 3), user) == [6, 9, 9])
        #expect(try stops(fixture, ["goto end", "runtil Note rank > 6", "ru Note rank > 6"], user) == [9, 6, 0])
        #expect(try stops(fixture, ["until Note title BEGINSWITH 'Buy' --record milk --user anna"]) == [2])
        #expect(try stops(fixture, ["until Note \"rank > 6\" --user anna --zone Notes"]) == [6])
        #expect(try stops(fixture, ["break device tablet", "until Note rank > 6 --user anna"]) == [4])
    }

    @Test func timesAndPlaces() throws {
        let fixture = try fixture([7])
        func time(_ offset: Int64) -> String { "@\(StateFixture.startTime + offset * 1_000_000)" }
        let places = ["goto \(time(3))", "goto start", "goto end", "goto 2", "where"]
        #expect(try stops(fixture, places) == [3, 0, 6, 2, 2])
        #expect(try stops(fixture, ["step"], ["--at", "4"]) == [5])
        #expect(try stops(fixture, ["step"], ["--at", time(2)]) == [3])
        let behind = try run(fixture, ["step"], ["--at", "99"])
        #expect(behind.code == 1 && behind.errors.contains("no state at that point"))
    }

    @Test func aRecordIsThatOfItsPlace() throws {
        let fixture = try fixture([7, 9])
        let result = try run(
            fixture, ["goto 3", "print milk rank", "goto end", "print milk rank", "goto 1", "p milk rank"])
        #expect(result.code == 0)
        let answers = result.lines.filter { $0.hasPrefix("rank = ") || $0.hasPrefix("there is no") }
        #expect(answers == ["rank = 2", "rank = 9", "there is no record milk here, after commit 1"])
        let got = try fixture.run("get", store, "milk", "--user", "anna", "--zone", "Notes", "--at", "4")
        let printed = try run(fixture, ["print milk"], ["--at", "4"])
        #expect(printed.output == "strata 4> print milk\n" + got.output)
        let asked = try fixture.run("query", store, "Note", "rank > 2", "--user", "anna", "--at", "6")
        let found = try run(fixture, ["query Note rank > 2"], ["--at", "6", "--user", "anna"])
        #expect(found.output == "strata 6> query Note rank > 2\n" + asked.output)
        let compared = try fixture.run("diff", store, "2", "6")
        let differed = try run(fixture, ["diff 2"], ["--at", "6"])
        #expect(differed.output == "strata 6> diff 2\n" + compared.output)
        let explained = try fixture.run("explain", store, "6")
        #expect(try run(fixture, ["why"], ["--at", "6"]).output == "strata 6> why\n" + explained.output)
    }

    @Test func statesOnBothSides() throws {
        let fixture = try fixture([7, 9, 2, 8])
        let result = try run(
            fixture,
            ["goto 6", "query Note rank > 6", "step", "query Note rank > 8", "goto 3", "query Note rank > 1"],
            ["--user", "anna", "--json"])
        #expect(result.code == 0)
        let counts = try result.lines.compactMap { line in
            (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["records"] as? Int
        }
        #expect(counts == [1, 1, 1])
    }

    // MARK: Mistakes

    @Test(arguments: [
        ("stpe", "unknown command stpe; did you mean step?", 2), ("b", "WHAT is missing", 2),
        ("w milk --usr anna", "unknown option --usr; did you mean --user?", 2), ("re", "unknown command re", 2),
        ("w", "RECORD is missing", 2), ("step x", "N takes a number, not 'x'", 2),
        ("step 1 2", "unexpected argument '2'", 2), ("break recrod milk", "did you mean record?", 2),
        ("break record", "record needs a name", 2), ("break record a record b", "record is given twice", 2),
        ("break where Note", "where needs a type and a predicate", 2), ("un", "'un' is ambiguous: until, unwatch", 2),
        ("break where Note rank >", "where, character", 2),
        ("break refusal where Note rank > 1", "cannot be combined", 2),
        ("break user bret", "no user is named 'bret'; did you mean bert?", 1),
        ("break field ranks", "did you mean rank?", 1),
        ("break type Noet", "did you mean Note?", 1), ("watch chees", "the log does not have a record 'chees'", 1),
        ("print milk --zone Nowhere", "no zone is named 'Nowhere'", 1), ("goto 99", "no state at that point", 1),
        ("goto soon", "a place is an offset, or a time", 2), ("delete 3", "there is no breakpoint or watch 3", 2),
        ("why", "there is no commit here", 1), ("print 'milk", "a quote is never closed", 2),
        ("until Noat rank > 1", "Did not find record type: Noat", 1), ("help stpe", "did you mean step?", 2),
    ])
    func mistakes(_ line: String, _ problem: String, _ code: Int32) throws {
        let fixture = try fixture()
        let result = try run(fixture, [line, "where"])
        #expect(result.code == code && result.errors.contains(problem), "\(result)")
        #expect(result.errors.hasPrefix("strata debug: -e '\(line)': "), "\(result.errors)")
        #expect(result.output == "strata 0> \(line)\n", "nothing comes behind it")
    }

    @Test func aScriptSaysTheLineOfAMistake() throws {
        let fixture = try fixture()
        let script = "# Looks for milk.\n\nstep\nstop\n"
        try Data(script.utf8).write(to: URL(fileURLWithPath: fixture.directory.path("hunt")))
        let result = try fixture.run("debug", store, "--script", "hunt")
        #expect(result.code == 2)
        #expect(result.errors.hasPrefix("strata debug: hunt, line 4: unknown command stop; did you mean step?"))
        #expect(result.output.hasPrefix("strata 0> # Looks for milk.\nstrata 0> step\n1 2026-"))
        let missing = try fixture.run("debug", store, "--script", "none")
        #expect(missing.code == 3 && missing.errors.contains("none"))
        try Data([0xFF, 0x0A]).write(to: URL(fileURLWithPath: fixture.directory.path("bytes")))
        let bytes = try fixture.run("debug", store, "--script", "bytes")
        #expect(bytes.code == 3 && bytes.errors.contains("The script is not text."))
    }

    @Test func scriptsComeInOrderAndQuitEndsThem() throws {
        let fixture = try fixture()
        for (name, text) in [("one", "step\n"), ("two", "s 2")] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: fixture.directory.path(name)))
        }
        let result = try fixture.run(
            "debug", store, "--script", "one", "--script", "two", "-e", "back", "-e", "q", "-e", "step")
        #expect(result.code == 0)
        let prompts = result.lines.filter { $0.hasPrefix("strata ") }
        #expect(prompts == ["strata 0> step", "strata 1> s 2", "strata 3> back", "strata 2> q"])
    }

    // MARK: JSON

    @Test func everyObjectFollowsATable() throws {
        let fixture = try fixture([7, 9])
        let result = try run(
            fixture,
            [
                "break record milk", "watch milk rank", "watch milk", "breakpoints", "continue", "step", "goto 4",
                "print milk rank", "print milk nothing", "print milk", "print", "diff", "why", "list", "query Note",
                "until Note rank > 8",
            ], ["--user", "anna", "--json"])
        #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
        let headings = [
            "A stop of a debugger", "A mark of a debugger", "A field in a debugger", "A note of a debugger", "A commit",
            "A record in full", "A record that differs", "The end of a diff", "An explanation", "A record",
            "The end of a query",
        ]
        var seen: [String: [[String: Any]]] = [:]
        for line in result.lines {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let heading = try #require(try headings.first { try PromisedKeys.follows(object, $0) }, "\(line)")
            seen[heading, default: []].append(object)
        }
        for heading in headings.prefix(4) {
            try PromisedKeys.expectAll(of: heading, in: try #require(seen[heading], "\(heading)"))
        }
    }

    // MARK: Damage

    @Test func damageIsToldAndTheFrontIsWhole() throws {
        let fixture = try fixture([7, 9, 2])
        try fixture.damage(7)
        let result = try run(fixture, ["step 6", "print milk rank", "step"])
        #expect(result.code == 3 && result.errors.contains("badChecksum"), "\(result)")
        #expect(result.output.contains("rank = 7\n"))
    }
}
