import Foundation
import TestSupport
import Testing

/// The page "A synced app from nothing": its blocks stand line for line in an example, which runs.
@Suite("Guide: a synced app", .timeLimit(.minutes(2)))
struct SyncedAppGuideTests {
    private static let page = "docs/guide/synced-app.md"
    private static let root = #filePath.components(separatedBy: "/").dropLast(4).joined(separator: "/")

    private static func text(of path: String) throws -> String {
        try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }

    @Test("Every block of the page stands in the example")
    func blocks() throws {
        let page = try GuidePage(Self.page)
        #expect(page.blocks.count >= 15)
        let program = try ["Groceries", "main"].map { try Self.text(of: "Examples/Groceries/\($0).swift") }
        #expect(page.blocksMissing(fromSource: program.joined(separator: "\n")) == [])
    }

    @Test("The example prints what the page says, and leaves a store that is whole")
    func run() throws {
        let directory = try TestDirectory()
        let tools = try ToolProcess.toolPath.dropLast("/strata".count)
        let result = try ToolProcess.run(["List"], in: directory.path, program: "\(tools)/groceries")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
        let printed = try Self.text(of: Self.page).components(separatedBy: "## What it prints").last?
            .components(separatedBy: "```").dropFirst().first
        #expect(printed == "\n" + result.output)
        #expect(try ToolProcess.run("verify", "List/Cloud.strata", in: directory.path).code == 0)
    }
}
