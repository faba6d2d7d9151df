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

    @Test("Who was removed did not leave, and the answer names who did it")
    func removed() throws {
        let fixture = try shared()
        try fixture.change { try fixture.edit(ShareChange(participants: []), to: $0) }
        let result = try access(fixture, "milk", of: "bert")
        #expect(
            result.code == 1 && result.output.contains(", and was removed from it by commit 9 (anna on phone)\n"),
            "\(result)")
    }

    @Test("A record that lost its parent has its chain, and says with which commit")
    func parentRemoved() throws {
        let fixture = try shared()
        try fixture.change { store in
            var child = RequestBuilder(DatabaseID(.private), policy: .changedKeys)
            child.save(RecordID("drop", zone: StateFixture.notes), type: "Note", parent: .set("milk"))
            try fixture.step { try store.modify(child.request, as: StateFixture.phone) }
            var removal = RequestBuilder(DatabaseID(.private), policy: .changedKeys)
            removal.save(RecordID("milk", zone: StateFixture.notes), type: "Note", parent: .removed)
            try fixture.step { try store.modify(removal.request, as: StateFixture.tablet) }
        }
        #expect(try access(fixture, "drop", of: "bert", "--at", "9").code == 0)
        let result = try access(fixture, "drop", of: "bert")
        #expect(result.code == 1 && result.output.contains("the record belongs to no share"), "\(result)")
        let why = "'milk' lost its parent 'list', which belongs to share Share-1, with commit 10 (anna on tablet)"
        #expect(result.output.contains("    why    \(why)\n    chain  drop < milk\n"), "\(result)")
        let object = try #require(
            try fixture.objects(
                "access", fixture.name, "drop", "--user", "bert", "--owner", "anna", "--zone", "Notes"
            ).first)
        try PromisedKeys.expect(object, follows: "The rights of a user to a record")
        #expect(object["losses"] as? [String] == [why] && object["chain"] as? [String] == ["drop", "milk"])
    }

    @Test("A record whose share has ended says with which commit")
    func shareEnded() throws {
        let fixture = try shared()
        try fixture.change { store in
            var request = RequestBuilder(DatabaseID(.private))
            request.delete(RecordID("Share-1", zone: StateFixture.notes))
            try fixture.step { try store.modify(request.request, as: StateFixture.tablet) }
        }
        let result = try access(fixture, "milk", of: "bert")
        #expect(result.code == 1, "\(result)")
        #expect(
            result.output.contains("    why    share Share-1 of 'list' was deleted by commit 9 (anna on tablet)\n"),
            "\(result)")
        #expect(result.output.hasSuffix("    chain  milk < list\n\n") || result.output.contains("milk < list\n"))
    }

    @Test("Without --owner the answer says whose database has the record")
    func ownerHint() throws {
        let fixture = try shared()
        let result = try fixture.run("access", fixture.name, "milk", "--user", "bert", "--zone", "Notes")
        #expect(result.code == 1 && result.output.isEmpty, "\(result)")
        #expect(
            result.errors.hasSuffix("\n  There is one in the private database of anna: --owner anna --zone Notes\n"),
            "\(result)")
        let news = try access(fixture, "news", of: "bert")
        #expect(
            news.errors.hasSuffix("\n  There is one in the public database: no --owner --zone _defaultZone\n"),
            "\(news)")
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
