import Foundation
import Glibc
import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

/// Every command beside a program that goes on writing, whose segments close and whose states come meanwhile.
@Suite struct LiveWriterTests {
    /// The lines of ``CommandLines`` for a store of `store-child`.
    private static func lines(_ token: String) -> [CommandLines.Line] {
        let words = ["milk": "last", "anna": "user-0", "phone": "default"]
        return CommandLines.lines(token).map { line in
            var line = line
            line.words = line.words.map { words[$0] ?? $0 }
            return line
        }
    }

    /// Of the zone of a user of `store-child`.
    private static func token(_ path: String) throws -> String {
        let store = try Store.openForReading(at: path)
        defer { try? store.close() }
        let page = try store.zoneChanges(
            of: StateFixture.notes, in: DatabaseID(.private), as: Actor(user: "user-0"))
        return Data(try store.bytes(of: page.token)).base64EncodedString()
    }

    @Test func everyCommandReadsBesideIt() throws {
        let directory = try TestDirectory()
        let path = directory.path(CommandLines.store)
        // It waits between two requests: the store stays small, and the writer is there to the end.
        let writer = try ChildProcess(ChildProcess.product("store-child"), [path, "1", "slowly"])
        #expect(writer.waitForLine())
        try Self.waitForSegments(2, path)
        for line in Self.lines(try Self.token(path)) {
            // It is in nobody's way. It may end before the writer, which waits between two requests, does the next one;
            // then it is asked again.
            let goesOn = try (0..<50).contains { _ in
                writer.readWhatIsThere()
                let before = try Self.end(path)
                for form in line.forms { try check(form, of: line, in: directory) }
                return try Self.end(path) > before
            }
            try #require(goesOn, "\(line): the writer does not write beside it")
        }
        #expect(kill(writer.identifier, 0) == 0)
        writer.kill()
        // Whatever it was told is there, or more: what was not told yet when it was ended.
        let told = writer.lines().count
        let after = try ToolProcess.run("verify", CommandLines.store, "--deep", in: directory.path)
        #expect(after.code == 0, "\(after)")
        #expect(try LogReader.open(at: path).end.offset >= UInt64(told))
        #expect(told > 50)
    }

    private static func waitForSegments(_ count: Int, _ path: String) throws {
        let hasThem = eventually {
            let names = (try? RealFileSystem().list(path + "/log")) ?? []
            return names.count { $0.hasSuffix(".seg") } >= count
        }
        #expect(hasThem, "the writer has no segments")
    }

    private func check(_ form: [String], of line: CommandLines.Line, in directory: TestDirectory) throws {
        let result = try ToolProcess.run(form, in: directory.path)
        // `report` notes of how many records it has no room.
        let isQuiet = result.errors.isEmpty || line.command == "report"
        // `doctor` finds nothing in the writer's store.
        let code = line.command == "doctor" ? 0 : line.code
        #expect(result.code == code && isQuiet, "\(form): \(result.code) \(result.errors)")
        #expect(!result.output.isEmpty || CommandLines.mayPrintNothing.contains(line.command), "\(form)")
        if line.isJSON(form) { try CommandLines.expectJSON(result, of: line) }
        try checkIsOneState(result, line, form)
    }

    private static func end(_ path: String) throws -> UInt64 {
        try LogReader.open(at: path, extent: .written).end.offset
    }

    /// What is printed is of one moment: offsets without gaps; and of one request all records or none.
    private func checkIsOneState(_ result: ToolResult, _ line: CommandLines.Line, _ form: [String]) throws {
        guard form.last == "--json" else { return }
        switch line.command {
        case "log":
            let offsets = try objects(result.lines).map { try #require($0["offset"] as? Int) }
            #expect(!offsets.isEmpty && offsets == Array(1...offsets.count))
        case "records":
            var counts: [Substring: Int] = [:]
            for object in try objects(result.lines.dropLast()) {
                let name = try #require(object["name"] as? String)
                // `7-0` to `7-3` are of one request.
                if name.contains("-") { counts[name.prefix { $0 != "-" }, default: 0] += 1 }
            }
            #expect(!counts.isEmpty && counts.values.allSatisfy { $0 == 4 }, "\(counts)")
        default: break
        }
    }

    private func objects(_ lines: some Collection<Substring>) throws -> [[String: Any]] {
        try lines.map { try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
    }
}
