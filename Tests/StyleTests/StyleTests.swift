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
}
