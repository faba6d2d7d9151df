import Foundation
import StrataModel
import StrataStore
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataTool

/// Every line with a prompt that a page shows runs in a test, in `tools/docs --from-clone`, or needs what is marked.
@Suite struct GuideCommandTests {
    static func samplePages() throws -> [String] {
        try ShownLine.pages().filter { page in
            let text = try ShownLine.text(of: page)
            return text.contains(ShownLine.sampleMark) && text.contains("\n$ ")
        }
    }

    @Test("Lines that no fresh clone can run are marked, and no others")
    func marks() throws {
        let lines = try ShownLine.all()
        #expect(lines.count > 60 && lines.contains { $0.need != nil })
        for line in lines {
            if let problem = line.problem { Issue.record("\(line): \(problem)") }
        }
        let runs = lines.filter { $0.need == nil }
        let sampled = try Set(Self.samplePages())
        #expect(sampled.count >= 3)
        for line in runs where sampled.contains(line.page) { #expect(line.program == "strata", "\(line)") }
        // Each page with other commands sets up what they need, from nothing.
        for page in Set(runs.map(\.page)).subtracting(sampled) {
            let programs = runs.filter { $0.page == page }.map(\.program)
            #expect(programs.first == "swift", "\(page): the first command must build or run a product")
        }
    }

    @Test("A swift build names one product: it builds only the last of several")
    func oneProduct() throws {
        for line in try ShownLine.all() {
            #expect(line.text.components(separatedBy: "--product").count <= 2, "\(line)")
        }
    }

    @Test("Canary: a hidden, a wrongly marked and an unmarked line are noticed")
    func canary() throws {
        func problems(_ text: String) throws -> [String?] {
            try ShownLine.lines(of: "page", text).map(\.problem)
        }
        #expect(try problems("<!-- not run: servers -->\n```\n$ strata log S\n```") == ["it does not need servers"])
        #expect(try problems("```\n$ sudo ls\n```") == ["a fresh clone has no root"])
        #expect(try problems("<!-- not run: time -->\n```\n$ ls\n```") == ["nothing is known of the need 'time'"])
        #expect(try problems("<!-- not run: root -->\n```\n$ sudo ls\n$ ls\n```\n```\n$ ls\n```") == [nil, nil, nil])
        #expect(throws: ShownLine.Problem.self) { try problems("$ ls") }
    }

    @Test("The commands of a page run on a sample store", arguments: try Self.samplePages())
    func runs(page: String) throws {
        let text = try ShownLine.text(of: page)
        let folder = try SampleFolder()
        if !text.contains("$ strata create ") { try folder.createSequencer() }
        for line in try ShownLine.lines(of: page, text) where line.need == nil {
            if let problem = try folder.problem(with: line) { Issue.record("\(line): \(problem)") }
        }
    }

    @Test("Canary: a command that fails, or prints nothing, is noticed")
    func canaryOfRuns() throws {
        let folder = try SampleFolder()
        func problem(_ text: String) throws -> String? {
            try folder.problem(with: #require(ShownLine.lines(of: "page", "```\n\(text)\n```").first))
        }
        #expect(try problem("$ strata get Notes.strata nobody\nrecord nobody") != nil)
        #expect(try problem("$ strata get Notes.strata milk --user anna --zone Notes") != nil)
        #expect(try problem("$ strata query Notes.strata Note \"text >\"\nstrata query: another sentence") != nil)
        #expect(try problem("$ strata get Notes.strata milk --user anna --zone Notes\nrecord milk") == nil)
    }
}

/// A folder with the stores and files that commands of pages name.
struct SampleFolder {
    private let fixture: StateFixture
    private let tools: Substring
    private let token: String

    init() throws {
        fixture = try StateFixture(keepsAudits: true)
        tools = try ToolProcess.toolPath.dropLast("/strata".count)
        let state = try fixture.change { [fixture] store in try Self.fill(fixture, store) }
        token = try EveryCommandTests.token(fixture.path)
        for (name, text) in [
            ("Notes.ckdb", "DEFINE SCHEMA\n    RECORD TYPE Note (\n        title TEXT\n    );\n"),
            ("hunt", "watch milk rank\ncontinue\ncontinue\n"),
        ] { try write(Data(text.utf8), name) }
        try write(Data(state.encoded()), "engine.json")
        try FileManager.default.createDirectory(atPath: path("shared"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: fixture.path, toPath: path("People.strata"))
    }

    private func path(_ name: String) -> String { fixture.directory.path(name) }
    private func write(_ data: Data, _ name: String) throws { try data.write(to: URL(fileURLWithPath: path(name))) }

    func createSequencer() throws {
        let result = try run("strata create file:///shared/Notes.sequence --from People.strata")
        guard result.code == 0 else { throw ShownLine.Problem(text: result.errors) }
    }

    /// Adds more records, and returns the state of the phone's sync engine in between.
    private static func fill(_ fixture: StateFixture, _ store: Store) throws -> SyncState {
        let database = DatabaseID(.private)
        var state = SyncState(store: store.storeID, scope: .private)
        state.user = store.recordName(of: "anna")
        state.subscriptionID = "cksyncengine.private"
        state.databaseToken = try store.bytes(of: store.databaseChanges(in: database, as: StateFixture.phone).token)
        let page = try store.zoneChanges(of: StateFixture.notes, in: database, as: StateFixture.phone)
        state.zoneTokens = [(StateFixture.notes, try store.bytes(of: page.token))]
        state.recordChanges = [(RecordID("milk", zone: StateFixture.notes), true)]
        for rank in 1...4 {
            try fixture.save(
                "note-1", ["title": .string("Groceries"), "text": .string("task 2"), "rank": .int64(Int64(rank))],
                to: store)
        }
        let people = ZoneID("People")
        try fixture.step { try store.modify(.zones(saving: [people]), as: StateFixture.phone) }
        try fixture.save("card", ["name": .string("Anna")], type: "Card", zone: people, to: store)
        // An entry of a sequencer has at most 8 MiB, so the first one ends before commit 60.
        try fixture.saveMany(50, bytes: 200_000, to: store)
        try fixture.saveMany(60, bytes: 100, to: store)
        return state
    }

    private func run(_ command: String) throws -> ToolResult {
        // A value that a page cuts with an ellipsis is the reader's own.
        let command = command.replacingOccurrences(of: "AgEBAgAAAAAA…", with: token)
            .replacingOccurrences(of: "file:///shared/", with: "file://\(path("shared"))/")
        return try ToolProcess.run(
            ["-c", "PATH=\(tools):$PATH; \(command)"], in: fixture.directory.path, program: "/bin/sh")
    }

    /// Runs a line as a shell would, and returns how it differs in kind from what the page shows.
    func problem(with line: ShownLine) throws -> String? {
        let result = try run(line.text)
        if let error = line.output.first, error.hasPrefix("strata \(line.text.split(separator: " ")[1]): ") {
            let isShown = result.errors == line.output.joined(separator: "\n") + "\n"
            return result.code != 0 && isShown ? nil : "not the error of the page: \(result)"
        }
        // 1 is an answer, such as that something differs.
        guard [0, 1].contains(result.code) else { return "exit code \(result.code): \(result.errors)" }
        guard result.code == 0 || result.errors.isEmpty else { return "it failed: \(result.errors)" }
        return result.output.isEmpty == line.output.isEmpty ? nil : "the page shows other output: \(result)"
    }
}
