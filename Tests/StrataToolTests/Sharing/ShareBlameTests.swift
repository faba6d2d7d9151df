import Foundation
import StrataModel
import StrataViews
import Testing

@testable import StrataTool

/// The state of a share in the commands that print commits and versions: in words, and in JSON.
@Suite struct ShareBlameTests {
    private let fixture: StateFixture

    /// Bert may read from commit 7 on, accepts with 8, and may write from 9 on, when nobody else is invited any more.
    init() throws {
        fixture = try StateFixture()
        try fixture.share(.readOnly)
        try fixture.change { store in
            let bert = ShareChange.Participant(
                "id-bert", .user(recordName: store.recordName(of: "bert")), role: .privateUser, permission: .readWrite)
            try fixture.edit(ShareChange(participants: [bert], allowsAccessRequests: true), to: store)
        }
    }

    private let share = ["Share-1", "--user", "anna", "--zone", "Notes"]

    private func rows(_ words: String...) throws -> [String] {
        let result = try fixture.run(["blame", fixture.name] + share + words)
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        // The columns are as wide as the longest cells.
        return result.lines.map { $0.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) } }
            .map { [$0[0], $0[1], $0.last ?? ""].joined(separator: "|") }
    }

    @Test("blame names the commit that brought each participant, permission and acceptance")
    func blame() throws {
        let found = try rows()
        for row in [
            "public|7|none", "access requests|9|allowed", "participant anna|7|owner",
            "permission of anna|7|read and write", "acceptance of anna|7|accepted", "participant bert|7|private user",
            "permission of bert|9|read and write", "acceptance of bert|8|accepted",
        ] { #expect(found.contains(row), "\(row): \(found)") }
        #expect(!found.contains { $0.contains("c@example.com") || $0.contains("cloudkit.share") }, "\(found)")
        let before = try rows("--at", "8")
        for row in [
            "access requests|7|not allowed", "permission of bert|7|read only", "acceptance of bert|8|accepted",
            "participant c@example.com|7|private user", "acceptance of c@example.com|7|invited",
        ] { #expect(before.contains(row), "\(row): \(before)") }
    }

    @Test("blame tells the parts apart in JSON")
    func blameJSON() throws {
        let objects = try fixture.objects(["blame", fixture.name] + share)
        for object in objects { try PromisedKeys.expect(object, follows: "Who set a field") }
        let permission = try #require(
            objects.first { $0["part"] as? String == "permission" && $0["participant"] as? String == "bert" })
        #expect(permission["offset"] as? UInt64 == 9 && permission["fieldName"] as? String == "cloudkit.share")
        #expect((permission["value"] as? [String: Any])?["value"] as? String == "read and write")
        let token = try #require(objects.first { $0["part"] as? String == "token" })
        #expect(token["participant"] == nil && token["offset"] as? UInt64 == 7)
    }

    @Test("blame of a compacted history says that the parts may be older")
    func compacted() throws {
        try fixture.change { _ = try $0.compact(before: 9) }
        let found = try rows()
        #expect(found.contains { $0.hasPrefix("participant bert|") && $0.contains("or before") }, "\(found)")
        #expect(found.contains("permission of bert|9|read and write"), "\(found)")
    }

    @Test("history and log have the states before and after in JSON")
    func history() throws {
        let versions = try fixture.objects(["history", fixture.name] + share)
        for version in versions { try PromisedKeys.expect(version, follows: "A version") }
        let changes = try versions.map { version in
            let all = try #require(version["changes"] as? [[String: Any]])
            return try #require(all.first { $0["fieldName"] as? String == "cloudkit.share" })
        }
        for change in changes { try PromisedKeys.expect(change, follows: "A change") }
        #expect(changes[0]["oldShare"] == nil)
        let first = try #require(changes[0]["newShare"] as? [String: Any])
        try PromisedKeys.expect(first, follows: "The state of a share")
        #expect(first["root"] as? String == "list" && (first["token"] as? String)?.count == 25)
        let participants = try #require(first["participants"] as? [[String: Any]])
        for entry in participants { try PromisedKeys.expect(entry, follows: "A participant in the state of a share") }
        #expect(participants.map { $0["accepted"] as? Bool } == [true, false, false])
        #expect(participants[2]["address"] as? String == "c@example.com")
        let last = try #require(changes[2]["newShare"] as? [String: Any])
        #expect(last["accessRequests"] as? Bool == true)
        let old = try #require(changes[2]["oldShare"] as? [String: Any])
        #expect((old["participants"] as? [Any])?.count == 3 && (last["participants"] as? [Any])?.count == 2)
        let patch = try fixture.run("log", fixture.name, "--patch", "--json", "--from", "9")
        #expect(patch.output.contains("\"newShare\":{\"root\":\"list\""), "\(patch)")
    }

    @Test("show prints the participants that a save states")
    func show() throws {
        let text = try fixture.run("show", fixture.name, "9")
        for line in [
            "        ~ access requests: not allowed -> allowed",
            "        ~ participant bert: private user, read only, accepted -> private user, read and write, accepted",
            "        = participant anna: owner, read and write",
        ] { #expect(text.output.contains(line + "\n"), "\(line): \(text)") }
        let commit = try #require(try fixture.objects("show", fixture.name, "9").first)
        let events = try #require(commit["events"] as? [[String: Any]])
        for event in events {
            let own = event.filter { !["changes", "notAllKnown"].contains($0.key) }
            try PromisedKeys.expect(own, follows: "An event")
        }
        let fields = events.flatMap { $0["fields"] as? [[String: Any]] ?? [] }
        let share = try #require(fields.compactMap { $0["share"] as? [String: Any] }.first)
        try PromisedKeys.expect(share, follows: "The state of a share")
        let one = try fixture.run("show", fixture.name, "2", "--json")
        #expect(one.code == 0 && !one.output.contains("\"share\":{"), "\(one)")
    }
}
