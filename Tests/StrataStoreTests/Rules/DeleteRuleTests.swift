import StrataModel
import Testing

@testable import StrataStore

/// Deleting: B90 to B92, B94 to B97, B101, B255.
@Suite struct DeleteRuleTests {
    private let client: Client
    private typealias Save = Client.Save

    init() throws {
        client = try Client()
        #expect(client.zones(save: ["Notes"]) == [nil])
    }

    private func deletions() throws -> [String] {
        try client.events(at: client.store.offset).filter { $0.kind == .recordDeleted }.map {
            let event = try RecordDeletedEvent(decoding: $0.body)
            return event.record.name + (event.isCascade ? "*" : "")
        }
    }

    @Test func `B90 a deletion is permanent, and only what was asked for is answered`() throws {
        #expect(client.codes([Save("a"), Save("b", ["owner": owner("a")])]) == [nil, nil])
        let result = try client.modify(deletes: ["a"]).get()
        #expect(result == RequestResult(saves: [], deletes: [nil]))
        #expect(client.fetch("a").refusal?.code == .unknownItem && client.fetch("b").refusal?.code == .unknownItem)
        #expect(client.with { $0.policy = .changedKeys }.codes([Save("a")]) == [nil])
        #expect(try client.fields("a").isEmpty && !client.exists("b"))
    }

    @Test func `B91 deleting what is not there succeeds and changes nothing`() throws {
        let offset = client.store.offset
        #expect(client.codes(deletes: ["a", "b", "_c", ""]) == [nil, nil, nil, nil])
        #expect(client.with { $0.zone = "Notes" }.codes(deletes: ["a"]) == [nil])
        #expect(client.store.offset == offset)
    }

    @Test func `B92 deleting in a missing zone is refused`() {
        #expect(client.codes(deletes: [.init("a", in: "Nowhere"), "b"]) == [.zoneNotFound, nil])
    }

    @Test func `B94 a plain reference is left dangling`() throws {
        #expect(client.codes([Save("a"), Save("b", ["link": link("a")])]) == [nil, nil])
        #expect(client.codes(deletes: ["a"]) == [nil])
        guard case .reference(let reference)? = try client.fields("b")["link"] else {
            Issue.record("the reference is gone")
            return
        }
        #expect(reference.target.name == "a" && reference.action == .none)
    }

    @Test func `B95 who owns takes along what it owns, in any field, through any number`() throws {
        let saves = try [
            Save("a"), Save("b", ["owner": owner("a")]), Save("c", ["other": owner("b")]),
            Save("d", ["many": list(owner("x"), owner("c"))]), Save("e", ["link": link("a")]),
            Save("two", ["owner": owner("x"), "other": owner("a")]),
        ]
        #expect(client.codes(saves) == Array(repeating: nil, count: saves.count))
        #expect(client.codes(deletes: ["a"]) == [nil])
        #expect(try deletions() == ["a", "b*", "two*", "c*", "d*"])
        #expect(!client.exists("d") && client.exists("e"))
    }

    @Test func `B95 a record that goes may have its parent among what goes`() throws {
        #expect(client.codes([Save("a"), Save("b", ["owner": owner("a")], parent: "a")]) == [nil, nil])
        #expect(client.codes(deletes: ["a"]) == [nil])
        #expect(!client.exists("a") && !client.exists("b"))
    }

    @Test func `B96 the cascade is part of the same commit in every zone`() throws {
        for zone in ["_defaultZone", "Notes"] {
            let client = client.with { $0.zone = zone }
            #expect(client.codes([Save("a"), Save("b", ["owner": owner("a")])]) == [nil, nil])
            let answer = try client.ask(client.request([], deletes: ["a"])).get()
            #expect(try deletions() == ["a", "b*"] && answer.offset == client.store.offset)
            #expect(throws: Refusal.self) {
                try answer.snapshot.record(client.id("b"), in: client.database, as: client.actor)
            }
        }
    }

    @Test func `B97 circles of owners end`() throws {
        let saves = [
            Save("a", ["owner": owner("c")]), Save("b", ["owner": owner("a")]), Save("c", ["owner": owner("b")]),
            Save("self", ["owner": owner("self")], parent: "self"),
        ]
        #expect(client.codes(saves) == [nil, nil, nil, nil])
        #expect(client.codes(deletes: ["b"]) == [nil])
        #expect(try deletions() == ["b", "c*", "a*"])
        #expect(client.codes(deletes: ["self"]) == [nil])
        #expect(!client.exists("self"))
    }

    @Test func `B101 a record that is somebody's parent stays, unless that one goes too`() throws {
        #expect(client.codes([Save("a"), Save("b", parent: "a")]) == [nil, nil])
        #expect(client.codes(deletes: ["a"]) == [.referenceViolation])
        #expect(client.exists("a"))
        #expect(client.codes(deletes: ["a", "b"]) == [nil, nil])
        #expect(!client.exists("a") && !client.exists("b"))
    }

    @Test func `B101 a cascade that would orphan a record fails the delete that was asked for`() throws {
        let saves = [Save("a"), Save("b", ["owner": owner("a")]), Save("c", parent: "b"), Save("d")]
        #expect(client.codes(saves) == [nil, nil, nil, nil])
        #expect(client.codes(deletes: ["a", "d"]) == [.referenceViolation, nil])
        #expect(client.exists("a") && client.exists("b") && !client.exists("d"))
        // Asked for together, they leave nobody without a parent.
        try client.save("e", ["owner": owner("c")], parent: "a")
        #expect(client.codes(deletes: ["a", "c"]) == [nil, nil])
        #expect(!client.exists("e"))
    }

    @Test func `B255 saves are judged before deletes, wherever they stand`() throws {
        let parent = try client.save("parent")
        let child = try client.save("child", parent: "parent")
        // A child that is saved away from its parent does not keep it.
        var save = Save("child", base: child)
        save.removesParent = true
        #expect(client.codes([save], deletes: ["parent"]) == [nil, nil])
        #expect(!client.exists("parent") && client.exists("child"))
        // A record that is saved as owned by one that goes, goes with it.
        try client.save("owner")
        #expect(client.codes([Save("new", ["owner": owner("owner")])], deletes: ["owner"]) == [nil, nil])
        #expect(!client.exists("new"))
        #expect(try deletions() == ["owner", "new*"])
        // A child that is saved under a parent that goes keeps it.
        try client.save("next")
        #expect(client.codes([Save("late", parent: "next")], deletes: ["next"]) == [nil, .referenceViolation])
        #expect(client.exists("next") && client.exists("late"))
        #expect(parent != child)
    }
}
