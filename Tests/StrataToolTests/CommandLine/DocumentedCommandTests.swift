import Foundation
import TestSupport
import Testing

@testable import StrataTool

/// The commands that README.md and docs/ show: each is one that the tool takes, and README's walk runs.
@Suite struct DocumentedCommandTests {
    struct Shown: Sendable, CustomTestStringConvertible {
        var page: String
        var words: [String]
        var testDescription: String { "\(page): \(words.joined(separator: " "))" }
    }

    static func allShown() throws -> [Shown] {
        try ShownLine.all().filter { $0.program == "strata" }.map { Shown(page: $0.page, words: words(of: $0.text)) }
    }

    /// The words of a command line as a shell has them, without expansion.
    static func words(of line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in line {
            switch character {
            case quote: quote = nil
            case "'" where quote == nil, "\"" where quote == nil:
                quote = character
                word = word ?? ""
            case " " where quote == nil:
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        return words
    }

    private static func parse(_ words: [String]) throws -> Arguments {
        let name = try #require(words.dropFirst().first)
        return try ArgumentParser(CommandRegistry.command(named: name)).parse(Array(words.dropFirst(2)))
    }

    @Test("A line is taken apart as a shell does")
    func shellWords() {
        #expect(
            Self.words(of: "strata query S \"a = 'b c'\" --at 3") == ["strata", "query", "S", "a = 'b c'", "--at", "3"])
        #expect(Self.words(of: "strata  log '' 'a b'c") == ["strata", "log", "", "a bc"])
    }

    @Test("The pages show commands, and the tool takes each of them")
    func commandsAreTaken() throws {
        let shown = try Self.allShown()
        #expect(shown.count > 40)
        for line in shown where line.words.dropFirst().first != "help" {
            #expect(throws: Never.self, "\(line)") { try Self.parse(line.words) }
        }
    }

    @Test("The page on the tool lists every command once and no other")
    func listIsComplete() throws {
        let page = try ShownLine.text(of: "docs/guide/tool.md")
        let list = try #require(page.components(separatedBy: "```").dropFirst().first)
        let listed = list.split(separator: "\n").compactMap { line in
            line.hasPrefix("strata ") ? line.split(separator: " ")[1] : nil
        }
        let known = CommandRegistry.commands.map { $0.name }
        #expect(Set(listed.map(String.init)).symmetricDifference(known).isEmpty)
        // `schema` has three lines, one for each thing it does.
        #expect(listed.filter { $0 != "schema" }.count == known.count - 1)
    }

    @Test("Canary: a command or an option that does not exist is noticed")
    func canary() {
        #expect(throws: UsageError.self) { try Self.parse(Self.words(of: "strata lgo S")) }
        #expect(throws: UsageError.self) { try Self.parse(Self.words(of: "strata log S --no-such-option")) }
    }

    @Test("README's walk to a lost update runs in an empty folder")
    func readmeWalk() throws {
        let directory = try TestDirectory()
        let readme = try ShownLine.text(of: "README.md")
        let tools = try ToolProcess.toolPath.dropLast("/strata".count)
        let walk = try ShownLine.lines(of: "README.md", readme).map(\.text).filter { $0.contains("Theater.strata") }
        #expect(walk.count >= 3)
        for line in walk {
            let result = try ToolProcess.run(
                ["-c", "PATH=\(tools):$PATH; \(line)"], in: directory.path, program: "/bin/sh")
            #expect(result.code == 0, "\(line): \(result.errors)")
            #expect(result.errors.isEmpty, "\(line)")
        }
    }

    @Test("The programs that the pages name run", arguments: ["two-devices", "small-program"])
    func programsRun(name: String) throws {
        let directory = try TestDirectory()
        let tools = try ToolProcess.toolPath.dropLast("/strata".count)
        let result = try ToolProcess.run([], in: directory.path, program: "\(tools)/\(name)")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.lines.count >= 3)
    }
}
