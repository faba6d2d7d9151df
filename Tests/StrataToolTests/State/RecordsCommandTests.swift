import Foundation
import StrataModel
import StrataStore
import Testing

@testable import StrataTool

@Suite struct RecordsCommandTests {
    private let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    private func records(_ words: String...) throws -> ToolResult {
        try fixture.run(["records", fixture.name] + words)
    }

    /// The first word of each line but the last.
    private func names(_ result: ToolResult) -> [Substring] { result.lines.dropLast().map { $0.prefix { $0 != " " } } }

    @Test func `A line for each record, in the order of names`() throws {
        let result = try records("--user", "anna", "--zone", "Notes")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        let (milk, list) = (try fixture.tag(of: "milk"), try fixture.tag(of: "list"))
        let width = max(milk.count, list.count)
        func padded(_ tag: String) -> String { tag + String(repeating: " ", count: width - tag.count) }
        #expect(
            result.output == """
                list  Notes  List  \(padded(list))  2026-11-21T05:46:42Z  anna
                milk  Notes  Note  \(padded(milk))  2026-11-21T05:46:44Z  anna
                2 records

                """, "\(result)")
    }

    @Test func `All zones of the database come one after the other`() throws {
        try fixture.change { try fixture.save("plan", zone: StateFixture.work, to: $0) }
        let result = try records("--user", "anna")
        let users = try fixture.objects("users", fixture.name)
        let own = try #require(users.first?["record"] as? String)
        #expect(Set(names(result)) == ["list", "milk", "plan", Substring(own)], "\(result)")
        #expect(result.lines.last == "4 records")
        let zones = result.lines.dropLast().map { $0.split(separator: " ")[1] }
        #expect(zones.filter { $0 != "_defaultZone" } == ["Notes", "Notes", "Work"])
        #expect(try records("--user", "anna", "--zone", "Work").lines.last == "1 record")
        #expect(names(try records()).contains("news"))
        #expect(try records("--owner", "anna").output == result.output)
    }

    @Test func `One type, and so many`() throws {
        #expect(names(try records("--user", "anna", "--type", "Note")) == ["milk"])
        #expect(names(try records("--user", "anna", "--type", "List")) == ["list"])
        let first = try records("--user", "anna", "--zone", "Notes", "--limit", "1")
        #expect(names(first) == ["list"] && first.lines.last == "1 record; there are more", "\(first)")
        let all = try records("--user", "anna", "--zone", "Notes", "--limit", "2")
        #expect(all.lines.count == 3 && all.lines.last == "2 records")
        let type = try records("--user", "anna", "--type", "Nots")
        #expect(type.code == 1 && type.errors == "strata records: Did not find record type: Nots. Did you mean Note?\n")
        // A type that another database has is none that is misspelt.
        let item = try records("--user", "anna", "--type", "Item")
        #expect(item.code == 0 && item.output == "0 records\n")
    }

    @Test func `An earlier state has what there was`() throws {
        #expect(names(try records("--user", "anna", "--zone", "Notes", "--at", "4")) == ["gone", "list", "milk"])
        #expect(try records("--user", "anna", "--zone", "Notes", "--at", "1").output == "0 records\n")
        let early = try records("--user", "anna", "--at", "0")
        #expect(early.code == 1 && early.errors == "strata records: The store has no user 'anna'.\n", "\(early)")
    }

    @Test func `JSON has an object for each, and one for the end`() throws {
        let objects = try fixture.objects(
            "records", fixture.name, "--user", "anna", "--zone", "Notes", "--limit", "1")
        #expect(objects.count == 2)
        try PromisedKeys.expect(objects[0], follows: "A record in a list")
        try PromisedKeys.expect(objects[1], follows: "The end of a list of records")
        #expect(objects[0]["name"] as? String == "list" && objects[0]["type"] as? String == "List")
        let tag = try fixture.tag(of: "list")
        #expect(objects[0]["changeTag"] as? String == tag)
        #expect((objects[0]["modified"] as? NSNumber)?.int64Value == StateFixture.startTime + 2_000_000)
        #expect(objects[1]["records"] as? Int == 1 && objects[1]["more"] as? Bool == true)
    }

    @Test func `Many records are as many lines`() throws {
        try fixture.change { store in
            for first in stride(from: 0, to: 600, by: 300) {
                var request = RequestBuilder(DatabaseID(.private), policy: .allKeys)
                for number in first..<first + 300 {
                    request.save(RecordID("r\(1_000 + number)", zone: StateFixture.work), type: "Note")
                }
                try fixture.step { try store.modify(request.request, as: StateFixture.phone) }
            }
        }
        let result = try records("--user", "anna", "--zone", "Work")
        #expect(result.lines.count == 601 && result.lines.last == "600 records")
        #expect(names(result) == (1_000..<1_600).map { "r\($0)" })
        let tool = try ToolProcess(
            ["records", fixture.name, "--user", "anna", "--json"], in: fixture.directory.path)
        #expect(try tool.readLine() != nil)
        tool.closePipe()
        #expect(try tool.wait() == 0)
        #expect(try tool.errors().isEmpty)
    }

    @Test func `Whatever a log has for names is listed whole, and safe to show`() throws {
        let long = String(repeating: "n", count: 1_000)
        let fixture = try StoreFixture.small()
        try fixture.open()
        let events = try ["a\u{1b}b", long].map { try fixture.noteEvent($0) }
        try fixture.append(Envelope(header: StoreFixture.header, events: events).encoded())
        try fixture.close()
        let result = try fixture.run("records", fixture.name, "--user", "anna", "--zone", "Notes")
        #expect(result.code == 0 && result.lines.last == "5 records", "\(result)")
        let listed = names(result)
        #expect(listed.first == "a\\u{1b}b" && listed.contains(Substring(long)), "\(result)")
    }

    @Test func `What is not there ends with 1`() throws {
        let zone = try records("--user", "anna", "--zone", "Missing")
        #expect(zone.code == 1 && zone.errors == "strata records: Zone 'Missing' does not exist.\n", "\(zone)")
        let user = try records("--user", "carl")
        #expect(user.code == 1 && user.errors == "strata records: The store has no user 'carl'.\n")
        #expect(try records("--owner", "carl").code == 1)
        #expect(try records("--user", "bert", "--zone", "_defaultZone").lines.last == "1 record")
        try fixture.change { try $0.modify(.zones(deleting: [StateFixture.work]), as: StateFixture.phone) }
        #expect(try records("--user", "anna", "--zone", "Work").code == 1)
    }

    @Test func `What cannot be understood ends with 2`() throws {
        let hint = "; see 'strata help records'\n"
        let mistakes: [([String], String)] = [
            (["a"], "unexpected argument 'a'"), (["--limit", "0"], "--limit 0 is out of range: 1 to "),
            (["--database", "private"], "--database private needs --user NAME"),
            (["--type", "A", "--type", "B"], "--type is given twice"),
        ]
        for (words, message) in mistakes {
            let result = try fixture.run(["records", fixture.name] + words)
            #expect(result.code == 2 && result.output.isEmpty)
            #expect(result.errors.hasPrefix("strata records: " + message) && result.errors.hasSuffix(hint), "\(result)")
        }
    }
}
