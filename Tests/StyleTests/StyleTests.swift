import Testing

@Suite("Style of the repository")
struct StyleTests {
    @Test("The files of the repository follow every rule")
    func everyRule() throws {
        let files = try Repository.files()
        // A list without this file is not the repository's.
        try #require(files.contains { $0.path == "Tests/StyleTests/StyleTests.swift" })
        for (name, rule) in StyleRules.all {
            let findings = rule.findings(in: files)
            for finding in findings { Issue.record("\(finding) [\(name)]") }
        }
    }

    @Test("The program in README.md is the one that is built")
    func readmeProgram() throws {
        let files = try Repository.files()
        let readme = try #require(files.first { $0.path == "README.md" }).lines
        let program = try #require(files.first { $0.path == "Examples/SmallProgram/main.swift" }).lines
        let shown = readme.drop { $0 != "```swift" }.dropFirst().prefix { $0 != "```" }
        // The file ends with the end of its last line.
        #expect(Array(shown) == program.dropLast())
    }
}
