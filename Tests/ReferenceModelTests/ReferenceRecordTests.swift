import StrataModel
import Testing

@testable import ReferenceModel

/// The rules of the model itself about single records, in small cases.
@Suite struct ReferenceRecordTests {
    private typealias Save = ReferenceFixture.Save
    private var fixture = ReferenceFixture()

    @Test mutating func `B220 nobody writes signed out`() {
        fixture.user = ""
        #expect(fixture.codes([]) == [.notAuthenticated])
    }

    @Test mutating func `B70 an empty request succeeds and B265 a first write makes databases and user records`() {
        #expect(fixture.codes([]) == [] && fixture.store.state.databases.isEmpty)
        #expect(fixture.codes([Save(name: "a")]) == [nil])
        #expect(fixture.record("_user-ada")?.type == "Users" && fixture.record("a")?.createdBy == "ada")
        fixture.scope = .public
        #expect(fixture.record("_user-ada")?.created == fixture.record("_user-ada")?.modified)
        #expect(fixture.store.state.databases.count == 2 && fixture.store.commitCount == 1)
    }

    @Test mutating func `B66 a record twice fails the request`() {
        #expect(fixture.codes([Save(name: "a"), Save(name: "a")]) == [.invalidArguments])
        #expect(fixture.codes([Save(name: "a")], deletes: [("_defaultZone", "a")]) == [.invalidArguments])
    }

    @Test mutating func `B67 and B68 have two sides`() {
        fixture = ReferenceFixture(.init(itemsPerRequest: 2, requestBytes: 30, recordBytes: 20, owningReferences: 3))
        let fits = [("k", FieldValue?.some(.string(String(repeating: "x", count: 19))))]
        let exceeds = [("k", FieldValue?.some(.string(String(repeating: "x", count: 20))))]
        #expect(fixture.codes([Save(name: "a", fields: fits)]) == [nil])
        #expect(fixture.codes([Save(name: "b", fields: exceeds)]) == [.limitExceeded])
        #expect(fixture.codes([Save(name: "b"), Save(name: "c")]) == [nil, nil])
        #expect(fixture.codes([Save(name: "d"), Save(name: "e"), Save(name: "f")]) == [.limitExceeded])
        let ten = [("k", FieldValue?.some(.string("123456789")))]
        #expect(fixture.codes([Save(name: "g", fields: fits), Save(name: "h", fields: ten)]) == [nil, nil])
        #expect(fixture.codes([Save(name: "i", fields: exceeds), Save(name: "j", fields: ten)]) == [.limitExceeded])
    }

    @Test mutating func `B52 to B54 tags, B55 to B57 policies without them`() throws {
        #expect(fixture.codes([Save(name: "a", fields: [("k", .int64(1)), ("l", .int64(2))])]) == [nil])
        let first = try #require(fixture.record("a")).version
        #expect(fixture.codes([Save(name: "a")]) == [.serverRecordChanged])
        #expect(fixture.codes([Save(name: "b", base: first)]) == [.unknownItem])
        #expect(fixture.codes([Save(name: "a", base: first, fields: [("k", nil)])]) == [nil])
        #expect(fixture.record("a")?.fields == ["l": .int64(2)])
        let result = try fixture.modify([Save(name: "a", base: first)]).get()
        guard case .failure(let refusal)? = result.saves.first else { return #expect(Bool(false), "saved") }
        #expect(refusal.serverVersion == fixture.record("a")?.version && refusal.baseVersion == first)
        for policy in [SavePolicy.changedKeys, .allKeys] {
            fixture.policy = policy
            #expect(fixture.codes([Save(name: "a", base: first), Save(name: "new-\(policy)")]) == [nil, nil])
            #expect(fixture.record("a")?.fields == ["l": .int64(2)])
        }
    }

    @Test mutating func `B3, B6 and B7 names`() {
        for name in ["", "_a", "a\n", String(repeating: "n", count: 256)] {
            #expect(fixture.codes([Save(name: name)]) == [.invalidArguments])
        }
        for word in ["", "_a", "1a", "\u{E9}", String(repeating: "n", count: 256)] {
            #expect(fixture.codes([Save(name: "a", type: word)]) == [.invalidArguments])
            #expect(fixture.codes([Save(name: "a", fields: [(word, nil)])]) == [.invalidArguments])
        }
        #expect(fixture.codes([Save(name: "a", type: "Users")]) == [.permissionFailure])
        #expect(fixture.codes([Save(name: "_user-ada", type: "Note")]) == [.invalidArguments])
        #expect(fixture.codes([Save(name: "_user-ada", type: "Users")]) == [nil])
        #expect(fixture.codes([], deletes: [("_defaultZone", "_user-ada")]) == [.permissionFailure])
        #expect(fixture.codes([Save(name: String(repeating: "n", count: 255), fields: [("k", nil)])]) == [nil])
    }

    @Test mutating func `B23 kinds are bound by what was accepted`() {
        fixture.isAtomic = false
        let fraction = Save(name: "c", fields: [("n", .double(1.5))])
        #expect(fixture.codes([Save(name: "a", fields: [("n", .int64(1)), ("d", .double(1))])]) == [nil])
        #expect(fixture.codes([Save(name: "b", fields: [("n", .double(2)), ("d", .int64(2))])]) == [nil])
        #expect(fixture.record("b")?.fields == ["n": .int64(2), "d": .double(2)])
        #expect(fixture.codes([fraction]) == [.invalidArguments])
        #expect(fixture.codes([Save(name: "c", fields: [("n", .list(.empty))])]) == [.invalidArguments])
        #expect(fixture.codes([Save(name: "c", fields: [("l", .list(.empty))])]) == [nil])
        // The first binds the key for the request though it fails; nothing of it stays.
        let parentless = Save(name: "d", parent: "nowhere", fields: [("x", .string("s"))])
        #expect(
            fixture.codes([parentless, Save(name: "e", fields: [("x", .int64(1))])])
                == [.referenceViolation, .invalidArguments])
        #expect(fixture.codes([Save(name: "e", fields: [("x", .int64(1))])]) == [nil])
    }

    @Test mutating func `B21 encrypted values have keys of their own`() {
        #expect(fixture.codes([Save(name: "a", fields: [("s", encrypted), ("t", .int64(1))])]) == [nil])
        #expect(fixture.codes([Save(name: "b", fields: [("s", .int64(1))])]) == [.invalidArguments])
        #expect(fixture.codes([Save(name: "b", fields: [("t", encrypted)])]) == [.invalidArguments])
        fixture.scope = .public
        #expect(fixture.codes([Save(name: "b", fields: [("u", encrypted)])]) == [.invalidArguments])
    }

    @Test mutating func `B222 public records are their creators'`() {
        fixture.scope = .public
        fixture.policy = .changedKeys
        #expect(fixture.codes([Save(name: "a")]) == [nil])
        fixture.user = "ben"
        #expect(fixture.codes([Save(name: "a")]) == [.permissionFailure])
        #expect(fixture.codes([], deletes: [("_defaultZone", "a")]) == [.permissionFailure])
    }

    @Test mutating func `B250 modification dates increase and B252 creation begins anew`() throws {
        fixture.policy = .changedKeys
        #expect(fixture.codes([Save(name: "a")]) == [nil])
        let first = try #require(fixture.record("a"))
        fixture.time -= 50_000
        #expect(fixture.codes([Save(name: "a")]) == [nil])
        #expect(fixture.record("a")?.modified == first.modified + 1_000)
        #expect(fixture.record("a")?.created == first.created)
        // A later time counts only if it is a millisecond later.
        fixture.time = first.modified + 1_500 - 10_000
        #expect(fixture.codes([Save(name: "a")]) == [nil])
        #expect(fixture.record("a")?.modified == first.modified + 2_000)
        #expect(fixture.codes([], deletes: [("_defaultZone", "a")]) == [nil])
        #expect(fixture.codes([Save(name: "a")]) == [nil])
        #expect(fixture.record("a")?.created == fixture.time && fixture.record("a")?.version != first.version)
    }
}
