import Foundation
import StrataModel
import TestSupport
import Testing

@testable import StrataTool

@Suite struct CompletionsCommandTests {
    private static let shells = ["bash", "zsh", "fish"]

    @Test(arguments: shells)
    func everyCommandAndOptionIsInIt(_ shell: String) throws {
        let result = try ToolProcess.run("completions", shell, in: "/tmp")
        #expect(result.code == 0 && result.errors.isEmpty)
        for command in CommandRegistry.commands {
            #expect(result.output.contains(command.name))
            for option in command.options {
                #expect(result.output.contains(option.name.drop { shell == "fish" && $0 == "-" }), "\(option.name)")
            }
        }
    }

    /// What bash would offer for a line whose last word is being written.
    private func offered(_ words: String...) throws -> [String] { try offered(words) }

    private func offered(_ words: [String], in folder: String? = nil, store: String = "") throws -> [String] {
        let directory = try TestDirectory()
        let script = try ToolProcess.run("completions", "bash", in: directory.path).output
        let line = words.map(ShellCompletions.quoted).joined(separator: " ")
        let program = """
            strata() { \(ShellCompletions.quoted(try ToolProcess.toolPath)) "$@"; }
            \(script)
            compopt() { echo "files"; }
            COMP_WORDS=(\(line))
            COMP_CWORD=\(words.count - 1)
            _strata
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try ToolProcess.run(
            ["-c", program], in: folder ?? directory.path, program: "/bin/bash",
            environment: ["STRATA_STORE=\(store)"])
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        return result.lines.map(String.init).sorted()
    }

    @Test func bashOffersWhatFits() throws {
        #expect(try offered("strata", "ver") == ["verify"])
        #expect(try offered("strata", "help", "seg") == ["segments"])
        #expect(try offered("strata", "info", "--js") == ["--json"])
        #expect(try offered("strata", "info", "--color", "n") == ["never"])
        #expect(try offered("strata", "completions", "") == ["bash", "fish", "zsh"])
        #expect(try offered("strata", "info", "Notes").contains("files"))
        #expect(try offered("strata", "log", "--from", "1").contains("files"))
        #expect(try offered("strata", "nonsense", "--") == [])
        #expect(try offered("strata", "query", "--lim") == ["--limit"])
    }

    @Test func bashOffersWordsOfClosedSets() throws {
        #expect(try offered("strata", "log", "--outcome", "re") == ["refused"])
        #expect(try offered("strata", "log", "--kind", "record s") == ["record\\ saved"])
        #expect(try offered("strata", "log", "--kind", "\"record s") == ["record saved"])
        #expect(try offered("strata", "zones", "--database", "") == ["private", "public", "shared"])
        #expect(try offered("strata", "erase", "--database", "") == ["private", "public"])
        #expect(try offered("strata", "feed", "--database", "p") == ["private"])
        #expect(try offered("strata", "info", "--color", "=", "n") == ["never"])
        #expect(try offered("strata", "what-if", "S", "--policy", "12", "=", "ch") == ["changed-keys"])
        #expect(try offered("strata", "what-if", "S", "--policy", "schema", "=") == ["enforced", "open"])
        #expect(try offered("strata", "schema", "ex") == ["export"])
    }

    @Test func bashOffersNamesOfTheStore() throws {
        let fixture = try StateFixture()
        try fixture.change { store in
            try fixture.save("$(touch planted)", ["rank": .int64(1)], to: store)
            try fixture.save("a:b", ["rank": .int64(1)], to: store)
        }
        func offered(_ words: [String], store: String = "") throws -> [String] {
            try self.offered(words, in: fixture.directory.path, store: store)
        }
        let get = ["strata", "get", fixture.name]
        #expect(try offered(get + ["--user", "a"]) == ["anna"])
        #expect(try offered(get + ["--user", "=", "an"]) == ["anna"])
        #expect(try offered(get + ["--user", "anna", "--zone", ""]) == ["Notes", "Work", "_defaultZone"])
        #expect(try offered(get + ["--user", "anna", "--zone", "'Notes'", "m"]) == ["milk"])
        #expect(try offered(get + ["--user", "anna", "--zone", "Work", "m"]) == ["files"])
        #expect(try offered(get + ["--database", "public", "ne"]) == ["news"])
        #expect(try offered(get + ["a", ":"]) == ["b"])
        #expect(try offered(get + ["$"]) == ["\\$\\(touch\\ planted\\)"])
        #expect(try offered(["strata", "query", fixture.name, "N"]) == ["Note"])
        #expect(try offered(["strata", "log", fixture.name, "--type", "It"]) == ["Item"])
        #expect(try offered(["strata", "device", fixture.name, "anna", ""]) == ["phone", "tablet"])
        #expect(try offered(["strata", "feed", fixture.name, "W"]) == ["Work"])
        #expect(try offered(["strata", "get", "mi"], store: fixture.name) == ["milk"])
        #expect(try offered(["strata", "get", "mi"]) == ["files"])
        #expect(!FileManager.default.fileExists(atPath: fixture.directory.path("planted")))
    }

    @Test func answersAreBoundedAndSilent() throws {
        let fixture = try StateFixture()
        try fixture.change { try fixture.saveMany(220, bytes: 1, to: $0) }
        let before = try fixture.content()
        let many = try fixture.run("completions", "--words", "get", fixture.name, "many-")
        #expect(many.code == 0 && many.lines.count == CompletionWords.maximumCount && many.errors.isEmpty)
        #expect(try fixture.content() == before)
        for line in [["get", "Nope.strata", ""], ["get", "file:///nope", ""], ["nonsense", ""], ["get"], []] {
            let result = try fixture.run(["completions", "--words"] + line)
            #expect(result.code == 0 && result.output.isEmpty && result.errors.isEmpty, "\(line): \(result)")
        }
        try fixture.damage(2)
        let damaged = try fixture.run("completions", "--words", "get", fixture.name, "--user", "")
        #expect(damaged.code == 0 && damaged.errors.isEmpty)
        #expect(try !ToolProcess.run("help", "completions", in: "/tmp").output.contains("--words"))
    }

    @Test(arguments: ["zsh", "fish"]) func otherShellsHaveTheSetsAndAsk(_ shell: String) throws {
        let script = try ToolProcess.run("completions", shell, in: "/tmp").output
        #expect(script.contains("strata completions --words") && script.contains("committed"))
        #expect(script.contains(shell == "zsh" ? "(public private shared)" : "\"'public' 'private' 'shared'\""))
        #expect(script.contains(shell == "zsh" ? "record\\ saved" : "'record saved'"))
    }

    @Test func anotherShellIsAMistake() throws {
        let result = try ToolProcess.run("completions", "bsh", in: "/tmp")
        #expect(result.code == 2 && result.output.isEmpty)
        #expect(result.errors.contains("SHELL must be bash, zsh or fish, not 'bsh'") && result.errors.contains("bash"))
        #expect(try ToolProcess.run("completions", in: "/tmp").code == 2)
    }
}
