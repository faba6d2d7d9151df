import StrataSystem
import TestNeeds
import TestSupport
import Testing

@testable import StrataTool

/// What the tool does for somebody who sits at a terminal: `script` gives it one.
@Suite(.needs(.terminal), .needs(.script)) struct TerminalTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// - Parameter environment: assignments in front of the command line.
    private func atTerminal(_ words: String, _ environment: String = "") throws -> ToolResult {
        let line = "\(environment) '\(try ToolProcess.toolPath)' \(words)"
        let script: String = try #require(Programs.path("script"))
        return try ToolProcess.run(["-qec", line, "/dev/null"], in: directory.path, program: script)
    }

    @Test func thePagerShowsWhatIsPrinted() throws {
        let shown = try atTerminal("help info", "PAGER='sed s/^/paged:/'")
        #expect(shown.code == 0 && shown.lines.allSatisfy { $0.hasPrefix("paged:") || $0.isEmpty }, "\(shown)")
        #expect(shown.output.contains("paged:strata info: "))
        let own = try atTerminal("help info", "PAGER=false STRATA_PAGER='sed s/^/own:/'")
        #expect(own.code == 0 && own.output.contains("own:strata info: "))
    }

    @Test func nobodyIsPagedWhoDoesNotWantIt() throws {
        for (words, environment) in [
            ("help info --no-pager", "PAGER='sed s/^/paged:/'"), ("help info", "PAGER="), ("help info", "PAGER=cat"),
        ] {
            let shown = try atTerminal(words, environment)
            #expect(shown.code == 0 && !shown.output.contains("paged:"), "\(shown)")
            #expect(shown.output.contains("strata info: "))
        }
        // No terminal, no pager.
        let program = "PAGER='sed s/^/paged:/' '\(try ToolProcess.toolPath)' help info"
        let piped = try ToolProcess.run(["-c", program], in: directory.path, program: "/bin/sh")
        #expect(piped.code == 0 && !piped.output.contains("paged:"))
    }

    @Test func aPagerThatEndsEarlyEndsTheToolQuietly() throws {
        let shown = try atTerminal("manual --help", "PAGER='head -n 1'")
        #expect(shown.code == 0 && shown.lines.count == 1, "\(shown)")
    }

    @Test func anErrorComesBehindWhatThePagerShowed() throws {
        let shown = try atTerminal("info missing.strata", "PAGER='sed s/^/paged:/'")
        #expect(shown.code == 3 && shown.output.contains("The file or directory does not exist."), "\(shown)")
    }

    @Test func colorIsOneOfThree() throws {
        let wrong = try ToolProcess.run("help", "--color", "blue", in: directory.path)
        #expect(wrong.code == 2 && wrong.errors.contains("--color must be auto, always or never, not 'blue'"))
        for choice in ["auto", "always", "never"] {
            #expect(try ToolProcess.run("help", "--color", choice, in: directory.path).code == 0)
        }
    }
}
