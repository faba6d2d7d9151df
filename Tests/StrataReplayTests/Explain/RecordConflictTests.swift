import StrataModel
import StrataRules
import StrataStore
import TestSupport
import Testing

@testable import StrataReplay

/// What a save met that was made from another state than the stored one.
@Suite struct RecordConflictTests {
    private func save(
        _ name: String, base: Version?, _ fields: KeyValuePairs<String, FieldValue?>,
        parent: RequestBuilder.LinkedName = .kept
    ) -> Request {
        var builder = RequestBuilder(DatabaseID(.private))
        builder.save(
            RecordID(name, zone: RefusingStore.notes), type: "Note", base: base, parent: parent, fields: fields)
        return builder.request
    }

    @Test("Three states stand side by side, with who changed what")
    func threeWays() throws {
        let world = try RefusingStore()
        let first = try world.save(
            "milk", ["both": .int64(1), "mine": .int64(1), "same": .int64(1), "still": .int64(1), "theirs": .int64(1)])
        let second = try world.save("milk", ["theirs": .int64(2)], base: first, as: RefusingStore.tablet)
        let third = try world.save(
            "milk", ["both": .int64(2), "new": .string("x"), "same": .int64(5)], base: second, as: RefusingStore.tablet)
        let why = try world.explainRefusal(
            of: save(
                "milk", base: first,
                ["both": .int64(3), "gone": nil, "mine": .int64(3), "same": .double(5), "still": .int64(1)]))
        #expect(why.outcome == .refused && why.code == nil && why.actor == RefusingStore.phone)
        #expect(why.policy == .ifServerRecordUnchanged && why.judgedAt == third.offset, "\(why)")
        let item = try #require(why.items.first)
        #expect(item.code == .serverRecordChanged && item.rules.map(\.number) == ["B53"])
        #expect(item.base == first && item.stored == third && !item.isBystander)
        let conflict = try #require(item.conflict)
        #expect(conflict.ancestor == .known && conflict.base == first && conflict.server == third)
        #expect(conflict.isServerKnown && conflict.notes.isEmpty && conflict.earlierChangeCount == 0)
        #expect(
            conflict.fields.map { "\($0.key) \($0.side)" } == [
                "both conflict", "gone unchanged", "mine client", "new server", "same same", "still unchanged",
                "theirs server",
            ])
        let both = try #require(conflict.fields.first)
        #expect(both.ancestor == .int64(1) && both.client == .int64(3) && both.server == .int64(2) && both.isSent)
        let theirs = try #require(conflict.fields.last)
        #expect(!theirs.isSent && theirs.client == .int64(1) && theirs.server == .int64(2))
        #expect(conflict.changes.map(\.version) == [second, third])
        #expect(conflict.changes.map(\.keys) == [["theirs"], ["both", "new", "same"]])
        #expect(conflict.changes.allSatisfy { $0.user == "anna" && $0.device == "tablet" && $0.kind == .saved })
    }

    @Test("An accepted save that was made from an older version tells what it overwrote")
    func accepted() throws {
        let world = try RefusingStore()
        let first = try world.save("milk", ["mine": .int64(1), "theirs": .int64(1)])
        let second = try world.save("milk", ["theirs": .int64(2)], base: first, as: RefusingStore.tablet)
        func explain(_ policy: SavePolicy, _ base: Version?) throws -> Explanation.Item {
            var builder = RequestBuilder(DatabaseID(.private), policy: policy)
            builder.save(
                RecordID("milk", zone: RefusingStore.notes), type: "Note", base: base,
                fields: ["mine": .int64(3), "theirs": .int64(1)])
            _ = try world.store.modify(builder.request, as: RefusingStore.phone)
            return try #require(try Explanation.of(world.store.offset, in: world.store).items.first)
        }
        let item = try explain(.changedKeys, first)
        #expect(item.code == nil && item.base == first && item.stored == second && item.made != nil)
        let conflict = try #require(item.conflict)
        #expect(conflict.fields.map { "\($0.key) \($0.side)" } == ["mine client", "theirs server"])
        #expect(conflict.fields.map(\.server) == [.int64(1), .int64(2)] && conflict.changes.map(\.version) == [second])
        // One that was made from the stored version, or from none, overwrote nothing that its client had not seen.
        let next = try explain(.allKeys, item.made)
        #expect(next.conflict == nil && next.stored == nil && next.made != nil)
        #expect(try explain(.changedKeys, nil).conflict == nil)
    }

    @Test("A save without a tag has no ancestor, and all of the record is the server's")
    func withoutTag() throws {
        let world = try RefusingStore()
        let there = try world.save("milk", ["a": .int64(1), "b": .int64(2)])
        let why = try world.explainRefusal(of: save("milk", base: nil, ["a": .int64(1), "b": .int64(3)]))
        let item = try #require(why.items.first)
        #expect(item.rules.map(\.number) == ["B52"] && item.stored == there)
        let conflict = try #require(item.conflict)
        #expect(conflict.ancestor == .none && conflict.fields.map(\.side) == [.same, .conflict])
        #expect(conflict.changes.map(\.version) == [there] && conflict.changes.map(\.keys) == [["a", "b"]])
    }

    @Test("A record that was deleted and made anew in between tells both")
    func lives() throws {
        let world = try RefusingStore()
        let first = try world.save("milk", ["a": .int64(1)])
        try world.delete("milk")
        let again = try world.save("milk", ["b": .int64(1)])
        let conflict = try #require(
            try world.explainRefusal(of: save("milk", base: first, ["a": .int64(2)])).items.first?.conflict)
        #expect(conflict.changes.map(\.kind) == [.deleted, .saved] && conflict.changes.map(\.keys) == [["a"], ["b"]])
        #expect(
            conflict.server == again && conflict.fields.map { "\($0.key) \($0.side)" } == ["a conflict", "b server"])
    }

    @Test("Links are fields, and a touch for a child is told as such")
    func links() throws {
        let world = try RefusingStore()
        try world.save("list")
        let first = try world.save("milk", ["a": .int64(1)])
        try world.save("child", parent: .set("milk"))
        let why = try world.explainRefusal(of: save("milk", base: first, ["a": .int64(2)], parent: .set("list")))
        let conflict = try #require(why.items.first?.conflict)
        #expect(conflict.changes.map(\.kind) == [.tagged] && conflict.changes.map(\.keys) == [[]])
        #expect(conflict.fields.map { "\($0.key) \($0.side)" } == ["___parent client", "a client"])
    }

    @Test("A tag that the store never gave is said to be unknown")
    func unknownTag() throws {
        let world = try RefusingStore()
        try world.save("milk", ["a": .int64(1)])
        let base = Version(offset: 1, eventIndex: 0)
        let conflict = try #require(
            try world.explainRefusal(of: save("milk", base: base, ["a": .int64(2)])).items.first?.conflict)
        #expect(conflict.ancestor == .unknown && conflict.fields.map(\.side) == [.unknown])
    }

    @Test("Where history was let go the ancestor is not guessed")
    func compacted() throws {
        let directory = try TestDirectory()
        let world = try RefusingStore(at: directory.path("Notes.strata"))
        let first = try world.save("milk", ["a": .int64(1)])
        let second = try world.save("milk", ["a": .int64(2)], base: first)
        let third = try world.save("milk", ["b": .int64(3)], base: second)
        try world.flush()
        try world.store.compact(before: third.offset)
        let request = save("milk", base: first, ["a": .int64(2), "b": .int64(4)])
        let why = try world.explainRefusal(of: request)
        let conflict = try #require(why.items.first?.conflict)
        #expect(conflict.ancestor == .letGo && why.items[0].rules.map(\.number) == ["B53"])
        #expect(conflict.changes.map(\.version) == [third] && conflict.changes.map(\.keys) == [nil])
        #expect(conflict.fields.map { "\($0.key) \($0.side)" } == ["a same", "b unknown"])
        let whole = try world.explainRefusal(of: save("milk", base: second, ["a": .int64(9)]))
        #expect(whole.items.first?.conflict?.ancestor == .known, "the base has it")
    }

    @Test("What was erased since is not told")
    func erased() throws {
        let directory = try TestDirectory()
        let world = try RefusingStore(at: directory.path("Notes.strata"))
        let first = try world.save("milk", ["a": .int64(1)])
        try world.save("milk", ["a": .int64(2)], base: first)
        let offset = try world.explainRefusal(of: save("milk", base: first, ["a": .int64(3)])).offset
        try world.store.erase([world.id("milk")], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
        let conflict = try #require(try Explanation.of(offset, in: world.store).items.first?.conflict)
        #expect(conflict.ancestor == .erased && conflict.fields.isEmpty && conflict.notes.count == 1)
    }
}
