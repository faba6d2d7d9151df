import Foundation
import TestSupport
import Testing

@testable import StrataTool

/// The examples as a newcomer starts them, and the commands that `tools/demo` proposes for the store of one.
@Suite struct DemoCommandTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func run(_ name: String, _ words: [String], in directory: TestDirectory) throws -> ToolResult {
        let tools = try ToolProcess.toolPath.dropLast("/strata".count)
        return try ToolProcess.run(words, in: directory.path, program: "\(tools)/\(name)")
    }

    @Test("The ten commands work on the demo's store")
    func proposedCommands() throws {
        let directory = try TestDirectory()
        let made = try Self.run("demo-store", ["Demo.strata"], in: directory)
        #expect(made.code == 0 && made.errors.isEmpty, "\(made.errors)")
        let text = try String(
            contentsOf: Self.root.appending(path: "Examples/DemoStore/commands.txt"), encoding: .utf8)
        let commands = text.split(separator: "\n").map { $0.replacingOccurrences(of: "$STORE", with: "Demo.strata") }
        #expect(commands.count == 10)
        for command in commands {
            let words = Array(DocumentedCommandTests.words(of: command).dropFirst())
            let result = try ToolProcess.run(words, in: directory.path)
            // A changed history is told by 1.
            #expect(result.code == (words.first == "what-if" ? 1 : 0), "\(command): \(result.errors)")
            #expect(!result.output.isEmpty && result.errors.isEmpty, "\(command): \(result.errors)")
            #expect(!result.output.hasPrefix("0 records"), "\(command)")
        }
    }

    @Test("The demo's store has been judged as a whole and is whole")
    func wholeStore() throws {
        let directory = try TestDirectory()
        #expect(try Self.run("demo-store", ["Demo.strata"], in: directory).code == 0)
        let audit = try ToolProcess.run("verify", "--judge", "Demo.strata", "--json", in: directory.path)
        #expect(audit.output.contains(#""unjudgedCount":0"#), "\(audit.output)")
        #expect(try ToolProcess.run("verify", "Demo.strata", "--deep", in: directory.path).code == 0)
        let again = try Self.run("demo-store", ["Demo.strata"], in: directory)
        #expect(again.code == 1 && again.errors.contains("Demo.strata is there already"), "\(again.errors)")
    }

    @Test(
        "Each example has --help, and writes nothing then",
        arguments: [
            "log-demo", "demo-store", "lost-ticket", "two-devices", "small-program", "groceries", "three-servers",
        ])
    func help(name: String) throws {
        for word in ["--help", "-h"] {
            let directory = try TestDirectory()
            let result = try Self.run(name, [word], in: directory)
            #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
            #expect(result.output.hasPrefix("usage: \(name)"))
            try expectNothingMade(in: directory)
        }
    }

    @Test("Three servers lose and double nothing while they are killed")
    func threeServers() throws {
        let directory = try TestDirectory()
        let result = try Self.run("three-servers", ["three"], in: directory)
        #expect(result.code == 0, "\(result.output) \(result.errors)")
        #expect(result.output.contains("anna: 100 of 100\n"))
    }

    @Test(
        "Wrong arguments get the usage and 2",
        arguments: [
            ("lost-ticket", []), ("demo-store", []), ("demo-store", ["A", "B"]), ("lost-ticket", [""]),
            ("log-demo", ["--hlep"]), ("two-devices", ["--verbose"]), ("small-program", ["Notes.strata"]),
            ("groceries", []), ("three-servers", []),
        ])
    func wrongArguments(name: String, words: [String]) throws {
        let directory = try TestDirectory()
        let result = try Self.run(name, words, in: directory)
        #expect(result.code == 2 && result.output.isEmpty)
        #expect(result.errors.hasPrefix("usage: \(name)"), "\(result.errors)")
        try expectNothingMade(in: directory)
    }

    /// The errors of a child are in a file of the directory.
    private func expectNothingMade(in directory: TestDirectory) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names.allSatisfy { $0.hasPrefix("errors-") }, "\(names)")
    }
}
