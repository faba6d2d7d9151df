import Foundation
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

@Suite struct TokenCommandTests {
    private let directory: TestDirectory
    private let path: String
    private static let anna = Actor(user: "anna", device: "phone")
    private static let notes = ZoneID("Notes")

    init() throws {
        directory = try TestDirectory()
        path = directory.path("Notes.strata")
        try change { store in
            try store.modify(.zones(saving: [Self.notes]), as: Self.anna)
            try Self.save(["a", "b", "c"], to: store)
        }
    }

    private static func save(_ names: [String], to store: Store) throws {
        var request = RequestBuilder(DatabaseID(.private), policy: .allKeys)
        for name in names { request.save(RecordID(name, zone: notes), type: "Note", fields: ["rank": .int64(1)]) }
        try store.modify(request.request, as: anna)
    }

    private func change<Result>(_ body: (Store) throws -> Result) throws -> Result {
        let store = try Store.open(at: path)
        defer { try? store.close() }
        return try body(store)
    }

    private func zoneToken(limit: Int = 0) throws -> FeedToken {
        try change { store in
            try store.zoneChanges(of: Self.notes, in: DatabaseID(.private), limit: limit, as: Self.anna).token
        }
    }

    private func run(_ words: String...) throws -> ToolResult {
        try ToolProcess.run(["token"] + words, in: directory.path)
    }

    private func bytes(_ token: FeedToken) throws -> [UInt8] {
        let store = try Store.openForReading(at: path)
        defer { try? store.close() }
        return try store.bytes(of: token)
    }

    private func text(_ token: FeedToken) throws -> String { Data(try bytes(token)).base64EncodedString() }

    private func object(_ result: ToolResult) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    }

    @Test func `A zone's token says all that it has, without a store and with one`() throws {
        let token = try zoneToken()
        guard case .zone(let ordinal, let life) = token.feed else {
            Issue.record("a zone's token is of a database")
            return
        }
        let lines = [
            "feed      zone", "store     \(token.store)", "database  private of anna", "zone      \(ordinal)",
            "life      since commit \(life.offset), event \(life.eventIndex)", "offset    \(token.position.offset)",
            "chain     \(hexadecimal(token.position.chain))", "progress  everything up to the offset",
        ]
        let alone = try run(text(token))
        #expect(alone.code == 0 && alone.output == lines.joined(separator: "\n") + "\n", "\(alone)")
        let digits = try bytes(token).map { hexadecimal($0) }.joined()
        #expect(try run(digits).output == alone.output)
        #expect(try run(digits.uppercased()).output == alone.output)
        let known = try run("Notes.strata", text(token))
        #expect(known.code == 0 && known.lines.contains("zone      \(ordinal), Notes"), "\(known)")
        #expect(known.lines.contains("behind    0 commits, 0 of them in the zone"), "\(known)")
        #expect(known.lines.last == "served    yes")
    }

    @Test func `Each kind of progress has words`() throws {
        let scanning = try zoneToken(limit: 1)
        #expect(
            try run(text(scanning)).output.contains("progress  a first fetch, up to the record with the key 61"))
        var database = try change { try $0.databaseChanges(in: DatabaseID(.private), as: Self.anna).token }
        #expect(try run("Notes.strata", text(database)).output.contains("feed      database\n"))
        database.progress = .within(3)
        #expect(try run(text(database)).output.contains("progress  the commit at the offset up to 3\n"))
        database.progress = .scanningZones(offset: 2, zone: 1)
        let zones = try run(text(database))
        #expect(zones.output.contains("progress  a first fetch, up to zone 1, which changed last at 2\n"))
    }

    @Test func `JSON has the same, and why a token is not served`() throws {
        let token = try zoneToken(limit: 2)
        let served = try object(try run("Notes.strata", text(token), "--json"))
        #expect(served["feed"] as? String == "zone" && served["zoneName"] as? String == "Notes")
        #expect(served["scope"] as? String == "private" && served["ownerName"] as? String == "anna")
        #expect(served["served"] as? Bool == true && served["reason"] == nil)
        let progress = try #require(served["progress"] as? [String: Any])
        #expect(progress["kind"] as? String == "scanning" && progress["seenKey"] is String)
        try change { store in
            try store.modify(.zones(deleting: [Self.notes]), as: Self.anna)
            try store.modify(.zones(saving: [Self.notes]), as: Self.anna)
        }
        let result = try run("Notes.strata", text(token), "--json")
        let refused = try object(result)
        #expect(result.code == 1 && refused["served"] as? Bool == false)
        #expect(refused["refusal"] as? Int == 21)
        #expect((refused["reason"] as? String)?.contains("an earlier life of this one") == true, "\(refused)")
    }

    @Test func `Tokens that do not fit the store end with 1 and why`() throws {
        let token = try zoneToken()
        var other = token
        other.store = Identifier(high: 1, low: 2)
        var future = token
        future.position.offset += 100
        var forked = token
        forked.position.chain ^= 1
        var unknown = token
        unknown.feed = .zone(77, life: Version(offset: 1, eventIndex: 0))
        var open = token
        open.database = DatabaseID(.public)
        let cases = [
            (other, "another store"), (future, "ahead of the store's history"), (forked, "another history"),
            (unknown, "the zone does not exist"), (open, "does not track its changes"),
        ]
        for (token, reason) in cases {
            let result = try run("Notes.strata", text(token))
            #expect(result.code == 1 && result.errors.isEmpty, "\(result)")
            #expect(
                result.lines.last?.hasPrefix("served    no: ") == true && result.output.contains(reason), "\(result)")
            #expect(try run(text(token)).code == 0)
        }
        try change { _ = try $0.modify(.zones(deleting: [Self.notes]), as: Self.anna) }
        #expect(try run("Notes.strata", text(token)).code == 1)
    }

    @Test func `A token that the store did not seal is shown, and not served`() throws {
        let token = try zoneToken()
        let other = StoreSecret(number: 1, key: Array(repeating: 1, count: StoreSecret.byteCount))
        var forged = try bytes(token)
        forged[5] ^= 1
        for bytes in [token.sealed(by: other), forged] {
            let text = Data(bytes).base64EncodedString()
            let result = try run("Notes.strata", text)
            #expect(result.code == 1 && result.output.contains("offset    \(token.position.offset)"), "\(result)")
            #expect(result.lines.last?.contains("this store did not make it, or it was changed") == true, "\(result)")
            let feed = try ToolProcess.run(
                ["feed", "Notes.strata", "Notes", "--user", "anna", "--since", text], in: directory.path)
            #expect(feed.code == 1 && feed.output.isEmpty, "\(feed)")
            #expect(feed.errors.contains("this store did not make it, or it was changed"), "\(feed)")
        }
    }

    @Test func `A token of the form that had a checksum for a seal has expired`() throws {
        var writer = ByteWriter()
        writer.append(bytes: try zoneToken().payload())
        let text = Data(ChecksummedBytes.seal(writer)).base64EncodedString()
        let shown = try run("Notes.strata", text)
        #expect(shown.code == 2 && shown.errors.contains("of an earlier release"), "\(shown)")
        let feed = try ToolProcess.run(
            ["feed", "Notes.strata", "Notes", "--user", "anna", "--since", text], in: directory.path)
        #expect(feed.code == 1 && feed.errors.contains("an earlier release made it"), "\(feed)")
    }

    @Test func `What is no token is told as such`() throws {
        let mistakes = [
            ("Other.strata", "the text is neither base64 nor hexadecimal"), ("AAAA", "the text was cut short"),
            ("bm9uZQ==", "the text was cut short or changed;"),
            ("abc", "neither base64"),
        ]
        for (text, reason) in mistakes {
            let result = try run(text)
            #expect(result.code == 2 && result.output.isEmpty, "\(result)")
            #expect(
                result.errors.hasPrefix("strata token: TEXT is not a change token: ") && result.errors.contains(reason))
            #expect(result.lines.count <= 1)
        }
        #expect(
            try run().errors
                == "strata token: TEXT is missing: the token; always the last argument; see 'strata help token'\n")
        let secret = StoreSecret(number: 1, key: Array(repeating: 1, count: StoreSecret.byteCount))
        let payload = try zoneToken().payload()
        let later = secret.seal([99] + payload.dropFirst(), as: .changeToken)
        let newer = try run(Data(later).base64EncodedString())
        #expect(newer.code == 2 && newer.errors.contains("TEXT is a change token of a later release;"), "\(newer)")
        #expect(try run("Notes.strata").errors == (try run().errors))
        #expect(try run("Missing.strata", text(try zoneToken())).code == 3)
    }
}
