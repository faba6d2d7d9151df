import Foundation
import StrataModel
import StrataSystem
import StrataViews
import Testing

@testable import StrataStore
@testable import StrataTool

/// The names of the records of users whom shares name, in exports of records and in stores made from them.
@Suite("Names of participants' records in exports and imports")
struct ParticipantNameImportTests {
    private static let others = ["ben", "cleo", "dora", "erik", "fred", "gina"]

    private let sharing: SharingStore
    /// The names in the store of the export.
    private let names: [String: String]

    /// A store with shares of several kinds, and its export.
    init() throws {
        sharing = try SharingStore()
        try sharing.shareHierarchy()
        try sharing.sharePublicly()
        try sharing.shareZone()
        try sharing.close()
        names = try Self.names(in: sharing.path)
        let result = try ToolProcess.run(
            ["export", "Lists.strata", "Out", "--records"], in: sharing.directory.path(""))
        #expect(result.code == 0, "\(result)")
    }

    private static func names(in path: String, of users: [String] = ["anna"] + Self.others) throws -> [String: String] {
        let store = try Store.openForReading(at: path)
        defer { try? store.close() }
        return Dictionary(uniqueKeysWithValues: users.map { ($0, store.recordName(of: $0)) })
    }

    private func run(_ words: String...) throws -> ToolResult {
        try ToolProcess.run(words, in: sharing.directory.path(""))
    }

    @Test("All keep their names, whoever owns the shares now", arguments: ["anna", "zoe"])
    func participants(_ owner: String) throws {
        let result = try run("import", "Copy.strata", "Out", "--user", owner)
        try #require(result.code == 0 && result.errors.isEmpty, "\(result)")
        let path = sharing.directory.path("Copy.strata")
        let found = try Self.names(in: path, of: [owner] + Self.others)
        #expect(found[owner] == names["anna"])
        for user in Self.others { #expect(found[user] == names[user], "\(user)") }
        #expect(Set(found.values).count == 7)
        let store = try Store.openForReading(at: path)
        defer { try? store.close() }
        for (user, name) in found {
            #expect(try store.snapshot().user(at: UserAddress(.recordName, name))?.name == user)
        }
        // Members name the zone by its owner's record, as they did before.
        let zone = ZoneID("Lists", owner: try #require(names["anna"]))
        let milk = try store.snapshot().record(
            RecordID("milk", zone: zone), in: DatabaseID(.shared), as: Actor(user: "ben"))
        #expect(try milk.type == "Item")
    }

    @Test("The export says the names of the participants' records")
    func lines() throws {
        let text = try String(contentsOfFile: sharing.directory.path("Out"), encoding: .utf8)
        let people = try text.split(separator: "\n").filter { $0.hasPrefix("{\"user\":") }.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(people.count == 7)
        for person in people {
            let user = try #require(person["user"] as? String)
            #expect(person["recordName"] as? String == names[user], "\(user)")
        }
    }

    @Test("An export of an earlier release, which has no such names, makes the same shares with new names")
    func earlierExport() throws {
        let path = sharing.directory.path("Out")
        var text = try String(contentsOfFile: path, encoding: .utf8)
        for (user, name) in names {
            text = text.replacingOccurrences(of: ",\"recordName\":\"\(name)\"", with: "")
            text = text.replacingOccurrences(of: ",\"ownerRecord\":\"\(name)\"", with: "")
            text = text.replacingOccurrences(of: name, with: UserRecord.earlierName(of: user))
        }
        #expect(!text.contains("recordName") && !text.contains("ownerRecord"))
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let result = try run("import", "Copy.strata", "Out", "--user", "anna")
        try #require(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(try run("verify", "Copy.strata", "--deep").code == 0)
        let shares = try run("shares", "Copy.strata")
        #expect(shares.code == 0 && shares.lines.last == "3 shares", "\(shares)")
        #expect(shares.output.contains("ben, public user"), "\(shares)")
    }

    @Test("Two users of an export with one name are refused")
    func sameName() throws {
        let path = sharing.directory.path("Out")
        let (ben, cleo) = (try #require(names["ben"]), try #require(names["cleo"]))
        let text = try String(contentsOfFile: path, encoding: .utf8).replacingOccurrences(
            of: "\"recordName\":\"\(cleo)\"", with: "\"recordName\":\"\(ben)\"")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let result = try run("import", "Copy.strata", "Out", "--user", "anna")
        #expect(result.code == 1 && result.errors.contains("The record of the user 'ben' is named"), "\(result)")
        #expect(try RealFileSystem().list(sharing.directory.path("")).allSatisfy { !$0.hasPrefix("Copy") })
    }
}
