import Foundation
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

/// `strata minimize`: what it prints, makes and refuses.
@Suite struct MinimizeCommandTests {
    private static let question = ["Note", "--where", "rank == 3", "--user", "anna"]
    private let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    private func minimize(_ words: String...) throws -> ToolResult {
        try fixture.run(["minimize", fixture.name] + Self.question + words)
    }

    @Test func fewCommitsAreLeft() throws {
        let before = try fixture.content()
        let result = try minimize()
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.lines.contains("it first holds after commit 4, which is minimized as with --at 4"), "\(result)")
        #expect(result.lines.map { $0.prefix(6) }.first == "1 2026", "\(result)")
        #expect(result.lines.contains("    only 1 of its 2 items"))
        #expect(
            result.lines.last?.hasPrefix("2 of 4 commits left, none of which can be removed; ") == true, "\(result)")
        #expect(try fixture.content() == before)
    }

    @Test func theNewStoreHasItAndIsWhole() throws {
        let result = try minimize("--out", "Few.strata", "--record", "milk")
        #expect(result.code == 0 && result.lines.last == "saved as Few.strata, up to offset 2", "\(result)")
        let query = try fixture.run("query", "Few.strata", "Note", "rank == 3", "--user", "anna")
        #expect(query.code == 0 && query.output.contains("milk"), "\(query)")
        #expect(try fixture.run("verify", "--deep", "Few.strata").code == 0)
        #expect(try fixture.run("verify", "--judge", "Few.strata").code == 0)
        for offset in ["1", "2"] {
            let without = "Without\(offset).strata"
            let told = try fixture.run("what-if", "Few.strata", "--drop", offset, "--out", without)
            #expect(told.code == 1)
            let less = try fixture.run("query", without, "Note", "rank == 3", "--user", "anna")
            #expect(!less.output.contains("milk"), "it holds without commit \(offset) too")
        }
        let again = try minimize("--out", "Few.strata")
        #expect(
            again.code == 1 && again.output.isEmpty && again.errors.contains("already exists at the path"), "\(again)")
    }

    @Test func anotherMomentIsAsGood() throws {
        let then = try fixture.run(
            "minimize", fixture.name, "Note", "--where", "rank == 2", "--user", "anna", "--at", "3")
        #expect(then.code == 0 && then.lines.contains { $0.hasPrefix("2 of 3 commits left") }, "\(then)")
        // Of itself it takes the commit that bisect finds, though the predicate does not hold any more.
        let first = try fixture.run("minimize", fixture.name, "Note", "--where", "rank == 2", "--user", "anna")
        #expect(first.code == 0 && first.output.contains("\nit first holds after commit 2, "), "\(first)")
        let end = ["minimize", fixture.name, "Note", "--where", "rank == 2", "--user", "anna", "--at", "5"]
        let now = try fixture.run(end)
        #expect(now.code == 1 && now.errors.contains("No record matches"), "\(now)")
        #expect(try minimize("--at", "99").code == 1)
    }

    @Test func assetsAndKeysComeAlong() throws {
        let result = try fixture.run(
            "minimize", fixture.name, "Note", "--where", "photo != nil", "--user", "anna", "--out", "F.strata")
        #expect(result.code == 0, "\(result)")
        let verified = try fixture.run("verify", "--deep", "F.strata")
        #expect(verified.code == 0 && verified.output.contains("assets ok: 1 file, 3 bytes"), "\(verified)")
    }

    @Test func aTestIsWritten() throws {
        let result = try minimize("--test", "LostRank.swift")
        #expect(result.code == 0 && result.lines.last == "test written to LostRank.swift", "\(result)")
        let text = try String(contentsOfFile: fixture.directory.path("LostRank.swift"), encoding: .utf8)
        #expect(text.contains("@Suite struct LostRank {") && text.contains("#expect(!isFound"))
        #expect(text.contains(#"store.container(user: "anna", device: "tablet")"#), "\(text)")
        let printed = try minimize("--test", "-", "--known-issue")
        #expect(printed.code == 0 && printed.output.hasPrefix("import CloudKit\n"), "\(printed)")
        #expect(printed.output.contains("withKnownIssue { #expect"))
    }

    @Test func linesOfJSONFollowTheGuide() throws {
        let objects = try fixture.objects(
            ["minimize", fixture.name] + Self.question + ["--out", "Few.strata", "--test", "Few.swift"])
        try PromisedKeys.expectAll(of: "A commit that is left", in: Array(objects.dropLast()))
        try PromisedKeys.expectAll(of: "The end of a minimization", in: objects.suffix(1))
        #expect(objects.last?["left"] as? Int == 2 && objects.last?["isMinimal"] as? Bool == true)
    }

    @Test func aLogThatBeginsWithABaseDoesSoAgain() throws {
        try fixture.change { try fixture.save("milk", ["rank": .int64(7)], to: $0) }
        try fixture.change { _ = try $0.compact(before: 5) }
        let words = ["minimize", fixture.name, "Note", "--where", "rank == 7", "--user", "anna"]
        let result = try fixture.run(words + ["--out", "Few.strata"])
        #expect(result.code == 0 && result.lines.last == "saved as Few.strata, up to offset 5", "\(result)")
        #expect(try fixture.run("verify", "--deep", "Few.strata").code == 0)
        let query = try fixture.run("query", "Few.strata", "Note", "rank == 7", "--user", "anna")
        #expect(query.output.contains("milk"), "\(query)")
        let test = try fixture.run(words + ["--test", "Few.swift"])
        #expect(test.code == 2 && test.errors.contains("begins with a base"), "\(test)")
        let held = try fixture.run("minimize", fixture.name, "List", "--where", "TRUEPREDICATE", "--user", "anna")
        #expect(held.code == 0 && held.output.hasPrefix("it holds before any commit"), "\(held)")
    }

    @Test func whatDoesNotHoldIsSaid() throws {
        let never = try fixture.run("minimize", fixture.name, "Note", "--where", "rank == 99", "--user", "anna")
        #expect(never.code == 1 && never.output.isEmpty && never.errors.contains("No record matches"), "\(never)")
        let unknown = try fixture.run("minimize", fixture.name, "Nothing", "--where", "a == 1", "--user", "anna")
        #expect(unknown.code == 1 && unknown.errors.contains("Did not find record type"), "\(unknown)")
    }

    @Test func whatFindsNothingLeavesNothing() throws {
        let words = ["minimize", fixture.name, "Note", "--where", "rank == 99", "--user", "anna"]
        #expect(try fixture.run(words + ["--test", "Few.swift", "--out", "Few.strata"]).code == 1)
        #expect(try fixture.run(words + ["--test", "nowhere/Few.swift", "--out", "Few.strata"]).code == 1)
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
        #expect(names.contains(fixture.name) && !names.contains { $0.hasPrefix("Few") }, "\(names)")
    }

    @Test func nothingIsMadeInsideOfTheStore() throws {
        for path in ["New", "log/New", "../\(fixture.name)/New"] {
            let result = try minimize("--out", "\(fixture.name)/\(path)")
            #expect(result.code == 2 && result.errors.contains("inside STORE"), "\(result)")
        }
        let lost = try minimize("--out", "nowhere/Few.strata")
        #expect(lost.code == 2 && lost.errors.contains("nowhere does not exist") && lost.output.isEmpty, "\(lost)")
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path(fixture.name))
        #expect(!names.contains { $0.hasPrefix("New") }, "\(names)")
    }

    @Test(arguments: [
        (["Note"], "give --where"), (["Note", "--where", "rank ="], "expected"),
        (["Note", "--where", "rank == 3", "--known-issue", "--user", "anna"], "--known-issue is for --test"),
        (["Note", "--where", "rank == 3", "--test", "-", "--json"], "cannot be combined"),
        (["Note", "--where", "list.rank == 3", "--user", "anna"], "keys without dots"),
        (["--where", "rank == 3"], "TYPE"),
    ])
    func badArgumentsSayWhatIsWrong(words: [String], problem: String) throws {
        let result = try fixture.run(["minimize", fixture.name] + words)
        #expect(result.code == 2 && result.errors.contains(problem), "\(result)")
    }

    @Test func aDamagedStoreIsMinimizedAsFarAsItIsWhole() throws {
        try fixture.damage(5)
        let result = try minimize()
        #expect(result.code == 3 && result.output.contains("commits left"), "\(result)")
    }
}
