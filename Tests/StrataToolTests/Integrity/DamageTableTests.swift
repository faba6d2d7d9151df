import Foundation
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

/// Every command on every way in which a store can be damaged.
@Suite struct DamageTableTests {
    /// The lines of ``CommandLines`` for ``StoreFixture``, which has other records.
    private static func lines(_ token: String) -> [CommandLines.Line] {
        CommandLines.lines(token).map { line in
            var line = line
            line.words = line.words.map { $0 == "milk" ? "note-2" : $0 }
            return line
        }
    }

    /// Of the whole store, so that it can be read.
    private static func token(of fixture: StoreFixture) throws -> String {
        let store = try Store.openForReading(at: fixture.path)
        defer { try? store.close() }
        let page = try store.zoneChanges(
            of: ZoneID("Notes"), in: DatabaseID(.private), limit: 1, as: Actor(user: "anna"))
        return Data(try store.bytes(of: page.token)).base64EncodedString()
    }

    /// What a command must end with, line by line as `damage: command=code …`; those that end with 0 are left out.
    private static func expected(_ name: String) throws -> String {
        let text = try String(contentsOfFile: Golden.path("damage.txt"), encoding: .utf8)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix(name + ":") }
        try #require(lines.count == 1, "\(name) in Golden/damage.txt")
        return String(lines[0])
    }

    private static func found(_ way: DamageWay, hasViews: Bool) throws -> String {
        let fixture = try way.whole()
        let token = try token(of: fixture)
        if hasViews { try fixture.makeViews() }
        try way.damage(fixture)
        let before = try fixture.content()
        var codes: [String] = []
        for line in lines(token) where !hasViews || stateCommands.contains(line.command) {
            // Each in both of its forms, one of them with views.
            let form = hasViews ? line.words : line.forms.last ?? line.words
            let result = try ToolProcess.run(form, in: fixture.directory.path)
            try check(result, line, form, way)
            let name = line.command + (line.words.first { ["--deep", "--judge", "--patch"].contains($0) } ?? "")
            if result.code != 0 { codes.append("\(name)=\(result.code)") }
        }
        #expect(try fixture.content() == before, "\(way.testDescription): the store is as it was")
        return ([name(way, hasViews) + ":"] + codes).joined(separator: " ")
    }

    private static func name(_ way: DamageWay, _ hasViews: Bool) -> String {
        way.testDescription + (hasViews ? ", with views" : "")
    }

    private static let names = DamageWay.all.flatMap { [name($0, false), name($0, true)] }

    /// Those that read the views if there are any.
    private static let stateCommands: Set = [
        "get", "records", "query", "zones", "subscriptions", "users", "feed", "token", "schema", "compact", "erase",
        "info", "rebuild-views",
    ]

    private static func check(
        _ result: ToolResult, _ line: CommandLines.Line, _ form: [String], _ way: DamageWay
    ) throws {
        let what = "\(way.testDescription), \(form): \(result.code) \(result.errors)"
        #expect([0, 1, 3].contains(result.code), "\(what)")
        if line.isJSON(form) { try CommandLines.expectJSON(result, of: line) }
        guard result.code == 3 else {
            // verify and repair say it in what they print, and end with 1.
            if result.code == 0 { #expect(result.errors.isEmpty || line.command == "erase", "\(what)") }
            return
        }
        #expect(result.reports(by: line.command), "\(what)")
        #expect(result.errors.contains(#"{"error":"#) == form.contains("--json"), "\(what)")
        // `frames` judges each place by itself, where it only sees that it is none.
        let codes = way.codes + (line.command == "frames" ? ["malformed"] : [])
        #expect(codes.contains { result.errors.contains("(\($0))") }, "\(what)")
        let places = [" segment ", "[segment ", "offset ", "/STORE", ".base", ".seg", "/FLOOR"]
        #expect(places.contains { result.errors.contains($0) }, "\(what)")
    }

    @Test(arguments: DamageWay.all, [false, true]) func everyCommand(_ way: DamageWay, hasViews: Bool) throws {
        let found = try Self.found(way, hasViews: hasViews)
        if Golden.isUpdated { return try Golden.update("damage.txt", line: found, in: Self.names) }
        let expected = try Self.expected(Self.name(way, hasViews))
        #expect(found == expected)
    }

    /// Whatever is beside the log can be made again, or is not needed to read it: only `verify --deep` says no.
    @Test(arguments: ["views", "frames of views", "an asset", "no asset"])
    func besideTheLog(_ way: String) throws {
        let fixture = try StateFixture()
        let files = RealFileSystem()
        switch way {
        case "views": try FileManager.default.removeItem(atPath: fixture.path + "/views")
        case "frames of views":
            let directory = fixture.path + "/views"
            for name in try files.list(directory) where name.hasSuffix(".run") {
                var bytes = try files.readAll("\(directory)/\(name)", atMost: 1 << 24)
                for start in stride(from: 16_384, to: bytes.count, by: 16_384) { bytes[start + 100] ^= 0x10 }
                try files.replace("\(directory)/\(name)", in: directory, with: bytes)
            }
        default:
            let folder = try #require(try files.list(fixture.path + "/assets").first { $0.utf8.count == 2 })
            let path = "\(fixture.path)/assets/\(folder)/"
            let file = path + (try #require(try files.list(path).first))
            try files.remove(file)
            if way == "an asset" { try Data("abd".utf8).write(to: URL(fileURLWithPath: file)) }
        }
        let before = try fixture.content()
        for line in CommandLines.lines(try EveryCommandTests.token(fixture.path)) {
            for form in line.forms {
                let result = try fixture.run(form)
                let isDeep = form.contains("--deep")
                #expect(result.code == (isDeep && way != "views" ? 1 : line.code), "\(way), \(form): \(result)")
                #expect(result.errors.isEmpty, "\(way), \(form): \(result.errors)")
                if line.isJSON(form) { try CommandLines.expectJSON(result, of: line) }
            }
        }
        #expect(try fixture.content() == before)
    }

    @Test func canaryAnotherEndIsNoticed() throws {
        let expected = try Self.expected("a segment that is missing")
        #expect(expected.contains(" log=3 ") && expected.contains(" verify=1 "))
    }
}
