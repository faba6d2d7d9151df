import Foundation
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

/// docs/guide/lost-update.md, run line by line. `STRATA_UPDATE_GOLDEN=1` writes what commands print into the page.
@Suite struct LostUpdateGuideTests {
    private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        .joined(separator: "/")
    private static let page = root + "/docs/guide/lost-update.md"

    /// A line of the page that is a command, with what stands below it.
    private struct Run {
        var command: String
        var output: [String] = []
    }

    /// The page with what `output` gives for each command.
    private static func filled(_ text: String, _ output: (Run) throws -> [String]) throws -> String {
        var lines: [String] = []
        var run: Run?
        var isConsole = false
        func finish() throws {
            if let done = run { lines += try output(done) }
            run = nil
        }
        for line in text.components(separatedBy: "\n") {
            if line == "```console" {
                isConsole = true
            } else if line == "```", isConsole {
                try finish()
                isConsole = false
            } else if isConsole {
                if line.hasPrefix("$ ") {
                    try finish()
                    run = Run(command: String(line.dropFirst(2)))
                } else {
                    run?.output.append(line)
                    continue
                }
            }
            lines.append(line)
        }
        return lines.joined(separator: "\n")
    }

    private static func run(_ command: String, in directory: String) throws -> [String] {
        let tools = try ToolProcess.toolPath.dropLast("/strata".count)
        let result = try ToolProcess.run(
            ["-c", "PATH=\(tools):$PATH; \(command)"], in: directory, program: "/bin/sh")
        #expect(result.errors.isEmpty, "\(command): \(result.errors)")
        // A difference or a change is told by 1.
        #expect([0, 1].contains(result.code), "\(command)")
        var lines = result.output.components(separatedBy: "\n")
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    @Test func everyCommandPrintsWhatThePageSays() throws {
        let directory = try TestDirectory()
        let text = try String(contentsOfFile: Self.page, encoding: .utf8)
        var count = 0
        let printed = try Self.filled(text) { run in
            count += 1
            let lines = try Self.run(run.command, in: directory.path)
            if !Golden.isUpdated { #expect(run.output == lines, "\(run.command)") }
            return lines
        }
        if Golden.isUpdated { try Data(printed.utf8).write(to: URL(fileURLWithPath: Self.page)) }
        #expect(count >= 10)
        let store = try RealFileSystem().list(directory.path)
        #expect(store.contains("Few.strata") && store.contains("LostTicket.swift"))
        try theTestIsTheOneThatIsCompiled(directory.path)
    }

    /// Tests/CloudKitTests has it as a known issue, which fails once the mistake cannot be rebuilt any more.
    private func theTestIsTheOneThatIsCompiled(_ directory: String) throws {
        let path = Self.root + "/Tests/CloudKitTests/Minimal/LostTicket.swift"
        let plain = try String(contentsOfFile: directory + "/LostTicket.swift", encoding: .utf8)
        let lines = try Self.run(
            "strata minimize Theater.strata Show --where 'free > seats - door - office' --user anna --at 12 "
                + "--known-issue --test Known.swift; cat Known.swift | tail -n +1", in: directory)
        let known = try String(contentsOfFile: directory + "/Known.swift", encoding: .utf8)
            .replacingOccurrences(of: "struct Known ", with: "struct LostTicket ")
        #expect(lines.contains("import CloudKit"))
        if Golden.isUpdated { try Data(known.utf8).write(to: URL(fileURLWithPath: path)) }
        #expect(known == (try String(contentsOfFile: path, encoding: .utf8)))
        let expectation = #"#expect(!isFound, "a record matches \(question)")"#
        #expect(known == plain.replacingOccurrences(of: expectation, with: "withKnownIssue { \(expectation) }"))
    }

    @Test func canaryAnotherOutputIsNoticed() throws {
        let text = try String(contentsOfFile: Self.page, encoding: .utf8)
        #expect(try Self.filled(text) { $0.output } == text)
        #expect(try Self.filled(text) { _ in ["something else"] } != text)
    }
}
