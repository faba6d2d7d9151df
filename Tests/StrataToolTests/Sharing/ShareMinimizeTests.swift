import Foundation
import StrataModel
import StrataViews
import Testing

@testable import StrataTool

/// `strata minimize` on a history in which a member of a share did what is searched for.
@Suite struct ShareMinimizeTests {
    private let fixture: StateFixture
    private let question = ["Note", "--where", "rank == 8", "--user", "anna", "--zone", "Notes"]

    /// Bert, who may only read at first, saves with commit 10; commit 11 has nothing to do with it.
    init() throws {
        fixture = try StateFixture()
        try fixture.share(.readOnly)
        try fixture.change { store in
            let bert = ShareChange.Participant(
                "id-bert", .user(recordName: store.recordName(of: "bert")), role: .privateUser, permission: .readWrite)
            let invited = ShareChange.Participant(
                "id-c", .address(.email("c@example.com")), role: .privateUser, permission: .readWrite)
            let change = ShareChange(participants: [bert, invited], allowsAccessRequests: true)
            try fixture.edit(change, to: store)
            let result = try fixture.saveShared("milk", rank: 8, to: store)
            _ = try #require(result.saves.first).get()
            try fixture.save("alone", to: store)
        }
    }

    private func minimize(_ words: String...) throws -> ToolResult {
        try fixture.run(["minimize", fixture.name] + question + words)
    }

    @Test("Invitations, permissions and joins that the match needs stay, others go")
    func items() throws {
        let objects = try fixture.objects(["minimize", fixture.name] + question)
        for object in objects.dropLast() { try PromisedKeys.expect(object, follows: "A commit that is left") }
        // Commit 3 makes bert known.
        #expect(objects.dropLast().map { $0["offset"] as? UInt64 } == [1, 2, 3, 7, 8, 9, 10])
        let counts = objects.dropLast().map { [$0["items"] as? Int, $0["itemsBefore"] as? Int] }
        #expect(counts == [[1, 2], [2, 3], [1, 1], [3, 4], [1, 1], [2, 4], [1, 1]])
        let text = try minimize()
        #expect(text.code == 0 && text.lines.contains("    only 3 of its 4 items"), "\(text)")
    }

    @Test("The new store has the share with the members that are needed")
    func newStore() throws {
        let result = try minimize("--out", "Few.strata")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        let shares = try fixture.run("shares", "Few.strata")
        #expect(shares.output.contains("bert, private user, read and write, joined with commit"), "\(shares)")
        #expect(!shares.output.contains("c@example.com"), "\(shares)")
        let query = try fixture.run("query", "Few.strata", "Note", "rank == 8", "--user", "anna")
        #expect(query.code == 0 && query.output.contains("milk"), "\(query)")
        for words in [["verify", "--deep"], ["verify", "--judge"]] {
            let checked = try fixture.run(words + ["Few.strata"])
            #expect(checked.code == 0, "\(checked)")
        }
    }

    @Test("A share of the whole zone is found, though no record refers to it")
    func wholeZone() throws {
        let fixture = try StateFixture()
        try fixture.change { store in
            var names = RequestNames()
            let zone = names.ordinal(of: StateFixture.notes)
            // Nobody is named, so no other commit is needed for the users to be known.
            let save = ModifyRecordsRequest.Save(
                RecordKey(zone: zone, name: ShareState.zoneWideName),
                type: names.ordinal(ofType: ShareState.recordType), sharing: ShareChange(publicPermission: .readWrite))
            let body = ModifyRecordsRequest(saves: [save])
            try fixture.step {
                let request = Request(database: DatabaseID(.private), names: names, .modifyRecords(body))
                _ = try #require(try store.modify(request, as: StateFixture.phone).result.saves.first).get()
            }
            try fixture.join(StateFixture.bert, to: store)
            _ = try #require(try fixture.saveShared("milk", rank: 8, to: store).saves.first).get()
        }
        let objects = try fixture.objects(["minimize", fixture.name] + question)
        // A member of the whole zone can create the record.
        #expect(objects.dropLast().map { $0["offset"] as? UInt64 } == [1, 6, 7, 8], "\(objects)")
    }
}
