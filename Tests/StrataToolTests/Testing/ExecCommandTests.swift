import Foundation
import StrataModel
import StrataStore
import TestSupport
import Testing

@testable import StrataTool

/// A command that runs over fresh stores. The stand-in for a test suite is the shell, with this tool as the app.
@Suite struct ExecCommandTests {
    private static let container = "iCloud.test"

    private func exec(_ words: [String], in directory: TestDirectory) throws -> ToolResult {
        try ToolProcess.run(["exec"] + words, in: directory.path)
    }

    /// A store under the name of its container, with a lost update.
    private func troubled(_ directory: TestDirectory) throws -> String {
        let path = directory.path("Seed.strata")
        var options = StoreOptions.service
        options.containerIdentifier = Self.container
        let store = try Store.open(at: path, options: options)
        let (phone, tablet) = (Actor(user: "anna", device: "phone"), Actor(user: "anna", device: "tablet"))
        try store.modify(.zones(saving: [ZoneID("Notes")]), as: phone)
        let id = RecordID("stock", zone: ZoneID("Notes"))
        var base: Version?
        for (quantity, actor) in [(5, phone), (7, tablet), (4, phone)] {
            var builder = RequestBuilder(DatabaseID(.private), policy: .changedKeys)
            builder.save(id, type: "Item", base: base, fields: ["qty": .int64(Int64(quantity))])
            try store.modify(builder.request, as: actor)
            base = try base ?? store.snapshot().record(id, in: DatabaseID(.private), as: phone).version
        }
        try store.close()
        return path
    }

    @Test func aSuccessLeavesNothing() throws {
        let directory = try TestDirectory()
        let result = try exec(["--", "sh", "-c", "test -d \"$STRATA_HOME\" && echo \"$STRATA_HOME\""], in: directory)
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        let home = try #require(result.lines.first.map(String.init))
        #expect(!FileManager.default.fileExists(atPath: home))
    }

    @Test func aSuccessIsKeptOnRequest() throws {
        let directory = try TestDirectory()
        let result = try exec(["--keep", "Kept", "--", "sh", "-c", "touch \"$STRATA_HOME/file\""], in: directory)
        #expect(result.code == 0, "\(result)")
        #expect(FileManager.default.fileExists(atPath: directory.path("Kept/file")))
        // It is no longer new.
        let second = try exec(["--keep", "Kept", "--", "true"], in: directory)
        #expect(second.code == 3 && second.errors.contains("--keep names a new directory"), "\(second)")
    }

    @Test("A failure keeps the store with its report, and prints the doctor's findings and the next commands")
    func failure() throws {
        let directory = try TestDirectory()
        _ = try troubled(directory)
        let result = try exec(
            ["--seed", "Seed.strata", "--keep", "Kept", "--", "sh", "-c", "echo tested; exit 7"], in: directory)
        #expect(result.code == 1 && result.errors.contains("the command failed with 7"), "\(result)")
        let store = directory.path("Kept/\(Self.container).strata")
        #expect(result.output.hasPrefix("tested\n") && result.output.contains("overwrite"), "\(result)")
        let next = result.lines.drop { $0 != "to go on:" }.dropFirst()
        #expect(next.count == 3 && next.allSatisfy { $0.contains(store) }, "\(result)")
        for line in next.prefix(2) {
            let words = line.split(separator: " ").dropFirst().map(String.init)
            let shown = try ToolProcess.run(words, in: directory.path)
            #expect(shown.code <= 1 && shown.output.contains("qty"), "\(shown)")
        }
        let report = try String(contentsOfFile: store + ".html", encoding: .utf8)
        #expect(report.contains("</html>"))
        // The seed is as it was.
        #expect(try ToolProcess.run("verify", "Seed.strata", in: directory.path).code == 0)
    }

    @Test("A kept directory stays, and so do stores if nobody reads the output")
    func nothingIsLost() throws {
        let directory = try TestDirectory()
        let result = try exec(["--keep", "Kept", "--", "sh", "-c", "mkdir \"$STRATA_HOME/x\"; exit 1"], in: directory)
        #expect(result.code == 1 && FileManager.default.fileExists(atPath: directory.path("Kept/x")), "\(result)")
        _ = try troubled(directory)
        let tool = try ToolProcess.toolPath
        _ = try ToolProcess.run(
            [
                "-c", "\"$0\" exec --seed Seed.strata -- sh -c 'pwd > home; echo $STRATA_HOME > home; exit 1' | true",
                tool,
            ],
            in: directory.path, program: "/bin/sh")
        let home = try String(contentsOfFile: directory.path("home"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(FileManager.default.fileExists(atPath: "\(home)/\(Self.container).strata"))
        try FileManager.default.removeItem(atPath: home)
    }

    @Test func anExportIsASeed() throws {
        let directory = try TestDirectory()
        _ = try troubled(directory)
        let export = try ToolProcess.run("export", "Seed.strata", in: directory.path)
        try export.output.write(toFile: directory.path("seed.jsonl"), atomically: true, encoding: .utf8)
        let result = try exec(
            [
                "--seed", "seed.jsonl", "--", "sh", "-c",
                "test -d \"$STRATA_HOME/\(Self.container).strata\" && echo \"$STRATA_OPTIONS\"",
            ], in: directory)
        #expect(result.code == 0 && result.lines == ["recordRefusals,recordFetches"], "\(result)")
    }

    @Test(
        "What cannot run is told",
        arguments: [
            (["--seed", "Nowhere.strata", "--", "true"], Int32(3), "nothing is there"),
            ([], 2, "COMMAND is missing"),
            (["--", "/nowhere/program"], 3, "/nowhere/program"), (["--", "false"], 1, "opened no container"),
            (["--", "sh", "-c", "kill -9 $$"], 1, "failed with 137"),
        ])
    func mistakes(_ words: [String], _ code: Int32, _ text: String) throws {
        let result = try exec(words, in: try TestDirectory())
        #expect(result.code == code && result.errors.contains(text), "\(result)")
    }
}
