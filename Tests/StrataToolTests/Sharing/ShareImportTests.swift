import Foundation
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

/// Exports of records that have shares, and stores made from them.
@Suite struct ShareImportTests {
    private let sharing: SharingStore
    private var directory: TestDirectory { sharing.directory }

    init() throws { sharing = try SharingStore() }

    private func run(_ words: String...) throws -> ToolResult { try ToolProcess.run(words, in: directory.path("")) }

    private func export(_ store: String = "Lists.strata", _ file: String = "Out") throws -> [[String: Any]] {
        let result = try run("export", store, file, "--records")
        #expect(result.code == 0, "\(result)")
        return try String(contentsOfFile: directory.path(file), encoding: .utf8).split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    /// Changes the lines of the export.
    private func edit(_ body: (inout [String]) -> Void) throws {
        let path = directory.path("Out")
        var lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        body(&lines)
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
    }

    private func expectRefusal(_ text: String, as user: String = "anna") throws {
        let result = try run("import", "Copy.strata", "Out", "--user", user)
        #expect(result.code == 1 && result.errors.contains(text), "\(result)")
        #expect(try RealFileSystem().list(directory.path("")).allSatisfy { !$0.hasPrefix("Copy") })
    }

    /// What the new store does not decide for itself: tokens, change tags and times.
    private func compared(_ lines: [[String: Any]]) throws -> [String] {
        try lines.dropFirst().dropLast().map { line in
            var line = line
            for key in ["changeTag", "created", "modified", "createdBy", "modifiedBy", "modifiedWith"] {
                line[key] = nil
            }
            if var share = line["sharing"] as? [String: Any] {
                share["token"] = nil
                let participants = try #require(share["participants"] as? [[String: Any]])
                share["participants"] = participants.map { entry in
                    entry.merging(["added": 0]) { $1 }
                        .merging(entry["oneTimeToken"] == nil ? [:] : ["oneTimeToken": ""]) { $1 }
                }
                line["sharing"] = share
            }
            return String(
                decoding: try JSONSerialization.data(withJSONObject: line, options: .sortedKeys), as: UTF8.self)
        }
    }

    @Test("Shares of every kind come back with all their participants")
    func roundTrip() throws {
        try sharing.shareAndEnd()
        try sharing.shareHierarchy()
        try sharing.sharePublicly()
        try sharing.shareZone()
        try sharing.close()
        let old = try export()
        let result = try run("import", "Copy.strata", "Out", "--user", "anna")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        let new = try export("Copy.strata", "Out2")
        #expect(try compared(old).sorted() == compared(new).sorted())
        #expect(try compared(old).count == new.count - 2)
        #expect(try run("verify", "Copy.strata", "--deep").code == 0)
        let access = try run(
            "access", "Copy.strata", "milk", "--user", "dora", "--owner", "anna", "--zone", "Lists")
        #expect(access.code == 0 && access.output.contains("chain  milk < list"), "\(access)")
    }

    @Test("The export has participants and the users they are in words")
    func words() throws {
        try sharing.shareHierarchy()
        try sharing.close()
        let lines = try export()
        let record = try #require(lines.first { $0["record"] as? String == "Share-1" })
        try PromisedKeys.expect(record, follows: "A record of an export")
        let share = try #require(record["sharing"] as? [String: Any])
        try PromisedKeys.expect(share, follows: "The state of a share")
        #expect((record["fields"] as? [String: Any])?.keys.sorted() == ["cloudkit.title"])
        let participants = try #require(share["participants"] as? [[String: Any]])
        #expect(
            participants.map { $0["user"] as? String } == ["anna", "ben", "cleo", "erik", nil, nil, "dora"])
        #expect(participants[3]["askedForAccess"] as? Bool == true)
        #expect(participants[1]["addressKind"] as? String == "email")
        #expect(share["requesters"] as? [String] == ["fred"] && share["blocked"] as? [String] == ["gina"])
        let people = lines.filter { $0["user"] != nil }
        for person in people { try PromisedKeys.expect(person, follows: "A user of an export") }
        #expect(people.map { $0["user"] as? String } == ["anna", "ben", "cleo", "dora", "erik", "fred", "gina"])
        #expect(people[4]["phones"] as? [String] == ["+1 415 555 0100"])
    }

    @Test("Somebody else may own the shares, unless they participate")
    func otherOwner() throws {
        try sharing.shareHierarchy()
        try sharing.close()
        _ = try export()
        #expect(try run("import", "Other.strata", "Out", "--user", "zoe").code == 0)
        #expect(try run("shares", "Other.strata").output.contains("participant  zoe, owner, read and write"))
        try expectRefusal("share 'Share-1' cannot be made as it was: 'ben' is named in it, and cannot own", as: "ben")
    }

    @Test("A missing user, an unknown role and another root are refused by name")
    func missing() throws {
        try sharing.shareHierarchy()
        try sharing.close()
        _ = try export()
        try edit { $0.removeAll { $0.hasPrefix("{\"user\":\"dora\"") } }
        try expectRefusal("share 'Share-1' cannot be made as it was: the export does not declare the user 'dora'")
        _ = try export()
        try edit { lines in
            lines = lines.map { $0.replacing("\"role\":\"administrator\"", with: "\"role\":\"boss\"") }
        }
        try expectRefusal("a known role")
        _ = try export()
        try edit { lines in lines = lines.map { $0.replacing("\"root\":\"list\"", with: "\"root\":\"milk\"") } }
        try expectRefusal("record 'list' cannot be saved as it was: the export does not have its share 'Share-1'")
        _ = try export()
        try edit { lines in
            lines = lines.map { $0.replacing("\"type\":\"cloudkit.share\"", with: "\"type\":\"Item\"") }
        }
        try expectRefusal("record 'Share-1' cannot be saved as it was: it has participants, and is not a share")
    }

    @Test("The reason for which a share is refused is that of the share, not of its root")
    func reason() throws {
        try sharing.sharePublicly()
        try sharing.close()
        _ = try export()
        let address = "\"id\":\"id-cleo\",\"address\":\"\",\"addressKind\":\"email\""
        try edit { lines in lines = lines.map { $0.replacing("\"id\":\"id-cleo\"", with: address) } }
        try expectRefusal("share 'Share-2' cannot be made as it was: A participant has an address of 1 to")
    }

    @Test("The records of a participant keep the export from being imported as one user's")
    func owners() throws {
        try sharing.shareHierarchy()
        try sharing.saveOfMember()
        try sharing.close()
        _ = try export()
        try expectRefusal("private records of anna and of ben")
    }

    @Test("what-if inserts no shares")
    func insertion() throws {
        try sharing.shareHierarchy()
        try sharing.close()
        _ = try export()
        let result = try run("what-if", "Lists.strata", "--insert", "Out", "--at", "1", "--user", "anna")
        #expect(result.code == 2 && result.errors.contains("only 'strata import' makes again"), "\(result)")
        try edit { lines in
            lines = lines.map { $0.replacing("\"type\":\"cloudkit.share\"", with: "\"type\":\"Item\"") }
        }
        try edit { lines in lines = lines.map { $0.replacing(",\"share\":\"Share-1\"", with: "") } }
        let other = try run("what-if", "Lists.strata", "--insert", "Out", "--at", "1", "--user", "anna")
        #expect(other.code == 2 && other.errors.contains("it has participants, and is not a share"), "\(other)")
    }
}
