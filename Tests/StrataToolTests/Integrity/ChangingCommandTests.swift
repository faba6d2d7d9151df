import Foundation
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

/// `erase` and `rebuild-views`: dry runs that change nothing, and what is done with `--apply`.
@Suite struct ChangingCommandTests {
    private static let secret = "the number is 4711"

    private let directory: TestDirectory
    private let path: String

    init() throws {
        directory = try TestDirectory()
        path = directory.path("People.strata")
        let store = try Store.open(at: path)
        let anna = Actor(user: "anna")
        var names = RequestNames()
        let zone = names.ordinal(of: ZoneID("People"))
        let (type, key) = (names.ordinal(ofType: "Card"), names.ordinal(ofKey: "text"))
        _ = try store.modify(
            Request(
                database: DatabaseID(.private), names: names,
                .modifyZones(ModifyZonesRequest(saves: [.init(zone)]))), as: anna)
        for (name, text) in [("card", Self.secret), ("card", Self.secret + "!"), ("other", "hello")] {
            let save = ModifyRecordsRequest.Save(
                RecordKey(zone: zone, name: name), type: type, fields: [FieldChange(key, .string(text))])
            let request = Request(
                database: DatabaseID(.private), names: names,
                .modifyRecords(ModifyRecordsRequest(saves: [save], policy: .allKeys)))
            _ = try store.modify(request, as: anna)
        }
        try store.close()
    }

    private func tool(_ words: String...) throws -> ToolResult { try ToolProcess.run(words, in: directory.path) }

    /// Every file of the store, by path.
    private func contents() throws -> [String: [UInt8]] {
        let files = RealFileSystem()
        var contents: [String: [UInt8]] = [:]
        for folder in [path, path + "/log", path + "/views"] where try files.exists(folder) {
            for name in try files.list(folder) {
                // A folder, or a pipe of a process that waits.
                guard let bytes = try? files.readAll("\(folder)/\(name)", atMost: 1 << 24) else { continue }
                contents["\(folder)/\(name)"] = bytes
            }
        }
        return contents
    }

    private func holdsSecret() throws -> Bool {
        let secret = Array(Self.secret.utf8)
        return try contents().values.contains { bytes in
            bytes.indices.contains { bytes[$0] == secret[0] && bytes[$0...].starts(with: secret) }
        }
    }

    @Test func aDryRunOfAnErasureTellsWhatWouldGo() throws {
        let before = try contents()
        let text = try tool("erase", "People.strata", "card", "--zone", "People", "--user", "anna")
        #expect(text.code == 0 && text.errors.isEmpty, "\(text)")
        #expect(text.lines.first == "People / Card / card: 2 versions, present", "\(text)")
        #expect(text.lines.last?.contains("--apply") == true)
        let json = try tool(
            "erase", "People.strata", "card", "other", "--zone", "People", "--user", "anna", "--json")
        let versions = [#"{"record":"card","zone":"People","type":"Card","versions":2,"#, #"{"record":"other","#]
        // What concerns copies is known only of a store on a sequencer.
        let rest = #""there":true,"erased":false,"trimBefore":null,"waiting":null}"#
        #expect(json.lines.count == 2 && zip(json.lines, versions).allSatisfy { $0.hasPrefix($1) }, "\(json)")
        #expect(json.lines.allSatisfy { $0.hasSuffix(rest) }, "\(json)")
        #expect(try contents() == before)
    }

    @Test func anErasureTakesItOutOfEveryFile() throws {
        #expect(try holdsSecret())
        let done = try tool(
            "erase", "People.strata", "card", "--zone", "People", "--user", "anna", "--reason", "asked for", "--apply")
        #expect(done.code == 0 && done.lines == ["People / Card / card: 2 versions, present, erased"], "\(done)")
        #expect(try !holdsSecret())
        #expect(try tool("verify", "People.strata").code == 0)
        #expect(try tool("log", "People.strata").output.contains("asked for"))
        let rest = try tool("query", "People.strata", "Card", "--user", "anna")
        #expect(rest.code == 0 && rest.output.contains("hello") && rest.lines.last == "1 record", "\(rest)")
        // Once more is no mistake: it was deleted before.
        let again = try tool("erase", "People.strata", "card", "--zone", "People", "--user", "anna")
        #expect(again.code == 0 && again.lines.first == "People / Card / card: 2 versions, already deleted", "\(again)")
    }

    @Test func anErasureThatCannotBe() throws {
        let before = try contents()
        for words in [
            ["nothing", "--zone", "People", "--user", "anna"], ["card", "--zone", "Nowhere", "--user", "anna"],
            ["card", "--zone", "People", "--user", "bob"], ["card", "--zone", "People"],
        ] {
            let result = try ToolProcess.run(["erase", "People.strata"] + words, in: directory.path)
            #expect(result.code == 1 && result.output.isEmpty && !result.errors.isEmpty, "\(result)")
        }
        // Another user's record is not suggested.
        for words in [["card"], ["card", "--zone", "People"], ["card", "--user", "bob"]] {
            let result = try ToolProcess.run(["erase", "People.strata"] + words, in: directory.path)
            #expect(
                !result.errors.contains("anna") && result.errors.contains("no record 'card'"), "\(words): \(result)")
        }
        for words in [["card"], ["card", "--zone", "Nowhere"]] {
            let result = try ToolProcess.run(["erase", "People.strata", "--user", "anna"] + words, in: directory.path)
            #expect(result.errors.hasSuffix("\n  There is one in another zone: --zone People\n"), "\(result)")
        }
        let silent = try tool("erase", "People.strata", "card", "--user", "anna", "--apply")
        #expect(silent.code == 2 && silent.errors.contains("--reason"))
        #expect(try tool("erase", "People.strata").code == 2)
        #expect(try tool("erase", "Missing.strata", "card").code == 3)
        #expect(try contents() == before)
        let writer = try Store.open(at: path)
        let locked = try tool(
            "erase", "People.strata", "card", "--zone", "People", "--user", "anna", "--reason", "r", "--apply")
        #expect(locked.code == 3 && locked.errors.contains("(locked)"), "\(locked)")
        try writer.close()
    }

    @Test("The record that was refused is named, and where it is, in words that a shell takes")
    func erasureInTheWrongZone() throws {
        let store = try Store.open(at: path)
        let (anna, place) = (Actor(user: "anna"), DatabaseID(.private))
        let (quoted, other) = (ZoneID("Ann's zone"), ZoneID("Other"))
        _ = try store.modify(.zones(saving: [quoted, other]), as: anna)
        for (name, zone) in [("gone", other), ("letter", quoted), ("letter", ZoneID("_defaultZone"))] {
            var request = RequestBuilder(place, policy: .allKeys)
            request.save(RecordID(name, zone: zone), type: "Card", fields: ["text": .string("a")])
            _ = try store.modify(request.request, as: anna)
        }
        var delete = RequestBuilder(place)
        delete.delete(RecordID("gone", zone: other))
        _ = try store.modify(delete.request, as: anna)
        try store.close()
        // The first one is gone, but was there; the log knows nothing of the second.
        let refused = try tool("erase", "People.strata", "gone", "letter", "--zone", "Other", "--user", "anna")
        #expect(
            refused.errors == """
                strata erase: There is no record 'letter' in zone 'Other', and there never was.
                  There is one in another zone: --zone _defaultZone

                """, "\(refused)")
        let usual = try tool("erase", "People.strata", "card", "letter", "--zone", "People", "--user", "anna")
        #expect(usual.code == 1 && usual.errors.contains("'letter' in zone 'People'"), "\(usual)")
    }

    @Test func viewsAreMadeAnew() throws {
        let before = try contents()
        let plan = try tool("rebuild-views", "People.strata")
        #expect(plan.code == 0 && plan.output.hasPrefix("would fold the log up to commit "), "\(plan)")
        #expect(try contents() == before)
        let done = try tool("rebuild-views", "People.strata", "--apply", "--json")
        #expect(done.code == 0 && done.output.hasPrefix("{\"applied\":true,\"end\":"), "\(done)")
        func runs(_ contents: [String: [UInt8]]) -> [String: [UInt8]] { contents.filter { $0.key.hasSuffix(".run") } }
        #expect(try runs(contents()) != runs(before))
        #expect(try tool("query", "People.strata", "Card", "--user", "anna").lines.last == "2 records")
        // One that is missing or damaged is made, too.
        for (path, bytes) in try runs(contents()) {
            var bytes = bytes
            for index in stride(from: 100, to: bytes.count, by: 4_096) { bytes[index] ^= 0xFF }
            try RealFileSystem().replace(path, in: self.path + "/views", with: bytes)
        }
        #expect(try tool("rebuild-views", "People.strata", "--apply").code == 0)
        try FileManager.default.removeItem(atPath: path + "/views")
        let missing = try tool("rebuild-views", "People.strata")
        #expect(missing.code == 0 && missing.output.contains("in place of none"), "\(missing)")
        #expect(try tool("rebuild-views", "People.strata", "--apply").code == 0)
        let store = try Store.open(at: path)
        #expect(store.opening?.views == .whole)
        #expect(try tool("rebuild-views", "People.strata", "--apply").code == 3)
        try store.close()
        #expect(try tool("rebuild-views", "Missing.strata").code == 3)
    }
}
