import Foundation
import StrataModel
import StrataStore
import Testing

@testable import StrataTool

@Suite struct FeedCommandTests {
    private let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    private func feed(_ words: String...) throws -> ToolResult {
        try fixture.run(["feed", fixture.name, "--user", "anna"] + words)
    }

    private func objects(_ words: String...) throws -> [[String: Any]] {
        let result = try fixture.run(["feed", fixture.name, "--user", "anna", "--json"] + words)
        #expect(result.code == 0, "\(result)")
        return try result.lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    /// The token at the end of the last page.
    private func token(_ words: String...) throws -> String {
        let result = try fixture.run(["feed", fixture.name, "--user", "anna"] + words)
        return String(try #require(result.lines.last?.split(separator: " ").last))
    }

    private func clientToken(of zone: ZoneID? = StateFixture.notes) throws -> String {
        try fixture.change { store in
            let page = try zone.map {
                try store.zoneChanges(of: $0, in: DatabaseID(.private), as: StateFixture.phone).token
            }
            let token = try page ?? store.databaseChanges(in: DatabaseID(.private), as: StateFixture.phone).token
            return Data(try store.bytes(of: token)).base64EncodedString()
        }
    }

    // MARK: What a client gets

    @Test func `A zone from nothing is all that is there`() throws {
        let result = try feed("Notes")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.lines.count == 3, "\(result)")
        let (milk, list) = (try fixture.tag(of: "milk"), try fixture.tag(of: "list"))
        #expect(result.lines[0].hasPrefix("changed  list  List  \(list)"))
        #expect(result.lines[1].hasPrefix("changed  milk  Note  \(milk)") && result.lines[1].contains("  rank=3  "))
        let token = try clientToken()
        #expect(result.lines[2] == "page 1: 2 changed, 0 deleted; token \(token)")
    }

    @Test func `Since a token comes what has changed, and what is gone`() throws {
        let token = try token("Notes", "--at", "2")
        let result = try feed("Notes", "--since", token)
        #expect(result.lines.count == 4 && result.lines[0].hasPrefix("changed  milk  Note  "), "\(result)")
        // A parent has a new version with its child.
        #expect(result.lines[1].hasPrefix("changed  list  List  ") && result.lines[2] == "deleted  gone  Note")
        #expect(result.lines[3].hasPrefix("page 1: 2 changed, 1 deleted; token "))
        let last = try feed("Notes", "--since", try self.token("Notes", "--since", token))
        #expect(last.output.hasPrefix("page 1: 0 changed, 0 deleted; token "), "\(last)")
        let data = try #require(Data(base64Encoded: token))
        #expect(try feed("Notes", "--since", data.map { hexadecimal($0) }.joined()).output == result.output)
    }

    @Test func `A database from nothing is its zones, and later those that are gone with the reason`() throws {
        let first = try feed()
        #expect(first.code == 0 && first.lines.count == 3, "\(first)")
        #expect(first.lines.prefix(2).map { $0.split(separator: " ")[1] }.sorted() == ["Notes", "Work"])
        let token = try clientToken(of: nil)
        #expect(first.lines[2] == "page 1: 2 changed, 0 deleted; token \(token)")
        try fixture.change { store in
            try store.modify(.zones(deleting: [StateFixture.work]), as: StateFixture.phone)
            try store.purgeZone(StateFixture.notes, of: "anna")
        }
        let later = try feed("--since", "5")
        #expect(later.lines.contains("deleted  Work   deleted") && later.lines.contains("deleted  Notes  purged"))
        #expect(later.lines.last?.hasPrefix("page 1: 0 changed, 2 deleted; ") == true, "\(later)")
    }

    @Test func `Pages follow each other, by themselves or by their tokens`() throws {
        try fixture.change { try fixture.saveMany(7, bytes: 10, to: $0) }
        let all = try feed("Notes", "--limit", "2", "--all")
        let pages = all.lines.filter { $0.hasPrefix("page ") }
        #expect(pages.count >= 5 && pages.dropLast().allSatisfy { $0.contains(", more to come; token ") }, "\(all)")
        #expect(pages.last?.contains("more to come") == false)
        #expect(all.lines.count { $0.hasPrefix("changed ") } == 9)
        var (names, token, count): ([Substring], String?, Int) = ([], nil, 0)
        repeat {
            let page = try fixture.run(
                ["feed", fixture.name, "Notes", "--user", "anna", "--limit", "2"]
                    + (token.map { ["--since", $0] } ?? []))
            names += page.lines.dropLast().map { $0.split(separator: " ")[1] }
            let end = try #require(page.lines.last)
            token = end.contains("more to come") ? end.split(separator: " ").last.map(String.init) : nil
            count += 1
        } while token != nil && count < 20
        #expect(count == pages.count && Set(names).count == 9 && names.count == 9, "\(names)")
        let one = try feed("Notes", "--limit", "2")
        #expect(one.lines.count == 3 && one.lines[2] == pages[0])
    }

    @Test func `JSON has records in full, what is gone, and each page's end`() throws {
        let zone = try objects("Notes", "--since", "2")
        #expect(zone.count == 4)
        try PromisedKeys.expect(zone[0], follows: "A record in full")
        #expect(zone[0]["change"] as? String == "changed" && zone[0]["name"] as? String == "milk")
        try PromisedKeys.expect(zone[2], follows: "What is gone, or a zone that has changed")
        #expect(zone[2]["change"] as? String == "deleted" && zone[2]["type"] as? String == "Note")
        try PromisedKeys.expect(zone[3], follows: "The end of a page of a feed")
        #expect(zone[3]["changed"] as? Int == 2 && zone[3]["deleted"] as? Int == 1 && zone[3]["offset"] as? Int == 5)
        let token = try clientToken()
        #expect(zone[3]["moreComing"] as? Bool == false && zone[3]["token"] as? String == token)
        try fixture.change { try $0.modify(.zones(deleting: [StateFixture.work]), as: StateFixture.phone) }
        let database = try objects("--since", "1")
        #expect(database.count == 3, "\(database)")
        for object in database.dropLast() {
            try PromisedKeys.expect(object, follows: "What is gone, or a zone that has changed")
        }
        #expect(database.contains { $0["zone"] as? String == "Work" && $0["reason"] as? String == "deleted" })
        #expect(database.contains { $0["zone"] as? String == "Notes" && $0["change"] as? String == "changed" })
    }

    @Test func `A device gets the token that it sent`() throws {
        try fixture.change { store in
            var request = RequestBuilder(DatabaseID(.private), policy: .changedKeys, clientToken: [1, 2, 3])
            request.save(RecordID("milk", zone: StateFixture.notes), type: "Note", fields: ["rank": .int64(9)])
            try store.modify(request.request, as: StateFixture.tablet)
        }
        #expect(try feed("Notes", "--device", "tablet").lines.last?.hasSuffix("; client token AQID") == true)
        #expect(try feed("Notes", "--device", "phone").lines.last?.contains("client token") == false)
        let end = try #require(try objects("Notes", "--device", "tablet").last)
        #expect(end["clientToken"] as? String == "AQID")
        try PromisedKeys.expectAll(of: "The end of a page of a feed", in: [end])
    }

    @Test func `Encrypted values are opened if asked for`() throws {
        #expect(try feed("Notes").output.contains("pin=‹encrypted, 4 bytes›"))
        #expect(try feed("Notes", "--reveal").output.contains("pin=\"1234\""))
        try FileManager.default.removeItem(atPath: fixture.path + "/keys")
        let closed = try feed("Notes", "--reveal")
        #expect(closed.code == 1 && closed.errors.contains("1 encrypted value cannot be decrypted"), "\(closed)")
    }

    // MARK: Since an offset

    @Test func `An offset stands for a client that has everything up to there`() throws {
        for offset in 1...StateFixture.end {
            let token = try token("Notes", "--at", "\(offset)")
            let (given, meant) = (try feed("Notes", "--since", token), try feed("Notes", "--since", "\(offset)"))
            #expect(given.code == 0 && given.output == meant.output, "\(offset): \(given) \(meant)")
        }
        #expect(try feed("--since", "4").lines.dropLast() == ["changed  Notes"])
        #expect(try feed("--since", "0").lines.count == 3)
        let ahead = try feed("Notes", "--since", "6")
        #expect(ahead.code == 1 && ahead.errors.contains("ahead of the store's history"), "\(ahead)")
        #expect(try feed("Notes", "--since", "5", "--at", "4").code == 1)
    }

    @Test func `Who had everything before the zone was made begins with nothing`() throws {
        try fixture.change { try $0.modify(.zones(saving: [ZoneID("Late")]), as: StateFixture.phone) }
        let result = try feed("Late", "--since", "3")
        #expect(result.code == 0 && result.output.hasPrefix("page 1: 0 changed, 0 deleted; token "), "\(result)")
        #expect(
            result.errors == """
                strata feed: the zone did not exist at offset 3: a client that had everything then starts with nothing

                """)
        #expect(try feed("Late", "--since", "6").errors.isEmpty)
    }

    @Test func `Who had everything of an earlier life has a token that has expired`() throws {
        try fixture.change { store in
            try store.modify(.zones(deleting: [StateFixture.notes]), as: StateFixture.phone)
            try store.modify(.zones(saving: [StateFixture.notes]), as: StateFixture.phone)
        }
        let result = try feed("Notes", "--since", "5")
        #expect(result.code == 1 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("an earlier life of this one"))
        let between = try feed("Notes", "--since", "6")
        #expect(between.code == 0 && between.errors.contains("did not exist at offset 6"), "\(between)")
        #expect(try feed("Notes", "--since", "7").errors.isEmpty)
    }

    // MARK: Refusals

    @Test func `What a client would be refused ends with 1 and why`() throws {
        let (zone, database) = (try clientToken(), try clientToken(of: nil))
        func expect(_ words: [String], _ reason: String) throws {
            let result = try fixture.run(["feed", fixture.name] + words)
            #expect(result.code == 1 && result.output.isEmpty, "\(result)")
            #expect(result.errors.hasPrefix("strata feed: ") && result.errors.contains(reason), "\(result)")
        }
        try expect(["Missing", "--user", "anna"], "Zone 'Missing' does not exist.")
        try expect(["Notes", "--user", "bert"], "Zone 'Notes' does not exist.")
        try expect(["_defaultZone", "--user", "anna"], "AppDefaultZone does not support getChanges call")
        try expect(["Notes", "--user", "anna", "--since", database], "for the changes of a database, not of a zone")
        try expect(["--user", "anna", "--since", zone], "for the changes of a zone, not of a database")
        try expect(["Work", "--user", "anna", "--since", zone], "to another zone")
        try fixture.change { try $0.purgeZone(StateFixture.work, of: "anna") }
        try expect(["Work", "--user", "anna"], "The user deleted zone 'Work'.")
        try fixture.change { try $0.expireTokens(before: 6) }
        try expect(["Notes", "--user", "anna", "--since", zone], "the console expired all tokens from before commit 6")
        try expect(["Notes", "--user", "anna", "--since", "5"], "the console expired all tokens from before commit 6")
        try fixture.change { try $0.setAccountStatus(.noAccount, of: "anna") }
        try expect(["--user", "anna"], "There is no account on this device.")
        try expect(["--user", "carl"], "The store has no user 'carl'.")
    }

    @Test func `After a compaction the tokens from before it have expired`() throws {
        _ = try fixture.change { try $0.compact(before: 4) }
        let result = try feed("Notes", "--since", "2")
        #expect(result.code == 1 && result.errors.contains("the history since then has been compacted"), "\(result)")
        #expect(try feed("Notes", "--since", "3").lines.count == 4)
        #expect(try feed("Notes").lines.count == 3)
    }

    @Test func `What cannot be understood ends with 2`() throws {
        let hint = "; see 'strata help feed'\n"
        let mistakes: [([String], String)] = [
            ([], "--user NAME is missing: only private databases keep feeds"),
            (
                ["--user", "anna", "--since", "?"],
                "--since is not a change token: the text is neither base64 nor hexadecimal"
            ),
            (["--user", "anna", "--since", "8796093022208"], "--since 8796093022208 is larger than any offset"),
            (["--user", "anna", "--limit", "401"], "--limit 401 is out of range: 1 to 400"),
            (["--user", "anna", "--limit", "0"], "--limit 0 is out of range: 1 to 400"),
            (["Notes", "Work", "--user", "anna"], "unexpected argument 'Work'"),
        ]
        for (words, message) in mistakes {
            let result = try fixture.run(["feed", fixture.name] + words)
            #expect(result.code == 2 && result.output.isEmpty)
            #expect(result.errors == "strata feed: " + message + hint)
        }
    }

    @Test func `Pages have as many as CloudKit gives`() throws {
        #expect(FeedCommand.limitRange.upperBound == UInt64(StoreOptions.service.limits.pageSizeMaximum))
        #expect(FeedCommand.limit.help.contains("; the default is \(StoreOptions.service.limits.pageSize)"))
    }
}
