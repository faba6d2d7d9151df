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
    private func offered(_ words: String...) throws -> [String] {
        let directory = try TestDirectory()
        let script = try ToolProcess.run("completions", "bash", in: directory.path).output
        let line = words.map { "'\($0)'" }.joined(separator: " ")
        let program = """
            \(script)
            compopt() { echo "files"; }
            COMP_WORDS=(\(line))
            COMP_CWORD=\(words.count - 1)
            _strata
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try ToolProcess.run(["-c", program], in: directory.path, program: "/bin/bash")
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
    }

    @Test func anotherShellIsAMistake() throws {
        let result = try ToolProcess.run("completions", "bsh", in: "/tmp")
        #expect(result.code == 2 && result.output.isEmpty)
        #expect(result.errors.contains("SHELL must be bash, zsh or fish, not 'bsh'") && result.errors.contains("bash"))
        #expect(try ToolProcess.run("completions", in: "/tmp").code == 2)
    }
}
