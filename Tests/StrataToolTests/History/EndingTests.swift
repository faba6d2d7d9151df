import StrataModel
import StrataStore
import Testing

@testable import StrataTool

/// What the tool says of records and zones that are gone.
@Suite struct EndingTests {
    private let fixture: StateFixture

    /// After commit 5, `child` refers to `album`, with which it is deleted by commit 8; 9 and 10 fill the zone Work,
    /// 11 deletes it, and 12 makes a commit after it.
    init() throws {
        fixture = try StateFixture()
        try fixture.change { store in
            try fixture.save("album", to: store)
            var child = RequestBuilder(DatabaseID(.private), policy: .changedKeys)
            let target = child.reference(to: RecordID("album", zone: StateFixture.notes), action: .deleteSelf)
            child.save(RecordID("child", zone: StateFixture.notes), type: "Note", fields: ["in": target])
            try fixture.step { try store.modify(child.request, as: StateFixture.phone) }
            try delete("album", as: StateFixture.tablet, from: store)
            for name in ["plan", "other"] { try fixture.save(name, zone: StateFixture.work, to: store) }
            try fixture.step { try store.modify(.zones(deleting: [StateFixture.work]), as: StateFixture.tablet) }
            try fixture.save("last", to: store)
        }
    }

    private func delete(_ name: String, as actor: Actor, from store: Store) throws {
        var request = RequestBuilder(DatabaseID(.private))
        request.delete(RecordID(name, zone: StateFixture.notes))
        try fixture.step { try store.modify(request.request, as: actor) }
    }

    private func expect(_ words: String, _ message: String) throws {
        let all = words.split(separator: " ").map(String.init)
        let result = try fixture.run([all[0], fixture.name] + all.dropFirst())
        #expect(result.code == 1 && result.output.isEmpty, "\(words): \(result)")
        #expect(result.errors == "strata \(all[0]): \(message)\n", "\(words): \(result)")
    }

    private let anna = "--user anna --zone"

    @Test("The answer names the commit, who made it, and how to see the record", arguments: ["get", "access"])
    func record(_ command: String) throws {
        let owner = command == "access" ? " --owner anna" : ""
        try expect(
            "\(command) gone \(anna) Notes\(owner)",
            "Record 'gone' was deleted by commit 5 (anna on phone). See it with --at 4.")
        try expect(
            "\(command) child \(anna) Notes\(owner)",
            "Record 'child' was deleted with 'album' by commit 8 (anna on tablet). See it with --at 7.")
        try expect(
            "\(command) plan \(anna) Work\(owner)",
            "Record 'plan' was deleted with its zone by commit 11 (anna on tablet). See it with --at 10.")
        try expect(
            "\(command) never \(anna) Work\(owner)",
            "Zone 'Work' was deleted by commit 11 (anna on tablet). See it with --at 10.")
        let past = try fixture.run(
            ["get", fixture.name, "child", "--user", "anna", "--zone", "Notes", "--at", "7"])
        #expect(past.code == 0 && past.output.hasPrefix("record child\n"), "\(past)")
        // Commit 5 is not part of that state.
        try expect("get last \(anna) Notes --at 4", "Record not found: last")
    }

    @Test("A record of a zone that was made again is not there, and one that was saved again is")
    func zoneMadeAgain() throws {
        try fixture.change { store in
            try fixture.step { try store.modify(.zones(saving: [StateFixture.work]), as: StateFixture.phone) }
            try fixture.save("plan", zone: StateFixture.work, to: store)
        }
        let plan = try fixture.run("get", fixture.name, "plan", "--user", "anna", "--zone", "Work")
        #expect(plan.code == 0, "\(plan)")
        try expect(
            "get other \(anna) Work",
            "Record 'other' was deleted with its zone by commit 11 (anna on tablet). See it with --at 10.")
        try fixture.change { store in
            try fixture.step { try store.modify(.zones(deleting: [StateFixture.work]), as: StateFixture.phone) }
        }
        try expect(
            "get other \(anna) Work",
            "Record 'other' was deleted with its zone by commit 11 (anna on tablet). See it with --at 10.")
        try expect(
            "get plan \(anna) Work",
            "Record 'plan' was deleted with its zone by commit 15 (anna on phone). See it with --at 14.")
    }

    @Test("An erasure is told, and after a deletion both are")
    func erased() throws {
        try fixture.change { store in
            let names = ["milk", "gone"].map { RecordID($0, zone: StateFixture.notes) }
            try fixture.step { try store.erase(names, in: DatabaseID(.private, owner: "anna"), reason: "asked for") }
        }
        try expect("get milk \(anna) Notes", "Record 'milk' was erased by commit 13 (system). See it with --at 12.")
        try expect(
            "get gone \(anna) Notes",
            "Record 'gone' was deleted by commit 5 (anna on phone), and its values were erased by commit 13. See it "
                + "with --at 4.")
    }

    @Test("A zone that is gone is told, whose ever it was")
    func zone() throws {
        let there = "Zone 'Work' was deleted by commit 11 (anna on tablet). See it with --at 10."
        try expect("records \(anna) Work", there)
        try expect("query Note \(anna) Work", there)
        let elsewhere =
            "Zone 'Work' of anna was deleted by commit 11 (anna on tablet). See it with --user anna --at 10."
        try expect("records --zone Work", elsewhere)
        try expect("query Note --zone Work", elsewhere)
        let past = try fixture.run("records", fixture.name, "--user", "anna", "--zone", "Work", "--at", "10")
        #expect(past.code == 0 && past.lines.last == "2 records", "\(past)")
    }

    @Test("A record that is gone from another place is told if none is left")
    func otherPlaces() throws {
        try expect(
            "get plan \(anna) Notes",
            "Record not found: plan\n  There was one in another zone. It was deleted with its zone by commit 11 "
                + "(anna on tablet): --zone Work --at 10")
        try expect(
            "get gone",
            "Record not found: gone\n  There was one in the private database of anna. It was deleted by commit 5 "
                + "(anna on phone): --user anna --zone Notes --at 4")
    }

    @Test("What a compacted log no longer tells is not told")
    func compacted() throws {
        try fixture.change { store in
            _ = try store.compact(before: 12)
            // What the base has is deleted afterward, with its zone.
            try fixture.step { try store.modify(.zones(deleting: [StateFixture.notes]), as: StateFixture.phone) }
        }
        try expect("get plan \(anna) Work", "Zone 'Work' was deleted by commit 11.")
        try expect(
            "get milk \(anna) Notes",
            "Record 'milk' was deleted with its zone by commit 13 (anna on phone). See it with --at 12.")
        try expect(
            "get gone \(anna) Notes", "Zone 'Notes' was deleted by commit 13 (anna on phone). See it with --at 12.")
    }
}
