import StrataModel
import Testing

@testable import StrataStore

/// Saving records: B50 to B63, B66, B70, B250 to B252, B269, B271.
@Suite struct SaveRuleTests {
    private let client: Client
    private typealias Save = Client.Save

    init() throws { client = try Client() }

    private func asking(_ policy: SavePolicy) -> Client { client.with { $0.policy = policy } }

    @Test func `B50 who says nothing saves if the server's record is unchanged, atomically`() {
        let request = ModifyRecordsRequest()
        #expect(request.policy == .ifServerRecordUnchanged && request.isAtomic)
    }

    @Test func `B51 a save with the stored tag is written, and only what was sent`() throws {
        let first = try client.save("a", ["n": .int64(1), "s": .string("kept")])
        let second = try client.save("a", ["n": .int64(2)], base: first)
        #expect(try client.fields("a") == ["n": .int64(2), "s": .string("kept")])
        #expect(try client.fetch("a").get().version == second)
    }

    @Test func `B52 a new record whose ID exists conflicts`() throws {
        let version = try client.save("a", ["n": .int64(1)])
        let refusal = try client.refusal(Save("a", ["n": .int64(2)]))
        #expect(refusal.code == .serverRecordChanged && refusal.serverVersion == version)
        #expect(refusal.baseVersion == nil && refusal.message.contains("record to insert already exists"))
        #expect(try client.fields("a") == ["n": .int64(1)])
    }

    @Test func `B53 a stale tag conflicts, and so does one from the future`() throws {
        let first = try client.save("a")
        let second = try client.save("a", base: first)
        for base in [first, Version(offset: 99, eventIndex: 3)] {
            let refusal = try client.refusal(Save("a", ["n": .int64(2)], base: base))
            #expect(refusal.code == .serverRecordChanged && refusal.serverVersion == second)
            #expect(refusal.baseVersion == base && refusal.message.contains("client oplock error updating record"))
        }
        #expect(try client.fields("a").isEmpty)
    }

    @Test func `B54 a tag without a record is an unknown item`() throws {
        let first = try client.save("a")
        #expect(client.codes(deletes: ["a"]) == [nil])
        let refusal = try client.refusal(Save("a", base: first))
        #expect(refusal.code == .unknownItem && refusal.baseVersion == first && refusal.serverVersion == nil)
        #expect(!client.exists("a"))
    }

    @Test(arguments: [SavePolicy.changedKeys, .allKeys])
    func `B55 and B56 the other policies ignore tags and leave other keys alone`(_ policy: SavePolicy) throws {
        let client = asking(policy)
        let first = try client.save("a", ["n": .int64(1), "s": .string("kept"), "gone": .int64(1)])
        try client.save("a", ["n": .int64(2)], base: first)
        for base in [nil, first, Version(offset: 99, eventIndex: 3)] {
            #expect(client.codes([Save("a", ["n": .int64(3), "gone": nil], base: base)]) == [nil])
        }
        #expect(try client.fields("a") == ["n": .int64(3), "s": .string("kept")])
    }

    @Test(arguments: SavePolicy.allCases)
    func `B56 a key that was set to nil is removed; one that equals the stored value is sent still`(
        _ policy: SavePolicy
    ) throws {
        let client = asking(policy)
        let first = try client.save("a", ["n": .int64(1), "s": .string("kept")])
        let second = try client.save("a", ["n": nil, "s": .string("kept"), "never": nil], base: first)
        #expect(try client.fields("a") == ["s": .string("kept")])
        let third = try client.save("a", ["s": .string("kept")], base: second)
        #expect(third > second)
    }

    @Test(arguments: [SavePolicy.changedKeys, .allKeys])
    func `B57 the other policies create a missing record`(_ policy: SavePolicy) throws {
        let client = asking(policy)
        let base = Version(offset: 99, eventIndex: 3)
        #expect(client.codes([Save("a", ["n": .int64(1)]), Save("b", base: base)]) == [nil, nil])
        #expect(try client.lastChanges().suffix(2) == [.create, .create])
        #expect(try client.fields("a") == ["n": .int64(1)])
    }

    @Test func `B59 the answer's snapshot has the saved record as the server sees it`() throws {
        let first = try client.save("a", ["s": .string("kept")])
        let answer = try client.ask(client.request([Save("a", ["n": .double(2)], base: first)])).get()
        let saved = try answer.snapshot.record(client.id("a"), in: client.database, as: client.actor)
        #expect(answer.result.saves == [.success(saved.version)] && saved.version != first)
        #expect(try saved.fields == ["s": .string("kept"), "n": .double(2)])
        #expect(saved.modified == client.time.nowMicroseconds() && saved.created == saved.modified - 10_000)
        #expect(try saved.createdBy == "anna" && saved.modifiedBy == "anna" && saved.modifiedWith == "phone")
        let ben = client.with { ($0.user, $0.device) = ("ben", "laptop") }
        #expect(!ben.exists("a"))
    }

    @Test func `B60 every write has a tag of its own`() throws {
        var tags: Set<String> = []
        var version: Version?
        for number in 0..<40 {
            version = try client.save("a", ["n": .int64(Int64(number % 2))], base: version)
            #expect(tags.insert(try #require(version).tag).inserted)
            #expect(Version(tag: try #require(version).tag) == version)
        }
        let many = try client.modify((0..<40).map { Save("many-\($0)") }).get()
        for save in many.saves { #expect(tags.insert(try save.get().tag).inserted) }
        #expect(client.codes(deletes: ["a"]) == [nil])
        #expect(tags.insert(try client.save("a").tag).inserted)
    }

    @Test func `B260 a tag is a short text of base 36, and tells its version`() throws {
        for name in ["a", "b"] {
            let version = try client.save(name)
            #expect(version.tag.utf8.count <= 13 && version.tag == version.tag.lowercased())
            #expect(UInt64(version.tag, radix: 36) == version.packed)
            #expect(try client.fetch(name).get().version.tag == version.tag)
        }
    }

    @Test func `B61 saving a child gives its parent a new tag, once, and nothing else`() throws {
        let parent = try client.save("parent", ["n": .int64(1)])
        let before = try client.fetch("parent").get()
        let laptop = client.with { $0.device = "laptop" }
        let request = laptop.request([
            Save("a", parent: "parent"), Save("b", parent: "parent"), Save("c", ["l": link("a")]),
        ])
        let answer = try laptop.ask(request).get()
        #expect(try client.lastChanges() == [.create, .create, .create, .touch])
        let touched = try client.fetch("parent").get()
        #expect(touched.version.offset == answer.offset && touched.version > parent)
        #expect(touched.modified == before.modified && touched.created == before.created)
        #expect(try touched.modifiedWith == "phone" && touched.fields == ["n": .int64(1)])
        #expect(client.codes([Save("parent", base: parent)]) == [.serverRecordChanged])
        // The grandparent, and what an update of a child keeps as its parent.
        let child = try client.save("d", parent: "a")
        #expect(try client.fetch("parent").get().version == touched.version)
        try client.save("d", ["n": .int64(1)], base: child)
        #expect(try client.lastChanges() == [.update, .touch])
    }

    @Test func `B61 a parent in the same request is not touched, nor in the embedded preset`() throws {
        #expect(client.codes([Save("a", parent: "parent"), Save("parent")]) == [nil, nil])
        #expect(try client.lastChanges().filter { $0 == .touch }.isEmpty)
        var save = Save("a")
        (save.removesParent, save.base) = (true, try client.fetch("a").get().version)
        #expect(client.codes([save]) == [nil])
        #expect(try client.lastChanges() == [.update] && client.fetch("a").get().parent == nil)
        // One that is refused: a save that conflicts, and a delete that would leave a child without its parent.
        let root = try client.fetch("parent").get().version
        #expect(client.codes([Save("b", parent: "parent"), Save("parent")]) == [nil, .serverRecordChanged])
        #expect(try client.lastChanges() == [.create] && client.fetch("parent").get().version == root)
        #expect(client.codes([Save("c", parent: "parent")], deletes: ["parent"]) == [nil, .referenceViolation])
        #expect(try client.lastChanges() == [.create] && client.fetch("parent").get().version == root)
        let embedded = try Client(.embedded)
        let parent = try embedded.save("parent")
        try embedded.save("a", parent: "parent")
        #expect(try embedded.fetch("parent").get().version == parent)
        #expect(try embedded.fetch("a").get().parent == "parent")
    }

    @Test func `B62 a conflict names what is stored and what the client started from`() throws {
        let first = try client.save("a", ["n": .int64(1), "s": .string("old")])
        let second = try client.save("a", ["n": .int64(2)], base: first)
        let refusal = try client.refusal(Save("a", ["n": .int64(3)], base: first))
        #expect(refusal.serverVersion == second && refusal.baseVersion == first)
        let ancestor = try #require(try client.record("a", at: first))
        #expect(try ancestor.version == first && ancestor.fields == ["n": .int64(1), "s": .string("old")])
        // Saving what the client started from conflicts again, saving onto the server's does not.
        #expect(client.codes([Save("a", ["n": .int64(3)], base: ancestor.version)]) == [.serverRecordChanged])
        #expect(client.codes([Save("a", ["n": .int64(3)], base: refusal.serverVersion)]) == [nil])
    }

    @Test func `B63 a conflict of a record that was never fetched has no ancestor`() throws {
        try client.save("a", ["n": .int64(1)])
        #expect(try client.refusal(Save("a")).baseVersion == nil)
    }

    @Test func `B66 a record comes once in a request, or the whole request fails`() throws {
        let known: [Client.Save] = [Save("b")]
        #expect(client.codes(known + [Save("a"), Save("a")]) == [.invalidArguments])
        #expect(client.codes(known + [Save("a")], deletes: ["a"]) == [.invalidArguments])
        #expect(client.codes(known, deletes: ["a", "a"]) == [.invalidArguments])
        #expect(client.store.offset == 0)
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(client.codes([Save("a"), Save("a", in: "Notes")]) == [nil, nil])
    }

    @Test func `B70 an empty request succeeds and writes nothing`() {
        for scope in InternedName.Scope.allCases {
            #expect(client.with { $0.scope = scope }.codes() == [])
            #expect(client.with { $0.scope = scope }.zones() == [])
        }
        #expect(client.store.offset == 0)
    }

    @Test func `B250 the date of modification rises by a millisecond at least, whatever the clock does`() throws {
        var client = client
        client.policy = .changedKeys
        try client.save("a")
        var last = try client.fetch("a").get().modified
        for step: Int64 in [-10_000, -10_000_000, 990 - 10_000, 1_000, 5_000_000, -4_000_000, 0] {
            client.time.advance(byMicroseconds: step)
            try client.save("a")
            let record = try client.fetch("a").get()
            #expect(record.modified >= last + 1_000, "after \(step)")
            last = record.modified
        }
        client.time.advance(byMicroseconds: 100_000_000)
        try client.save("a")
        #expect(try client.fetch("a").get().modified == client.time.nowMicroseconds())
    }

    @Test func `B251 dates and numbers come back bit for bit`() throws {
        let doubles = [0.1, -0.0, .pi, .infinity, .leastNonzeroMagnitude, 1e300, 779_000_000.123_456_7, .nan]
        for (index, double) in doubles.enumerated() {
            try client.save("a\(index)", ["date": .date(double), "number": .double(double)])
            let fields = try client.fields("a\(index)")
            #expect(fields == ["date": .date(double), "number": .double(double)])
        }
        try client.save("b", ["n": .int64(.min), "m": .int64(.max), "s": .string("e\u{301}\0"), "d": .data([])])
        #expect(
            try client.fields("b")
                == ["n": .int64(.min), "m": .int64(.max), "s": .string("e\u{301}\0"), "d": .data([])])
    }

    @Test func `B252 a record made again, or in a zone made again, begins anew`() throws {
        #expect(client.zones(save: ["Notes"]) == [nil])
        for zone in ["_defaultZone", "Notes"] {
            let first = try client.save("a", ["n": .int64(1)], in: zone)
            let created = try client.fetch("a", in: zone).get().created
            if zone == "Notes" {
                #expect(client.zones(delete: ["Notes"]) == [nil])
                #expect(client.zones(save: ["Notes"]) == [nil])
            } else {
                #expect(client.codes(deletes: ["a"]) == [nil])
            }
            #expect(client.codes([Save("a", in: zone, base: first)]) == [.unknownItem])
            let second = try client.save("a", ["m": .int64(2)], in: zone)
            let record = try client.fetch("a", in: zone).get()
            #expect(try record.created > created && second != first && record.fields == ["m": .int64(2)])
        }
    }

    @Test func `B269 requests of one client are applied in their order`() throws {
        var client = client
        client.policy = .changedKeys
        for number in 0..<50 {
            try client.save("a", ["n": .int64(Int64(number))])
            #expect(try client.fields("a") == ["n": .int64(Int64(number))])
        }
        #expect(client.codes(deletes: ["a"]) == [nil])
        #expect(!client.exists("a"))
    }

    @Test func `B271 what was accepted of a request is one commit`() throws {
        #expect(client.zones(save: ["A", "B"]) == [nil, nil])
        let before = client.store.snapshot()
        let offset = client.store.offset
        try client.save("old")
        let saves = [Save("a", in: "A"), Save("b", in: "B"), Save("c"), Save("_bad")]
        let answer = try client.ask(client.request(saves, deletes: ["old"])).get()
        #expect(answer.offset == offset + 2 && client.store.offset == offset + 2)
        for (zone, name) in [("A", "a"), ("B", "b"), ("_defaultZone", "c")] {
            #expect(client.exists(name, in: zone))
            #expect(throws: Refusal.self) {
                try before.record(client.id(name, in: zone), in: client.database, as: client.actor)
            }
        }
        #expect(!client.exists("old"))
    }
}
