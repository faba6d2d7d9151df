import Testing

@testable import StrataTool

@Suite struct ManualCommandTests {
    @Test func everyCommandAndOptionIsInIt() throws {
        let result = try ToolProcess.run("manual", in: "/tmp")
        #expect(result.code == 0 && result.errors.isEmpty)
        let plain = result.output.split(separator: "\\-", omittingEmptySubsequences: false).joined(separator: "-")
        for command in CommandRegistry.commands {
            #expect(plain.contains(".SS \"strata \(command.name)"))
            for option in command.options { #expect(plain.contains(".B \"\(option.usage)\""), "\(option.name)") }
        }
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "ENVIRONMENT"] {
            #expect(result.lines.contains { $0 == ".SH \(section)" })
        }
    }

    /// groff takes anything else only behind another program.
    @Test func itIsASCII() throws {
        let result = try ToolProcess.run("manual", in: "/tmp")
        #expect(result.output.allSatisfy { $0.isASCII })
        #expect(result.output.contains("RECORD ..."))
    }

    /// A line that begins with a dot is a request, and there is no other than these.
    @Test func onlyKnownRequestsAreMade() throws {
        let result = try ToolProcess.run("manual", in: "/tmp")
        let known: Set<Substring> = [".TH", ".SH", ".SS", ".TP", ".B", ".I", ".PP", ".nf", ".fi"]
        for line in result.lines where line.hasPrefix(".") || line.hasPrefix("'") {
            #expect(known.contains(line.prefix { $0 != " " }), "\(line)")
        }
        #expect(result.output.hasPrefix(".TH STRATA 1 "))
    }
}
