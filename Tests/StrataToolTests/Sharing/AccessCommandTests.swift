import StrataModel
import Testing

@testable import StrataTool

@Suite struct AccessCommandTests {
    private func access(_ fixture: StateFixture, _ record: String, of user: String, _ words: String...) throws
        -> ToolResult
    {
        try fixture.run(
            ["access", fixture.name, record, "--user", user, "--owner", "anna", "--zone", "Notes"] + words)
    }

    private func shared(_ permission: SharePermission = .readWrite, isAccepted: Bool = true) throws -> StateFixture {
        let fixture = try StateFixture()
        try fixture.share(permission, isAccepted: isAccepted)
        return fixture
    }

    @Test("A member reads and writes what is below the root, with the chain of parents")
    func member() throws {
        let fixture = try shared()
        let result = try access(fixture, "milk", of: "bert")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        let reason = "the user's permission in share Share-1 is read and write, member since commit 8"
        for line in ["    read   yes: \(reason)", "    write  yes: \(reason)", "    chain  milk < list"] {
            #expect(result.output.contains(line), "\(line): \(result)")
        }
        let object = try #require(
            try fixture.objects(
                "access", fixture.name, "milk", "--user", "bert", "--owner", "anna", "--zone", "Notes"
            ).first)
        try PromisedKeys.expect(object, follows: "The rights of a user to a record")
        #expect(object["mayRead"] as? Bool == true && object["mayWrite"] as? Bool == true)
        #expect(object["chain"] as? [String] == ["milk", "list"] && object["share"] as? String == "Share-1")
    }

    @Test("A member who may only read does not write")
    func readOnly() throws {
        let result = try access(try shared(.readOnly), "milk", of: "bert")
        #expect(result.code == 0 && result.output.contains("    read   yes: ") && result.output.contains("write  no: "))
    }

    @Test("An invited user who has not accepted, a stranger and the user of then may not read")
    func strangers() throws {
        let fixture = try shared(isAccepted: false)
        let invited = try access(fixture, "milk", of: "bert")
        #expect(invited.code == 1 && invited.errors.isEmpty, "\(invited)")
        #expect(invited.output.contains("invited to share Share-1, read and write, and has not accepted"))
        let stranger = try access(fixture, "milk", of: "cleo")
        #expect(stranger.code == 1 && stranger.output.contains("is not a member of share Share-1"), "\(stranger)")
        let before = try access(fixture, "milk", of: "bert", "--at", "6")
        #expect(before.code == 1 && before.output.contains("the record belongs to no share"), "\(before)")
    }

    @Test("The owner may always, and a record beside the hierarchy is not shared")
    func owner() throws {
        let fixture = try shared()
        try fixture.change { try fixture.save("alone", to: $0) }
        let own = try access(fixture, "alone", of: "anna")
        #expect(own.code == 0 && own.output.contains("the user owns the database"), "\(own)")
        let alone = try access(fixture, "alone", of: "bert")
        #expect(alone.code == 1 && alone.output.contains("the record belongs to no share"), "\(alone)")
    }

    @Test("Who left may not read any more, and the answer says since when")
    func left() throws {
        let fixture = try shared()
        try fixture.change { store in
            var request = RequestBuilder(DatabaseID(.shared))
            request.delete(RecordID("Share-1", zone: fixture.sharedNotes(in: store)))
            try fixture.step { try store.modify(request.request, as: StateFixture.bert) }
        }
        let result = try access(fixture, "milk", of: "bert")
        #expect(result.code == 1 && result.output.contains("left it with commit 9"), "\(result)")
        #expect(try access(fixture, "milk", of: "bert", "--at", "8").code == 0)
    }

    @Test("The public database's grants decide there")
    func publicDatabase() throws {
        let fixture = try shared()
        let result = try fixture.run("access", fixture.name, "news", "--user", "anna")
        #expect(result.code == 0 && result.output.contains("read   yes: granted to _world"), "\(result)")
        #expect(result.output.contains("write  no: no grant applies to the user"), "\(result)")
    }

    @Test(
        "A mistyped name is an error with a suggestion, never a no",
        arguments: [
            ("mlik", "bert", "anna", "Notes", "Record not found: mlik. Did you mean milk?"),
            ("milk", "bret", "anna", "Notes", "no user 'bret'. Did you mean bert?"),
            ("milk", "bert", "ana", "Notes", "no user 'ana'. Did you mean anna?"),
            ("milk", "bert", "anna", "Nots", "Did you mean Notes?"),
        ])
    func mistyped(_ record: String, _ user: String, _ owner: String, _ zone: String, _ message: String) throws {
        let fixture = try shared()
        let result = try fixture.run(
            "access", fixture.name, record, "--user", user, "--owner", owner, "--zone", zone)
        #expect(result.code == 1 && result.output.isEmpty && result.errors.contains(message), "\(result)")
    }
}
