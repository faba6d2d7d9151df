import Foundation
import StrataModel
import StrataStore
import Testing

@testable import StrataTool

@Suite struct GetCommandTests {
    private let fixture: StateFixture
    private static let hash = "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"

    init() throws { fixture = try StateFixture() }

    private func get(_ words: String...) throws -> ToolResult {
        try fixture.run(["get", fixture.name, "--user", "anna", "--zone", "Notes"] + words)
    }

    @Test func `A record has its system fields, and each value with its type`() throws {
        let result = try get("milk")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        let tag = try fixture.tag(of: "milk")
        #expect(
            result.output == """
                record milk
                    zone      Notes, private of anna
                    type      Note
                    tag       \(tag): commit 4, event \(try event(of: tag))
                    created   2026-11-21T05:46:42Z by anna
                    modified  2026-11-21T05:46:44Z by anna on tablet
                    parent    list
                        bytes  data            <3 bytes: 010203>
                        due    date            2001-01-01T00:00:00Z
                        list   reference       @list, deleted with it
                        photo  asset           <asset of 3 bytes, \(Self.hash)>
                        pin    encrypted       ‹encrypted, 4 bytes›
                        place  location        <48.1, 11.5, altitude 520.0, accuracy 5.0 and 3.0, course 90.0, speed \
                1.5, 2001-01-01T00:00:00Z>
                        price  double          0.5
                        rank   int64           3
                        tags   list of string  ["a", "b"]
                        title  string          "Buy \\"milk\\"\\u{1b}[31m"

                """, "\(result)")
    }

    private func event(of tag: String) throws -> UInt32 { try #require(Version(tag: tag)).eventIndex }

    @Test func `A record without fields says so`() throws {
        let result = try get("list")
        #expect(result.code == 0 && result.lines.last == "    fields    none", "\(result)")
    }

    @Test func `JSON has all of it`() throws {
        let record = try #require(
            try fixture.objects("get", fixture.name, "milk", "--user", "anna", "--zone", "Notes").first)
        try PromisedKeys.expect(record, follows: "A record in full")
        #expect(record["name"] as? String == "milk" && record["zone"] as? String == "Notes")
        #expect(record["database"] as? String == "private" && record["owner"] as? String == "anna")
        let tag = try fixture.tag(of: "milk")
        #expect(record["offset"] as? Int == 4 && record["changeTag"] as? String == tag)
        #expect((record["created"] as? NSNumber)?.int64Value == StateFixture.startTime + 2_000_000)
        #expect(record["modifiedWith"] as? String == "tablet" && record["parent"] as? String == "list")
        let fields = try #require(record["fields"] as? [String: [String: Any]])
        let values = fields.mapValues { $0["value"] }
        #expect(values["rank"] as? Int == 3 && values["bytes"] as? String == "AQID")
        #expect(fields["pin"]?["type"] as? String == "encrypted" && values["pin"] as? NSNull != nil)
        let photo = try #require(values["photo"] as? [String: Any])
        #expect(photo["bytes"] as? Int == 3 && photo["hash"] as? String == Self.hash)
        let list = try #require(values["list"] as? [String: Any])
        #expect(list["record"] as? String == "list" && list["deletesWithTarget"] as? Bool == true)
        let place = try #require(values["place"] as? [String: Any])
        #expect(place["horizontalAccuracy"] as? Double == 5 && place["course"] as? Double == 90)
        #expect((place["time"] as? NSNumber)?.int64Value == 978_307_200_000_000)
    }

    @Test func `Lists have all of each element, and data is cut for people alone`() throws {
        let bytes = (0..<40).map { UInt8($0) }
        try fixture.change { store in
            let places = [1.0, 2.0].map { FieldValue.location(.init(latitude: $0, longitude: 0, speed: $0)) }
            try fixture.save(
                "lists", ["places": .list(try FieldList(places)), "data": .data(bytes), "none": .list(.empty)],
                to: store)
        }
        let text = try get("lists")
        #expect(text.output.contains("<40 bytes: \(bytes[..<32].map { hexadecimal($0) }.joined())…>"), "\(text)")
        #expect(text.output.contains("places  list of location  [<1.0, 0.0, ") && text.output.contains(", <2.0, 0.0, "))
        let record = try #require(
            try fixture.objects("get", fixture.name, "lists", "--user", "anna", "--zone", "Notes").first)
        let fields = try #require(record["fields"] as? [String: [String: Any]])
        #expect(fields["data"]?["value"] as? String == Data(bytes).base64EncodedString())
        let places = try #require(fields["places"]?["value"] as? [[String: Any]])
        #expect(places.map { $0["speed"] as? Double } == [1, 2])
        #expect((fields["none"]?["value"] as? [Any])?.isEmpty == true)
    }

    @Test func `Several are printed, and one that is not there ends with 1`() throws {
        let both = try get("milk", "list")
        #expect(both.code == 0 && both.lines.count { $0.hasPrefix("record ") } == 2, "\(both)")
        let result = try get("none", "list", "gone")
        #expect(result.code == 1 && result.lines.first == "record list", "\(result)")
        #expect(
            result.errors == """
                strata get: Record not found: none
                strata get: Record 'gone' was deleted by commit 5 (anna on phone). See it with --at 4.

                """, "\(result)")
        let zone = try fixture.run("get", fixture.name, "milk", "--user", "anna", "--zone", "Missing")
        #expect(zone.code == 1 && zone.output.isEmpty && zone.errors.contains("Zone 'Missing' does not exist."))
    }

    @Test func `Without a zone it says where there is one`() throws {
        let result = try fixture.run("get", fixture.name, "milk", "--user", "anna")
        #expect(result.code == 1 && result.output.isEmpty)
        #expect(
            result.errors == """
                strata get: Record not found: milk
                  There is one in another zone: --zone Notes

                """)
        let owner = try fixture.run("get", fixture.name, "milk", "--user", "bert")
        #expect(
            owner.errors == """
                strata get: Record not found: milk
                  There is one in the private database of anna: --user anna --zone Notes

                """)
        #expect(try fixture.run("get", fixture.name, "milk").errors.contains(": --user anna --zone Notes\n"))
        let news = try fixture.run("get", fixture.name, "news", "--user", "anna")
        #expect(news.errors.contains("in the public database: --database public\n"), "\(news)")
        let zone = try fixture.run("get", fixture.name, "milk", "--user", "anna", "--zone", "Work")
        #expect(zone.errors.hasSuffix("\n  There is one in another zone: --zone Notes\n"), "\(zone)")
        let stays = try fixture.run("get", fixture.name, "news", "--user", "anna", "--zone", "Work")
        #expect(stays.errors.hasSuffix(": --database public --zone _defaultZone\n"), "\(stays)")
        try fixture.change { store in
            let quoted = ZoneID("Bert's zone")
            try fixture.step { try store.modify(.zones(saving: [quoted]), as: StateFixture.bert) }
            try fixture.save("mail", zone: quoted, as: StateFixture.bert, to: store)
        }
        let quoted = try fixture.run("get", fixture.name, "mail", "--user", "bert")
        #expect(quoted.errors.hasSuffix(#": --zone 'Bert'\''s zone'"# + "\n"), "\(quoted)")
        let none = try fixture.run("get", fixture.name, "none", "--user", "anna")
        #expect(none.errors == "strata get: Record not found: none\n")
    }

    @Test func `The user's own database is looked into, however many there are`() throws {
        try fixture.change { store in
            for number in 0...200 {
                let user = Actor(user: "user-\(number)")
                try fixture.step { try store.modify(.zones(saving: [StateFixture.notes]), as: user) }
            }
            try fixture.save("last", as: Actor(user: "user-200"), to: store)
        }
        let result = try fixture.run("get", fixture.name, "last", "--user", "user-200")
        #expect(result.errors.hasSuffix("\n  There is one in another zone: --zone Notes\n"), "\(result)")
    }

    @Test func `An earlier state has the earlier record`() throws {
        let now = try get("milk")
        #expect(try get("milk", "--at", "4").output == now.output)
        let before = try get("milk", "--at", "3")
        #expect(before.code == 0 && before.output.contains("rank   int64           2"), "\(before)")
        #expect(before.output.contains("modified  2026-11-21T05:46:42Z by anna on phone"))
        #expect(try get("milk", "--at", "2026-11-21T05:46:43.5Z").output == before.output)
        #expect(try get("gone", "--at", "4").code == 0)
        #expect(try get("gone", "--at", "5").code == 1)
        #expect(try get("milk", "--at", "1").errors == "strata get: Record not found: milk\n")
        let zone = try get("milk", "--at", "0")
        #expect(zone.code == 1 && zone.errors == "strata get: The store has no user 'anna'.\n", "\(zone)")
    }

    @Test func `Encrypted values are opened if asked for`() throws {
        let result = try get("milk", "--reveal")
        #expect(result.code == 0 && result.output.contains("pin    string          \"1234\""), "\(result)")
        try FileManager.default.removeItem(atPath: fixture.path + "/keys")
        let closed = try get("milk", "--reveal")
        #expect(closed.code == 1 && closed.errors.contains("1 encrypted value cannot be decrypted"), "\(closed)")
        #expect(closed.output.contains("‹encrypted, 4 bytes›"))
        #expect(try get("milk").code == 0)
    }

    @Test func `Each database is reached, by who may`() throws {
        func run(_ words: String...) throws -> ToolResult { try fixture.run(["get", fixture.name] + words) }
        let news = try run("news")
        #expect(news.code == 0 && news.lines[1] == "    zone      _defaultZone, public", "\(news)")
        #expect(try run("news", "--user", "anna", "--database", "public").output == news.output)
        let milk = try get("milk")
        #expect(try run("milk", "--owner", "anna", "--zone", "Notes").output == milk.output)
        #expect(try run("milk", "--user", "anna", "--owner", "anna", "--zone", "Notes").output == milk.output)
        let denied = try run("milk", "--user", "bert", "--owner", "anna", "--zone", "Notes")
        #expect(denied.code == 1 && denied.errors.contains("The database of another user cannot be read."))
        try fixture.change { try $0.setAccountStatus(.restricted, of: "anna") }
        let restricted = try get("milk")
        #expect(restricted.code == 1 && restricted.errors == "strata get: The account is restricted.\n")
        #expect(try run("milk", "--owner", "anna", "--zone", "Notes").output == milk.output)
    }

    @Test func `A user's own record is one too`() throws {
        let users = try fixture.objects("users", fixture.name)
        let name = try #require(users.first?["record"] as? String)
        let result = try fixture.run("get", fixture.name, name, "--user", "anna")
        #expect(result.code == 0 && result.output.contains("type      Users"), "\(result)")
    }

    @Test func `Names are made safe to show`() throws {
        // The rules would refuse such a name, but a log may have it.
        let fixture = try StoreFixture.small()
        try fixture.open()
        try fixture.append(
            Envelope(header: StoreFixture.header, events: [fixture.noteEvent("\u{1b}[1m", filling: [7])]).encoded())
        try fixture.close()
        let result = try fixture.run("get", fixture.name, "\u{1b}[1m", "--user", "anna", "--zone", "Notes")
        #expect(result.code == 0 && result.lines.first == "record \\u{1b}[1m", "\(result)")
        #expect(result.lines.last == "        title  data  <1 byte: 07>")
    }

    @Test func `What cannot be understood ends with 2`() throws {
        let hint = "; see 'strata help get'\n"
        let mistakes: [([String], String)] = [
            ([], "RECORD is missing: the name of a record; repeat for more"), ([""], "RECORD is empty"),
            (["a", ""], "RECORD is empty"),
            (
                ["a", "--database", "private"],
                "--database private needs --user NAME: every user has a private database"
            ),
            (
                ["a", "--database", "public", "--owner", "anna"],
                "--owner and --database public cannot be combined: the public database has no owner"
            ),
            (["a", "--database", "cloud"], "--database must be public, private or shared, not 'cloud'"),
            (["a", "--at", "8796093022208"], "--at 8796093022208 is larger than any offset"),
            (
                ["a", "--at", "never"],
                "--at takes an offset, or a time such as 2026-11-21, 2026-11-21T05:18:03Z, 90s, 15m, 2h, 3d, "
                    + "\"2 hours ago\", \"last week\", yesterday or @MICROSECONDS; 'never' is neither"
            ),
        ]
        for (words, message) in mistakes {
            let result = try fixture.run(["get", fixture.name] + words)
            #expect(result.code == 2 && result.output.isEmpty)
            #expect(result.errors == "strata get: " + message + hint)
        }
    }
}
