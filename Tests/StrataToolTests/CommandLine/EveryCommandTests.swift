import Foundation
import Glibc
import StrataModel
import StrataStore
import StrataSystem
import TestNeeds
import TestSupport
import Testing

@testable import StrataTool

/// What holds of every command that reads a store, each called as ``CommandLines`` say.
@Suite struct EveryCommandTests {
    @Test func everyCommandIsTested() { CommandLines.requireAll() }

    @Test(arguments: CommandLines.all) func isPromisedJSONOfAWholeStore(_ line: CommandLines.Line) throws {
        let fixture = try StateFixture()
        let before = try fixture.content()
        let line = try Self.completed(line, fixture)
        for form in line.forms {
            let result = try fixture.run(form)
            #expect(result.code == line.code && result.errors.isEmpty, "\(form): \(result.errors)")
            #expect(!result.output.isEmpty || CommandLines.mayPrintNothing.contains(line.command), "\(form)")
            if line.isJSON(form) { try CommandLines.expectJSON(result, of: line) }
        }
        #expect(try fixture.content() == before)
    }

    /// The line with a token, if that is what it lacks.
    static func completed(_ line: CommandLines.Line, _ fixture: StateFixture) throws -> CommandLines.Line {
        guard line.command == "token" else { return line }
        let token = try token(fixture.path)
        return CommandLines.lines(token).first { $0.command == "token" } ?? line
    }

    static func token(_ path: String) throws -> String {
        let store = try Store.openForReading(at: path)
        defer { try? store.close() }
        let page = try store.zoneChanges(of: StateFixture.notes, in: DatabaseID(.private), as: StateFixture.phone)
        return Data(try store.bytes(of: page.token)).base64EncodedString()
    }

    // MARK: Paths

    @Test(arguments: CommandLines.all) func pathsThatAreNoStore(_ line: CommandLines.Line) throws {
        let fixture = try StateFixture()
        let line = try Self.completed(line, fixture)
        let directory = fixture.directory
        try RealFileSystem().makeDirectory(directory.path("Folder"))
        try Data("text".utf8).write(to: URL(fileURLWithPath: directory.path("File")))
        // These two look at the files of the log and nothing else.
        let strange = ["dump", "frames"].contains(line.command) ? "notFound" : "notAStore"
        for (name, code) in [("Missing", "notFound"), ("Folder", strange), ("File", "notAStore")] {
            for form in line.forms {
                let words = form.map { $0 == CommandLines.store ? name : $0 }
                let result = try ToolProcess.run(words, in: directory.path)
                #expect(result.code == 3 && result.output.isEmpty, "\(words): \(result)")
                let beginning =
                    words.contains("--json") ? #"{"error":{"code":"\#(code)","message":""# : "strata \(line.command): "
                #expect(result.errors.hasPrefix(beginning), "\(words): \(result.errors)")
                #expect(
                    result.errors.contains("(\(code))") && result.errors.contains(name), "\(words): \(result.errors)")
                if name == "File" {
                    #expect(result.errors.contains("This is a file, but a store is a directory. [in File]"))
                }
                #expect(
                    result.errors.contains("Check the path: it must be a store's directory") == (code == "notFound"),
                    "\(words): \(result.errors)")
            }
        }
        #expect(try !RealFileSystem().exists(directory.path("Missing")))
        #expect(try RealFileSystem().list(directory.path("Folder")).isEmpty)
    }

    /// On a medium that nobody may write to, where the tests run as somebody whom the system holds to that.
    @Test(.needs(.ordinaryUser), arguments: CommandLines.all)
    func aStoreThatCannotBeWritten(_ line: CommandLines.Line) throws {
        let fixture = try StateFixture()
        let line = try Self.completed(line, fixture)
        let folders = [fixture.path, fixture.path + "/log", fixture.path + "/assets"]
        for folder in folders { chmod(folder, 0o500) }
        defer { for folder in folders { chmod(folder, 0o700) } }
        for form in line.forms {
            let result = try fixture.run(form)
            #expect(result.code == line.code && result.errors.isEmpty, "\(form): \(result.errors)")
        }
    }

    // MARK: Pipes

    /// `… | head -n 0`: nothing is read at all.
    @Test(arguments: CommandLines.all) func aPipeThatNobodyReads(_ line: CommandLines.Line) throws {
        let fixture = try StateFixture()
        let line = try Self.completed(line, fixture)
        for form in line.forms {
            let tool = try ToolProcess(form, in: fixture.directory.path, isRead: false)
            #expect(try tool.wait() == 0, "\(form)")
            let errors = try tool.errors()
            #expect(errors.isEmpty, "\(form): \(errors)")
        }
    }

    @Test(arguments: CommandLines.all) func aFullDisk(_ line: CommandLines.Line) throws {
        let fixture = try StateFixture()
        let line = try Self.completed(line, fixture)
        let result = try ToolProcess.run(
            ["-c", "exec \"$0\" \"$@\" > /dev/full", try ToolProcess.toolPath] + line.words, in: fixture.directory.path,
            program: "/bin/sh")
        if CommandLines.mayPrintNothing.contains(line.command) { return }
        #expect(result.code == 3, "\(line.words): \(result)")
        #expect(result.errors == "strata \(line.command): cannot write the output: No space left on device\n")
    }

    // MARK: Arguments

    static let commands = CommandRegistry.commands.map { $0.name }

    @Test(arguments: commands) func wrongArguments(_ name: String) throws {
        let command = try #require(CommandRegistry.commands.first { $0.name == name })
        // As many as there can be, of which none is looked at before all arguments are understood.
        let operands = command.operands.map { _ in "x" }
        func expect(_ words: [String], _ message: String) throws {
            let result = try ToolProcess.run([name] + words, in: "/tmp")
            #expect(result.code == 2 && result.output.isEmpty, "\(name) \(words): \(result)")
            guard !words.contains("--json") else {
                #expect(
                    result.errors == #"{"error":{"code":"usage","message":"\#(message)"}}"# + "\n", "\(name) \(words)")
                return
            }
            #expect(result.errors.hasPrefix("strata \(name): \(message)"), "\(name) \(words): \(result.errors)")
            #expect(result.errors.hasSuffix("see 'strata help \(name)'\n"), "\(name) \(words): \(result.errors)")
        }
        try expect(operands + ["--surely-unknown"], "unknown option --surely-unknown")
        if !command.operands.contains(where: \.isRepeatable) {
            try expect(operands + ["y"], "unexpected argument 'y'")
        }
        if let first = command.operands.first(where: \.isRequired) {
            try expect([], "\(first.name) is missing")
            try expect([""], "\(command.operands[0].name) is empty")
        }
        for option in command.options + CommonOptions.all where option.name != "--help" {
            guard option.valueName != nil else {
                try expect(operands + [option.name, option.name], "\(option.name) is given twice")
                try expect(operands + [option.name + "=x"], "\(option.name) takes no value")
                continue
            }
            try expect(operands + [option.name], "\(option.name) needs a value: \(option.name) ")
            if option is Option<UInt64> {
                try expect(operands + [option.name, "ten"], "\(option.name) takes a number, not 'ten'")
                try expect(operands + [option.name, "-1"], "\(option.name) -1 is out of range: ")
                try expect(
                    operands + [option.name, "99999999999999999999"], "\(option.name) 99999999999999999999 is out")
            }
        }
    }

    @Test(arguments: commands) func helpOfEachCommand(_ name: String) throws {
        for words in [["help", name], [name, "--help"], [name, "-h"]] {
            let result = try ToolProcess.run(words, in: "/tmp")
            #expect(result.code == 0 && result.errors.isEmpty)
            #expect(result.output.hasPrefix("strata \(name): "), "\(words): \(result.output)")
        }
    }

    // MARK: Colours

    /// Colour adds nothing but escapes, and comes nowhere that a program reads.
    @Test(arguments: CommandLines.all) func coloursChangeNoWord(_ line: CommandLines.Line) throws {
        let fixture = try StateFixture()
        let line = try Self.completed(line, fixture)
        for form in line.forms {
            let plain = try fixture.run(form)
            #expect(!plain.output.contains("\u{1B}["), "\(form)")
            let colored = try fixture.run(form + ["--color", "always"])
            if line.isJSON(form) {
                #expect(colored.output == plain.output, "\(form)")
            } else {
                #expect(colored.output.replacing(/\u{1B}\[[0-9;]*m/, with: "") == plain.output, "\(form)")
            }
        }
    }
}
