import Foundation
import StrataModel
import StrataStore
import TestSupport
import Testing

@testable import StrataTool

@Suite("Encrypted values in the tool's output") struct RevealTests {
    private let directory: TestDirectory
    private var keys: String { directory.path("Notes.strata/keys") }

    init() throws {
        directory = try TestDirectory()
        let store = try Store.open(at: directory.path("Notes.strata"))
        let (anna, id) = (Actor(user: "anna"), RecordID("card", zone: ZoneID("_defaultZone")))
        var request = RequestBuilder(DatabaseID(.private), policy: .allKeys)
        func seal(_ value: FieldValue, _ key: String) throws -> FieldValue {
            try store.seal(value, for: key, of: id, in: DatabaseID(.private), as: anna)
        }
        request.save(
            id, type: "Card",
            fields: [
                "pin": try seal(.string("1234"), "pin"), "flag": try seal(.int64(1), "flag"), "title": .string("Bank"),
            ])
        try store.modify(request.request, as: anna)
        try store.close()
    }

    private func run(_ words: String...) throws -> ToolResult {
        try ToolProcess.run(["query", "Notes.strata", "Card", "--user", "anna"] + words, in: directory.path)
    }

    @Test func lengthsOnlyUnlessAskedFor() throws {
        let result = try run()
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(
            result.output == """
                card  _defaultZone  flag=‹encrypted, 1 byte›  pin=‹encrypted, 4 bytes›  title="Bank"
                1 record

                """)
        let json = try run("--json").lines[0]
        #expect(json.contains(#""pin":{"type":"encrypted","value":null}"#), "\(json)")
        let log = try ToolProcess.run(["log", "Notes.strata"], in: directory.path)
        #expect(!log.output.contains("1234") && log.output.contains("pin"))
    }

    @Test func valuesIfAskedFor() throws {
        let result = try run("--reveal")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.lines[0] == #"card  _defaultZone  flag=1  pin="1234"  title="Bank""#)
        #expect(try run("--reveal", "--json").lines[0].contains(#""pin":{"type":"string","value":"1234"}"#))
        #expect(try run("--reveal", "--keys", "title").lines[0] == #"card  _defaultZone  title="Bank""#)
    }

    /// What the commands about the past print, each with and without the option.
    private static let pastCommands: [[String]] = [
        ["history", "Notes.strata", "card", "--user", "anna"], ["blame", "Notes.strata", "card", "--user", "anna"],
        ["log", "Notes.strata", "--patch"], ["diff", "Notes.strata", "0"],
    ]

    @Test("The past has readable values if asked for", arguments: pastCommands)
    func past(_ words: [String]) throws {
        for form in [words, words + ["--json"]] {
            let closed = try ToolProcess.run(form, in: directory.path)
            #expect(!closed.output.contains("1234") && closed.errors.isEmpty, "\(closed)")
            let revealed = try ToolProcess.run(form + ["--reveal"], in: directory.path)
            #expect(revealed.code == closed.code && revealed.errors.isEmpty, "\(revealed)")
            #expect(revealed.output.contains("1234") && revealed.output.contains("Bank"), "\(revealed)")
        }
        try FileManager.default.removeItem(atPath: keys)
        let lost = try ToolProcess.run(words + ["--reveal"], in: directory.path)
        #expect(lost.code == 1 && lost.errors.contains("2 encrypted values cannot be decrypted"), "\(lost)")
    }

    @Test func withoutKeysItSaysWhy() throws {
        try FileManager.default.removeItem(atPath: keys)
        #expect(try run().code == 0)
        let result = try run("--reveal")
        #expect(result.code == 1 && result.errors.contains("2 encrypted values cannot be decrypted"), "\(result)")
        #expect(result.output.contains("pin=‹encrypted, 4 bytes›") && result.errors.contains("keyMissing"))
        #expect(try run("--reveal", "--keys", "title").code == 0)
    }

    @Test func keysThatCannotBeReadAreAnError() throws {
        // A directory in its place: not even the superuser, whom no mode keeps out, can read that.
        try FileManager.default.removeItem(atPath: keys)
        try FileManager.default.createDirectory(atPath: keys, withIntermediateDirectories: false)
        #expect(try run().code == 0)
        let unreadable = try run("--reveal")
        #expect(unreadable.code == 3 && unreadable.errors.contains("keys"), "\(unreadable)")
        try FileManager.default.removeItem(atPath: keys)
        try Data("StrataKyXXXXXXXXXX".utf8).write(to: URL(fileURLWithPath: keys))
        let damaged = try run("--reveal")
        #expect(damaged.code == 3 && damaged.errors.contains("badChecksum"), "\(damaged)")
    }
}
