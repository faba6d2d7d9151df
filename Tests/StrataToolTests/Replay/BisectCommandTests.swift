import Foundation
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

@Suite("strata bisect")
struct BisectCommandTests {
    private let store = "Notes.strata"

    /// Commit 5 is the last one of the fixture; behind it `milk` gets these ranks, one commit each.
    private func fixture(_ ranks: [Int64] = []) throws -> StateFixture {
        let fixture = try StateFixture()
        try fixture.change { store in
            for rank in ranks { try fixture.save("milk", ["rank": .int64(rank)], to: store) }
        }
        return fixture
    }

    private func words(_ predicate: String, _ more: [String] = []) -> [String] {
        ["bisect", store, "Note", "--where", predicate, "--user", "anna"] + more
    }

    @Test("The commit is shown as log shows it, with the record before and after")
    func found() throws {
        let fixture = try fixture()
        for more in [[], ["--record", "milk"], ["--record", "milk", "--zone", "Notes"], ["--from", "3"]] {
            let result = try fixture.run(words("rank > 2", more))
            #expect(result.code == 0 && result.errors.isEmpty)
            let log = try fixture.run("log", store, "--from", "4", "--to", "4")
            #expect(result.output.hasPrefix("holds after\n" + log.output))
            #expect(result.output.contains("    record milk in Notes, private of anna\n        before  "))
            #expect(result.output.contains("rank=2"))
            #expect(result.output.contains("rank=3"))
            #expect(result.output.hasSuffix("it holds from there up to commit 5\n"))
        }
    }

    @Test("It says that it flips more than once, and lists each flip if asked to")
    func flips() throws {
        let fixture = try fixture([1, 9, 9, 2])
        let once = try fixture.run(words("rank > 2"))
        #expect(once.code == 0)
        #expect(once.output.contains("commit 4 ") && !once.output.contains("commit 6 "))
        #expect(once.output.hasSuffix("it begins or ceases to hold 4 times up to commit 9; --all lists each\n"))
        let all = try fixture.run(words("rank > 2", ["--all"]))
        let found = all.lines.filter { $0.hasPrefix("commit ") }.map { $0.split(separator: " ")[1] }
        #expect(found == ["4", "6", "7", "9"])
        #expect(
            all.lines.filter { $0.hasSuffix("holds after") } == [
                "holds after", "no longer holds after", "holds after", "no longer holds after",
            ])
        let objects = try fixture.objects(words("rank > 2", ["--all"]))
        #expect(objects.compactMap { $0["offset"] as? Int } == [4, 6, 7, 9])
        #expect(objects.compactMap { $0["holds"] as? Bool } == [true, false, true, false])
        for object in objects.dropLast() { try PromisedKeys.expect(object, follows: "A flip") }
        let first = try #require(objects.first)
        try PromisedKeys.expectAll(of: "A flip", in: [first])
        try PromisedKeys.expect(try #require(first["commit"] as? [String: Any]), follows: "A commit")
        for key in ["before", "after"] {
            try PromisedKeys.expect(try #require(first[key] as? [String: Any]), follows: "A record in full")
        }
        #expect(objects.last?["flips"] as? Int == 4)
        #expect(objects.last?["holdsAtStart"] as? Bool == false)
    }

    @Test("What never holds ends with 1, and what holds from the beginning, which says where it ceases to")
    func no() throws {
        let fixture = try fixture([1])
        let never = try fixture.run(words("rank > 100"))
        #expect(never.code == 1 && never.output.isEmpty)
        #expect(never.errors == "strata bisect: no record matches after any of commits 1 to 6\n")
        let start = try fixture.run(words("rank > 2", ["--from", "4"]))
        #expect(start.code == 1 && start.output.isEmpty)
        #expect(
            start.errors == "strata bisect: it already holds after commit 4\n"
                + "  It ceases to hold after commit 6: --from 6 finds when it begins again.\n")
        let listed = try fixture.run(words("rank > 2", ["--from", "4", "--all"]))
        #expect(listed.code == 1 && listed.output.hasPrefix("no longer holds after\ncommit 6 "))
        for (more, problem) in [
            (["--record", "cheese"], "no record matches after any of commits"),
            (["--zone", "Nowhere"], "Zone 'Nowhere' does not exist"),
            (["--to", "99"], "no state at that point"),
        ] {
            let result = try fixture.run(words("rank > 2", more))
            #expect(result.code == 1 && result.errors.contains(problem), "\(more): \(result.errors)")
        }
        let type = try fixture.run("bisect", store, "Noat", "--where", "rank > 2", "--user", "anna")
        #expect(type.code == 1 && type.errors.contains("Did not find record type: Noat"))
        let object = try #require(try fixture.objects(words("rank > 100")).first)
        try PromisedKeys.expect(object, follows: "The end of a bisection")
    }

    @Test("A range by times is that of the commits which they name")
    func times() throws {
        let fixture = try fixture([1, 9])
        func time(_ offset: Int64) -> String { "@\(StateFixture.startTime + offset * 1_000_000)" }
        let result = try fixture.objects(words("rank > 2", ["--from", time(6), "--to", time(7)]))
        #expect(result.compactMap { $0["offset"] as? Int } == [7])
        #expect(result.last?["from"] as? Int == 6 && result.last?["to"] as? Int == 7)
    }

    @Test(
        "A mistake in the command line says what is wrong",
        arguments: [
            (["bisect", "Notes.strata"], "nothing to search for"),
            (["bisect", "Notes.strata", "Note"], "nothing to search for"),
            (["bisect", "Notes.strata", "--where", "rank > 2"], "--where needs the record type"),
            (["bisect", "Notes.strata", "Note", "--where", "rank >"], "--where, character"),
            (["bisect", "Notes.strata", "Note", "--where", "rank > 2", "--run", "true"], "cannot be combined"),
            (["bisect", "Notes.strata", "Note", "--run", "true"], "takes no TYPE"),
            (["bisect", "Notes.strata", "--run", "true", "--record", "milk"], "--record is for --where"),
            (["bisect", "Notes.strata", "--run", "true", "--all"], "--all is for --where"),
            (["bisect", "Notes.strata", "--run", "true", "--from", "4", "--to", "3"], "--from is after --to"),
            (["bisect", "Notes.strata", "--run", "true", "--from", "soon"], "--from takes an offset"),
        ])
    func usage(_ words: [String], _ problem: String) throws {
        let result = try fixture().run(words)
        #expect(result.code == 2 && result.errors.contains(problem), "\(result.errors)")
    }

    @Test("A predicate that cannot be asked is refused")
    func refused() throws {
        let fixture = try fixture()
        for predicate in ["list.title == 'x'", "pin == '1234'"] {
            let result = try fixture.run(words(predicate))
            #expect(result.code == 1 && !result.errors.isEmpty && result.output.isEmpty, "\(predicate)")
        }
    }

    @Test("Of a damaged store it answers from what is whole, and ends with 3")
    func damaged() throws {
        let fixture = try fixture([1, 9])
        try fixture.damage(6)
        let result = try fixture.run(words("rank > 2"))
        #expect(result.code == 3 && result.output.hasPrefix("holds after\ncommit 4 "), "\(result.errors)")
    }
}

@Suite("strata bisect --run", .serialized)
struct BisectRunTests {
    private let store = "Notes.strata"

    /// A directory for temporary files of its own, to see what is left in it.
    private func run(_ fixture: StateFixture, _ script: String, _ more: [String] = []) throws -> ToolResult {
        let folder = fixture.directory.path("temporary")
        try RealFileSystem().makeDirectory(folder)
        let tool = try ToolProcess.toolPath
        let line = ["-c", "TMPDIR=\"$0\" exec \"$@\"", folder, tool, "bisect", store, "--run", script] + more
        let result = try ToolProcess.run(line, in: fixture.directory.path, program: "/bin/sh")
        #expect(try RealFileSystem().list(folder).isEmpty)
        return result
    }

    @Test("The command gets a store as it was, which it may read and change, and the first commit is found")
    func found() throws {
        let fixture = try StateFixture()
        let before = try fixture.content()
        let tool = try ToolProcess.toolPath
        let (past, place) = ("\"$STRATA_BISECT_STORE\"", "milk --user anna --zone Notes")
        let script = """
            '\(tool)' get \(past) \(place) | grep -q 'rank  *int64  *3$' && exit 1
            last=$('\(tool)' info \(past) --json | grep -o '"commits":[0-9]*' | cut -d: -f2)
            test $last = $STRATA_BISECT_OFFSET || exit 200
            '\(tool)' erase \(past) \(place) --apply --reason test > /dev/null 2>&1
            rm -r \(past)/log
            exit 0
            """
        let result = try run(fixture, script, ["--verbose"])
        #expect(result.code == 0, "\(result.errors)")
        let log = try fixture.run("log", store, "--from", "4", "--to", "4")
        #expect(result.output.hasPrefix("holds after\n" + log.output))
        #expect(result.output.hasSuffix("found in 4 steps\n"))
        for line in ["commit 5: holds (1)", "commit 2: does not hold yet", "commit 4: holds (1)"] {
            #expect(result.errors.contains(line), "\(result.errors)")
        }
        #expect(try fixture.content() == before)
    }

    @Test(
        "Each exit status has its meaning",
        arguments: [
            ("test $STRATA_BISECT_OFFSET -lt 3", 0, "", [3]),
            ("test $STRATA_BISECT_OFFSET -lt 3 || exit 127", 0, "", [3]),
            ("exit 0", 1, "it does not hold after commit 5", []),
            ("exit 125", 1, "could not test the state after commit 5", []),
            ("exit 128", 3, "exited with 128 after commit 5, so the search ends", []),
            ("kill -9 $$", 3, "signal 9 ended the command after commit 5", []),
            ("test $STRATA_BISECT_OFFSET = 5 || exit 125", 1, "it does not hold after commit 5", []),
            ("case $STRATA_BISECT_OFFSET in 5) exit 1;; *) exit 125;; esac", 1, "it is one of the commits 1 to 5", []),
            ("case $STRATA_BISECT_OFFSET in 3) exit 125;; 4|5) exit 1;; esac", 1, "one of the commits 3 to 4", []),
        ] as [(String, Int32, String, [Int])])
    func statuses(_ script: String, _ code: Int32, _ problem: String, _ found: [Int]) throws {
        let fixture = try StateFixture()
        let result = try run(fixture, script, ["--json"])
        #expect(result.code == code && (problem.isEmpty || result.errors.contains(problem)), "\(result.errors)")
        let objects = try result.lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.compactMap { $0["offset"] as? Int } == found)
        if code < 3 {
            try PromisedKeys.expect(try #require(objects.last), follows: "The end of a bisection")
            #expect(objects.last?["steps"] is Int)
        }
    }

    @Test("The range is what --from and --to say; what holds at its beginning is told")
    func range() throws {
        let fixture = try StateFixture()
        let script = "test $STRATA_BISECT_OFFSET -lt 3"
        let result = try run(fixture, script, ["--from", "3"])
        #expect(result.code == 1 && result.errors.contains("it already holds after commit 3"))
        #expect(try run(fixture, script, ["--to", "2"]).code == 1)
        #expect(try run(fixture, script, ["--from", "2", "--to", "3"]).code == 0)
    }

    @Test("What the command prints is not part of the answer, and nothing is told without --verbose")
    func output() throws {
        let fixture = try StateFixture()
        let script = "echo heard; test $STRATA_BISECT_OFFSET -lt 3"
        let result = try run(fixture, script)
        #expect(result.code == 0 && !result.output.contains("heard"))
        #expect(result.errors.split(separator: "\n").allSatisfy { $0 == "heard" })
    }

    @Test("Whoever interrupts it leaves no files behind")
    func interrupted() throws {
        let fixture = try StateFixture()
        let result = try run(fixture, "kill -TERM $PPID; sleep 10")
        #expect(result.code == 3 && result.errors.contains("interrupted"))
    }
}
