import Testing

@testable import StrataTool

@Suite struct HelpTests {
    @Test func version() throws {
        for word in ["--version", "version", "-V", "-v"] {
            let result = try ToolProcess.run(word, in: "/tmp")
            #expect(result.code == 0 && result.output == "strata 0.1.0-dev\n" && result.errors.isEmpty, "\(word)")
        }
    }

    @Test(arguments: [
        ("hist", "history"), ("LOG", "log"), ("Info", "info"), ("ls", "'zones' or 'records'"), ("lgo", "log"),
        ("s", "stats or show or subscriptions or shares or schema or segments"), ("fsck", "'verify'"),
        ("vers", "version"),
    ])
    func anUnknownCommandGetsAHint(_ word: String, _ hint: String) throws {
        let result = try ToolProcess.run(word, in: "/tmp")
        #expect(result.code == 2 && result.output.isEmpty)
        #expect(result.errors.contains("unknown command \(word); did you mean \(hint)?"), "\(result.errors)")
    }

    @Test func overviewNamesEveryCommand() throws {
        let result = try ToolProcess.run(
            ["COLUMNS=100", try ToolProcess.toolPath, "help"], in: "/tmp", program: "/usr/bin/env")
        #expect(result.code == 0)
        for command in CommandRegistry.commands {
            #expect(result.lines.contains { $0.hasPrefix("  \(command.name) ") && $0.hasSuffix(command.summary) })
        }
        let narrow = try ToolProcess.run("help", in: "/tmp")
        #expect(try ToolProcess.run("--help", in: "/tmp").output == narrow.output)
        #expect(narrow.lines.allSatisfy { $0.count <= 80 })
    }

    // Mapped by a closure: key paths of metatypes crash the compiler of Swift 6.3.
    private static let names = CommandRegistry.commands.map { $0.name }

    @Test(arguments: names)
    func helpOfACommandNamesEveryOptionAndAnExample(_ name: String) throws {
        let command = try CommandRegistry.command(named: name)
        let result = try ToolProcess.run("help", name, in: "/tmp")
        #expect(result.code == 0)
        for option in command.options { #expect(result.output.contains("  \(option.usage)")) }
        for operand in command.operands { #expect(result.output.contains("  \(operand.name)  ")) }
        #expect(!command.examples.isEmpty)
        #expect(!result.output.contains("docs/"), "an installed tool has no docs")
        for example in command.examples { #expect(result.output.contains("  \(example)\n")) }
        #expect(try ToolProcess.run(name, "--help", in: "/tmp").output == result.output)
        #expect(try ToolProcess.run("--help", name, in: "/tmp").output == result.output)
        #expect(result.lines.allSatisfy { $0.count <= 120 })
    }

    @Test func commandsAreDeclaredOnce() {
        let names = CommandRegistry.commands.map { $0.name }
        #expect(Set(names).count == names.count)
        for command in CommandRegistry.commands {
            let options = command.options.map(\.name)
            #expect(Set(options).count == options.count && !options.contains("--help"))
        }
    }
}
