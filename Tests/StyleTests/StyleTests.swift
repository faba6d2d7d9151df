import Foundation
import Testing

@Suite("Style of the repository")
struct StyleTests {
    @Test("The files of the repository follow every rule")
    func everyRule() throws {
        var files = try Repository.files()
        if ProcessInfo.processInfo.environment["STRATA_UPDATE_GOLDEN"] == "1" {
            let surface = PublicSurfaceRule.declarations(in: files).map { $0.text + "\n" }.joined()
            let lines = ModuleLinesRule.lines(in: files).map { "\($0.count) \($0.module)\n" }.joined()
            for (list, text) in [(PublicSurfaceRule.list, surface), (ModuleLinesRule.list, lines)] {
                try Data(text.utf8).write(to: Repository.root.appending(path: list))
            }
            files = try Repository.files()
        }
        // A list without this file is not the repository's.
        try #require(files.contains { $0.path == "Tests/StyleTests/StyleTests.swift" })
        for (name, rule) in StyleRules.all {
            let findings = rule.findings(in: files)
            for finding in findings { Issue.record("\(finding) [\(name)]") }
        }
    }

    @Test(
        "A file that a page shows is the one of the repository",
        arguments: [
            ("docs/engine.md", "swift", "Examples/SmallProgram/main.swift"),
            ("docs/guide/ci.md", "yaml", "Examples/TestedApp/.github/workflows/tests.yml"),
            ("docs/guide/ci.md", "dockerfile", "Examples/TestedApp/Dockerfile"),
        ])
    func shownFiles(page: String, language: String, path: String) throws {
        let files = try Repository.files()
        let text = try #require(files.first { $0.path == page }).lines
        // The page leaves out what has to do with the command line.
        let shown = try #require(files.first { $0.path == path }).lines.filter { !$0.contains("ExampleArguments") }
        // The file ends with the end of its last line.
        #expect(Array(text.drop { $0 != "```\(language)" }.dropFirst().prefix { $0 != "```" }) == shown.dropLast())
    }
}
