import Foundation
import StrataModel
import StrataStore
import Testing

@testable import StrataTool

/// What `strata token STORE TEXT` tells of a token beside what it says itself.
@Suite struct TokenStatusTests {
    private let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    /// Of a client that has been given everything up to an offset.
    private func token(at offset: UInt64, of zone: ZoneID? = StateFixture.notes, limit: Int = 0) throws -> FeedToken {
        let store = try Store.openForReading(at: fixture.path, .commit(.offset(offset)))
        defer { try? store.close() }
        let feed = FeedReading(
            store: store, database: DatabaseID(.private), zone: zone, actor: StateFixture.phone, limit: limit)
        return try feed.page(since: nil).token
    }

    /// As the store seals it; also if its end is damaged.
    private func text(_ token: FeedToken) throws -> String {
        let access = try StateAccess.open(fixture.path)
        defer { try? access.store.close() }
        return Base64.text(try access.store.bytes(of: token))
    }

    private func run(_ token: FeedToken, _ words: String...) throws -> ToolResult {
        try fixture.run(["token", fixture.name, text(token)] + words)
    }

    /// What stands behind a label; nil if there is no such line.
    private func line(_ label: String, _ result: ToolResult) -> String? {
        result.lines.first { $0.hasPrefix(label + " ") }.map { String($0.dropFirst(10)) }
    }

    private func object(_ token: FeedToken) throws -> [String: Any] {
        try #require(try fixture.objects("token", fixture.name, text(token)).first)
    }

    @Test func `It tells how old it is, how far behind, and what comes next`() throws {
        let result = try run(token(at: 2))
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(line("made", result) == "2026-11-21T05:46:42Z, 3 s before the last commit", "\(result)")
        #expect(line("behind", result) == "3 commits, 2 of them in the zone, with 3 changes")
        #expect(line("next", result) == "2 changed, 1 deleted, in one page")
        #expect(line("expires", result) == "with a compaction before 4 or later, including one before the end, 5")
        #expect(result.lines.last == "served    yes")
        let newest = try run(token(at: 5))
        #expect(line("made", newest) == "2026-11-21T05:46:45Z, as the last commit", "\(newest)")
        #expect(line("behind", newest) == "0 commits, 0 of them in the zone")
        #expect(line("next", newest) == "0 changed, 0 deleted, in one page")
        #expect(line("expires", newest) == "with no compaction that is currently possible")
        let last = try run(token(at: 4))
        #expect(line("behind", last) == "1 commit, 1 of them in the zone, with 1 change")
        #expect(line("expires", last) == "with a compaction before 6 or later, but not one before the end, 5")
    }

    @Test func `A token that the console expired names that, and no compaction`() throws {
        let token = try token(at: 5)
        try fixture.change { try $0.expireTokens(before: 6) }
        let result = try run(token)
        let reason = "the console expired all tokens from before commit 6"
        #expect(result.code == 1 && line("served", result)?.contains(reason) == true, "\(result)")
        #expect(!result.output.contains("compacted"), "\(result)")
        let feed = try fixture.run("feed", fixture.name, "Notes", "--user", "anna", "--since", text(token))
        #expect(feed.code == 1 && feed.errors.contains(reason) && !feed.errors.contains("compacted"), "\(feed)")
    }

    @Test func `A token may be pasted as a program prints it`() throws {
        let sealed = try text(token(at: 5))
        for pasted in ["<CKServerChangeToken: \(sealed)>", "<CKServerChangeToken: 0x7f00; data=\(sealed)>"] {
            let result = try fixture.run("token", fixture.name, pasted)
            #expect(result.code == 0 && line("served", result) == "yes", "\(pasted): \(result)")
        }
    }

    @Test func `A database's token counts zones`() throws {
        let result = try run(token(at: 1, of: nil))
        #expect(line("behind", result) == "4 commits", "\(result)")
        #expect(line("next", result) == "1 changed, 0 deleted, in one page")
        let object = try object(token(at: 1, of: nil))
        try PromisedKeys.expect(object, follows: "A change token")
        #expect(object["zoneChangesBehind"] == nil && object["commitsBehind"] as? Int == 4)
    }

    @Test func `JSON has the same`() throws {
        let object = try object(token(at: 2))
        try PromisedKeys.expect(object, follows: "A change token")
        #expect((object["time"] as? NSNumber)?.int64Value == StateFixture.startTime + 2_000_000)
        #expect(object["age"] as? Int == 3_000_000 && object["commitsBehind"] as? Int == 3)
        #expect(object["zoneCommitsBehind"] as? Int == 2 && object["zoneChangesBehind"] as? Int == 3)
        #expect(object["expiresBefore"] as? Int == 4 && object["expiresAtEnd"] as? Bool == true)
        let next = try #require(object["next"] as? [String: Any])
        try PromisedKeys.expect(next, follows: "What a token would be given")
        #expect(next["changed"] as? Int == 2 && next["deleted"] as? Int == 1 && next["pages"] as? Int == 1)
        #expect(next["firstChanged"] as? Int == 2 && next["firstDeleted"] as? Int == 1)
        let newest = try self.object(token(at: 5))
        #expect(newest["expiresBefore"] is NSNull && newest["expiresAtEnd"] as? Bool == false)
    }

    @Test func `Of several pages it tells the first`() throws {
        let token = try token(at: 5)
        try fixture.change { store in
            var request = RequestBuilder(DatabaseID(.private), policy: .allKeys)
            for number in 0..<250 { request.save(RecordID("n\(number)", zone: StateFixture.notes), type: "Note") }
            try fixture.step { try store.modify(request.request, as: StateFixture.phone) }
        }
        let result = try run(token)
        #expect(line("next", result) == "250 changed, 0 deleted, in 2 pages; the first has 200 and 0", "\(result)")
        #expect(line("behind", result) == "1 commit, 1 of them in the zone, with 250 changes")
        // In the middle of that commit: 100 of its changes are left.
        let store = try Store.openForReading(at: fixture.path)
        let page = try store.zoneChanges(
            of: StateFixture.notes, in: DatabaseID(.private), since: token, limit: 150, as: StateFixture.phone)
        try store.close()
        let within = try run(page.token)
        #expect(within.output.contains("progress  the commit at the offset up to "), "\(within)")
        #expect(line("next", within) == "100 changed, 0 deleted, in one page")
        let behind = "0 commits and the rest of its own commit, 1 of them in the zone, with 100 changes"
        #expect(line("behind", within) == behind)
    }

    @Test func `A first fetch that is not over is told what is left of it`() throws {
        let result = try run(token(at: 5, limit: 1))
        #expect(result.output.contains("progress  a first fetch, up to the record"), "\(result)")
        #expect(line("next", result) == "1 changed, 0 deleted, in one page")
    }

    @Test(arguments: [UInt64(2), 3, 4, 5]) func `It expires with just the compaction that is told`(
        _ offset: UInt64
    ) throws {
        let token = try token(at: offset)
        let told = try object(token)["expiresBefore"] as? Int
        if let told {
            _ = try fixture.change { try $0.compact(before: UInt64(told) - 1) }
            #expect(try run(token).code == 0)
            _ = try fixture.change { try $0.compact(before: UInt64(told)) }
            let expired = try run(token)
            #expect(expired.code == 1 && line("served", expired)?.contains("has been compacted") == true, "\(expired)")
            #expect(line("next", expired) == nil && line("expires", expired) == nil)
        } else {
            _ = try fixture.change { try $0.compact(before: StateFixture.end + 1) }
            #expect(try run(token).code == 0)
        }
    }

    @Test func `A token in the middle of a commit expires earlier`() throws {
        let before = try token(at: 1)
        let store = try Store.openForReading(at: fixture.path, .commit(.offset(2)))
        let page = try store.zoneChanges(
            of: StateFixture.notes, in: DatabaseID(.private), since: before, limit: 2, as: StateFixture.phone)
        try store.close()
        guard case .within = page.token.progress else {
            Issue.record("the page ends with the commit: \(page.token)")
            return
        }
        #expect(try object(page.token)["expiresBefore"] as? Int == 3)
        _ = try fixture.change { try $0.compact(before: 2) }
        #expect(try run(page.token).code == 0)
        _ = try fixture.change { try $0.compact(before: 3) }
        let expired = try run(page.token)
        #expect(expired.code == 1 && line("served", expired)?.contains("has been compacted") == true, "\(expired)")
        #expect(try object(page.token)["served"] as? Bool == false)
        let feed = try fixture.run(
            "feed", fixture.name, "Notes", "--user", "anna", "--since", try text(page.token))
        #expect(feed.code == 1 && feed.errors.contains("has been compacted"), "\(feed)")
    }

    @Test func `Of a commit that was let go only the base knows the time`() throws {
        let token = try token(at: 3)
        _ = try fixture.change { try $0.compact(before: 4) }
        let horizon = try run(token)
        #expect(line("made", horizon) == "2026-11-21T05:46:43Z, 2 s before the last commit", "\(horizon)")
        var earlier = token
        earlier.position.offset = 2
        let gone = try run(earlier)
        #expect(gone.code == 1 && line("made", gone) == "at a commit that was compacted", "\(gone)")
        #expect(line("behind", gone) == "3 commits")
        #expect(try object(earlier)["time"] is NSNull)
    }

    @Test func `Nothing is told of a token of another store, or of another history`() throws {
        let token = try token(at: 3)
        var (foreign, ahead, forked) = (token, token, token)
        foreign.store = Identifier(high: 1, low: 2)
        ahead.position.offset = 6
        forked.position.chain ^= 1
        for token in [foreign, ahead, forked] {
            let result = try run(token)
            #expect(result.code == 1 && line("made", result) == nil && line("behind", result) == nil, "\(result)")
        }
        // One that is refused for something else is as old as it is.
        try fixture.change { try $0.modify(.zones(deleting: [StateFixture.notes]), as: StateFixture.phone) }
        let refused = try run(token)
        #expect(refused.code == 1 && line("behind", refused) == "3 commits" && line("next", refused) == nil)
    }

    @Test func `Of a damaged store it tells what it can`() throws {
        let token = try token(at: 2)
        try fixture.damage(5)
        let result = try run(token)
        #expect(result.code == 3 && line("behind", result) == "2 commits, 1 of them in the zone, with 2 changes")
        #expect(result.errors.contains("its state at offset 4"), "\(result)")
    }

    @Test(arguments: [
        (0, "0 µs"), (999, "999 µs"), (1_000, "1 ms"), (999_999, "999 ms"), (1_000_000, "1 s"),
        (59_999_999, "59 s 999 ms"), (60_000_000, "1 min"), (3_600_000_000, "1 h"), (3_661_000_000, "1 h 1 min"),
        (90_000_000_000, "1 d 1 h"), (86_400_000_000, "1 d"), (86_401_000_000, "1 d"), (-61_000_000, "-1 min 1 s"),
    ])
    func `A span of time has its two largest units`(_ microseconds: Int, _ text: String) {
        #expect(TimeSpan.text(Int64(microseconds)) == text)
        #expect(!TimeSpan.text(.min).isEmpty)
    }
}
