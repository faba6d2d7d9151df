import Foundation
import Testing

@testable import StrataTool

/// With `--json` an error is one object on the standard error.
@Suite struct JSONErrorTests {
    struct Problem: Equatable {
        var code: String
        var message: String
        var suggestion: String?
    }

    /// The only line, which has the keys that docs/reference/json.md promises.
    private func problem(_ result: ToolResult) throws -> Problem {
        let lines = result.errors.split(separator: "\n")
        try #require(lines.count == 1, "\(result)")
        let line = try #require(try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
        try PromisedKeys.expect(line, follows: "An error")
        let error = try #require(line["error"] as? [String: Any])
        try PromisedKeys.expect(error, follows: "What went wrong")
        return Problem(
            code: try #require(error["code"] as? String), message: try #require(error["message"] as? String),
            suggestion: error["suggestion"] as? String)
    }

    @Test func ofACommandLine() throws {
        let result = try ToolProcess.run("log", "S", "--json", "--folow", in: "/tmp")
        #expect(result.code == 2 && result.output.isEmpty)
        #expect(
            try problem(result) == Problem(code: "usage", message: "unknown option --folow", suggestion: "--follow"))
        let unknown = try ToolProcess.run("lgo", "--json", in: "/tmp")
        #expect(try problem(unknown) == Problem(code: "usage", message: "unknown command lgo", suggestion: "log"))
        let none = try ToolProcess.run("info", "--json", in: "/tmp")
        #expect(try problem(none).code == "usage" && problem(none).suggestion == nil)
        // A word after two dashes is not the option.
        let text = try ToolProcess.run("info", "--", "--json", in: "/tmp")
        #expect(text.code == 3 && text.errors.hasPrefix("strata info: The file"), "\(text)")
    }

    @Test func ofAStore() throws {
        let result = try ToolProcess.run("info", "Nope.strata", "--json", in: "/tmp")
        let found = try problem(result)
        #expect(result.code == 3 && found.code == "notFound")
        #expect(found.message == "The file or directory does not exist. [in Nope.strata] (notFound)")
        #expect(found.suggestion == "Check the path: it must be a store's directory, such as Notes.strata.")
        let variable = try ToolProcess.run(
            ["info", "--json"], in: "/tmp", environment: ["STRATA_STORE=Nope.strata"])
        #expect(try problem(variable).suggestion?.hasSuffix("\nThe store is that of STRATA_STORE.") == true)

        let fixture = try StateFixture()
        try fixture.damage(4)
        let damaged = try fixture.run("log", fixture.name, "--json")
        #expect(damaged.code == 3 && damaged.lines.count == 3)
        let text = try fixture.run("log", fixture.name).errors
        #expect(try problem(damaged).code == "badChecksum" && text.contains(problem(damaged).message))
    }

    @Test(arguments: [
        (["get", "milk", "nope", "--user", "anna", "--zone", "Notes"], "unknownItem"),
        (["records", "--user", "nobody"], "unknownItem"), (["show", "99"], "outOfRange"),
        (["history", "nope"], "notFound"), (["records", "--user", "anna", "--at", "99"], "outOfRange"),
        (["bisect", "Note", "--user", "anna", "--where", "rank > 99"], "notFound"),
        (["debug", "-e", "goto 99"], "outOfRange"), (["debug", "-e", "nonsense"], "usage"),
    ])
    func ofAnAnswer(_ words: [String], _ code: String) throws {
        let fixture = try StateFixture()
        let words = [words[0], fixture.name] + words.dropFirst()
        let (text, json) = (try fixture.run(words), try fixture.run(words + ["--json"]))
        #expect(text.code == json.code && text.code == (code == "usage" ? 2 : 1), "\(text)")
        let found = try problem(json)
        #expect(found.code == code, "\(found)")
        let firstLine = text.errors.prefix { $0 != "\n" }
        #expect(firstLine.contains(found.message), "\(found) \(text.errors)")
    }
}
