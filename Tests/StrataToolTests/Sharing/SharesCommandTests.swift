import StrataModel
import StrataViews
import Testing

@testable import StrataTool

@Suite struct SharesCommandTests {
    private let fixture: StateFixture

    init() throws {
        fixture = try StateFixture()
        try fixture.share()
    }

    private func shares(_ words: String...) throws -> ToolResult { try fixture.run(["shares", fixture.name] + words) }

    @Test("A share has a paragraph with its participants and the commits with which they joined")
    func text() throws {
        let result = try shares()
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        for line in [
            "share Share-1", "    zone         Notes, private of anna", "    shares       record list",
            "    public       none", "    participant  anna, owner, read and write",
            "    participant  bert, private user, read and write, joined with commit 8",
            "    participant  c@example.com, private user, read only, not joined yet", "1 share",
        ] { #expect(result.output.contains(line), "\(line): \(result)") }
    }

    @Test("JSON has the same")
    func json() throws {
        let object = try #require(try fixture.objects("shares", fixture.name).first)
        try PromisedKeys.expect(object, follows: "A share")
        #expect(object["share"] as? String == "Share-1" && object["root"] as? String == "list")
        #expect((object["token"] as? String)?.count == 25 && object["ended"] as? Bool == false)
        let participants = try #require(object["participants"] as? [[String: Any]])
        for participant in participants { try PromisedKeys.expect(participant, follows: "A participant of a share") }
        #expect(participants.map { $0["user"] as? String } == ["anna", "bert", nil])
        #expect(participants.map { $0["accepted"] as? Bool } == [true, true, false])
        #expect(participants[2]["address"] as? String == "c@example.com")
    }

    @Test("Only the shares of a user, who may be named by the user's record")
    func ofUser() throws {
        #expect(try shares("--user", "bert").lines.last == "1 share")
        let anna = try fixture.change { $0.recordName(of: "anna") }
        #expect(try shares("--user", anna).lines.last == "1 share")
        let stranger = try shares("--user", "cleo")
        #expect(stranger.code == 0 && stranger.lines == ["0 shares"], "\(stranger)")
    }

    @Test("A mistyped user ends with 1 and a suggestion")
    func mistyped() throws {
        let result = try shares("--user", "bret")
        #expect(result.code == 1 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("The store has no user 'bret'. Did you mean bert?"), "\(result)")
    }

    @Test("Earlier states have the shares of then, and ended ones come with --ended")
    func past() throws {
        #expect(try shares("--at", "6").lines == ["0 shares"])
        #expect(try shares("--at", "7").output.contains("bert, private user, read and write, not joined yet"))
        try fixture.change { store in
            var request = RequestBuilder(DatabaseID(.private))
            request.delete(RecordID("Share-1", zone: StateFixture.notes))
            try fixture.step { try store.modify(request.request, as: StateFixture.phone) }
        }
        #expect(try shares().lines == ["0 shares"])
        let ended = try shares("--ended")
        #expect(ended.lines.last == "1 share" && ended.output.contains("ended"), "\(ended)")
    }
}
