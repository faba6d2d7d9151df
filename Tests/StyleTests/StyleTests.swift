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

    @Test("The programs in README.md are the ones that are built")
    func readmePrograms() throws {
        let files = try Repository.files()
        var readme = try #require(files.first { $0.path == "README.md" }).lines[...]
        for name in ["TwoDevices", "SmallProgram"] {
            let program = try #require(files.first { $0.path == "Examples/\(name)/main.swift" }).lines
            readme = readme.drop { $0 != "```swift" }.dropFirst()
            // The file ends with the end of its last line.
            #expect(Array(readme.prefix { $0 != "```" }) == program.dropLast())
        }
    }
}
