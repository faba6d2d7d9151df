import StrataModel
import StrataRules
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// Tests loose links, which do not hold their targets (docs/rules.md §5.12).
@Suite struct LooseLinkTests {
    private let anna: Client
    private let bert: Client
    private typealias Save = Client.Save

    init() throws {
        var limits = Limits.service
        limits.owningReferences = 2
        anna = try Client(StoreOptions(limits: limits)).with { $0.scope = .public }
        bert = anna.with { $0.user = "bert" }
        try anna.save("mine")
    }

    private func version(_ name: String) throws -> Version { try anna.fetch(name).get().version }

    @Test func `A child of another user's record leaves it as it is`() throws {
        let before = try version("mine")
        try bert.save("child", parent: "mine")
        #expect(try version("mine") == before && bert.fetch("child").get().parent == "mine")
        #expect(anna.codes([Save("mine", ["n": .int64(1)], base: before)]) == [nil])
        // The user's own child touches it.
        let changed = try version("mine")
        try anna.save("own", parent: "mine")
        #expect(try version("mine") != changed)
    }

    @Test func `Children of others keep no record from being deleted`() throws {
        try bert.save("child", parent: "mine")
        try anna.save("own", parent: "mine")
        #expect(anna.codes(deletes: ["mine"]) == [.referenceViolation])
        #expect(anna.codes(deletes: ["own"]) == [nil] && anna.codes(deletes: ["mine"]) == [nil])
        #expect(!anna.exists("mine") && anna.exists("child"))
    }

    @Test func `Children of others keep no record from being erased`() throws {
        try bert.save("child", parent: "mine")
        try anna.store.erase([anna.id("mine")], in: DatabaseID(.public), reason: "asked for")
        #expect(!anna.exists("mine") && anna.exists("child"))
    }

    @Test func `Owning references of others count for no limit, and go with their target`() throws {
        #expect(bert.codes((0..<4).map { Save("ref\($0)", ["owner": owner("mine")]) }) == [nil, nil, nil, nil])
        let own = (0..<3).map { Save("own\($0)", ["owner": owner("mine")]) }
        #expect(anna.codes(own) == [nil, nil, .limitExceeded])
        #expect(anna.codes(deletes: ["mine"]) == [nil])
        for name in ["ref0", "ref1", "own0", "own1"] { #expect(!anna.exists(name), "\(name)") }
        // One delete visits as many as the limit; the others keep a dangling reference.
        #expect(anna.exists("ref2") && anna.exists("ref3"))
    }

    @Test func `What refers loosely stays where it cannot go, and keeps nothing`() throws {
        // One record would orphan another; the rest are more than one delete visits.
        try bert.save("x", ["owner": owner("mine")])
        try bert.save("y", parent: "x")
        #expect(bert.codes((0..<3).map { Save("z\($0)", ["owner": owner("mine")]) }) == [nil, nil, nil])
        #expect(anna.codes(deletes: ["mine"]) == [nil])
        #expect(!anna.exists("mine") && anna.exists("x") && anna.exists("y"))
        // `x` stays, and uses up half of what one delete visits.
        #expect(!anna.exists("z0") && anna.exists("z1") && anna.exists("z2"))
        try anna.save("other")
        try bert.save("x2", ["owner": owner("other")])
        try bert.save("y2", parent: "x2")
        try anna.store.erase([anna.id("other")], in: DatabaseID(.public), reason: "asked for")
        #expect(!anna.exists("other") && anna.exists("x2"))
    }

    @Test func `Who may change a child and not its parent does not touch the parent`() throws {
        try anna.declare("Comment", [], grants: [SchemaGrant("_icloud", .create), SchemaGrant("_icloud", .write)])
        #expect(anna.codes([Save("comment", type: "Comment", parent: "mine")]) == [nil])
        let before = try version("mine")
        let changing = bert.with { $0.policy = .changedKeys }
        #expect(changing.codes([Save("comment", ["n": .int64(1)], type: "Comment")]) == [nil])
        #expect(try version("mine") == before)
        #expect(anna.codes(deletes: ["mine"]) == [.referenceViolation])
    }

    @Test func `A child whose loose parent is gone can be saved with it again`() throws {
        let child = try bert.save("child", parent: "mine")
        #expect(anna.codes(deletes: ["mine"]) == [nil])
        #expect(bert.codes([Save("child", ["n": .int64(1)], base: child, parent: "mine")]) == [nil])
        #expect(bert.codes([Save("second", parent: "mine")]) == [.referenceViolation])
    }

    @Test func `A target that is not there is held once it is made in the same request`() throws {
        #expect(bert.codes((0..<4).map { Save("ref\($0)", ["owner": owner("later")]) }) == [nil, nil, nil, nil])
        let saves = [Save("a", ["owner": owner("later")]), Save("b", ["owner": owner("later")]), Save("later")]
        #expect(anna.codes(saves) == [nil, nil, nil])
        #expect(anna.codes([Save("c", ["owner": owner("later")])]) == [.limitExceeded])
        // A save that fails makes no target.
        let failing = [Save("x", ["_": .int64(1)])] + (0..<3).map { Save("y\($0)", ["owner": owner("x")]) }
        #expect(bert.codes(failing) == [.invalidArguments, nil, nil, nil])
        let made = [Save("x"), Save("z0", ["owner": owner("x")]), Save("z1", ["owner": owner("x")])]
        #expect(anna.codes(made) == [nil, nil, nil])
    }

    @Test func `Who may write the target by a grant holds it`() throws {
        try anna.declare("Note", [], grants: [SchemaGrant("_icloud", .all)])
        let before = try version("mine")
        try bert.save("child", parent: "mine")
        #expect(try version("mine") != before)
        #expect(anna.codes(deletes: ["mine"]) == [.referenceViolation])
        // A link stays held after the grant is revoked.
        try anna.declare("Note", [], grants: [SchemaGrant("_icloud", .create), SchemaGrant("_creator", .write)])
        #expect(anna.codes(deletes: ["mine"]) == [.referenceViolation])
    }

    @Test func `A link is decided again when it is sent, and kept when it is not`() throws {
        let changing = bert.with { $0.policy = .changedKeys }
        #expect(changing.codes([Save("child", ["owner": owner("mine")], parent: "mine")]) == [nil])
        let before = try version("mine")
        // One of these events is full.
        for number in 0..<20 { #expect(changing.codes([Save("child", ["n": .int64(Int64(number))])]) == [nil]) }
        #expect(try version("mine") == before)
        try anna.declare("Note", [], grants: [SchemaGrant("_icloud", .all)])
        #expect(changing.codes([Save("child", ["n": .int64(99)])]) == [nil])
        #expect(try version("mine") == before)
        #expect(changing.codes([Save("child", ["n": .int64(100)], parent: "mine")]) == [nil])
        #expect(try version("mine") != before)
    }

    @Test func `In the private database every link holds`() throws {
        let anna = anna.with { $0.scope = .private }
        try anna.save("mine")
        let refs = (0..<3).map { Save("ref\($0)", ["owner": owner("mine")], parent: "mine") }
        #expect(anna.codes(refs) == [nil, nil, .limitExceeded])
        #expect(anna.codes([Save("early0", ["owner": owner("later")])]) == [nil])
        #expect(anna.codes([Save("early1", ["owner": owner("later")])]) == [nil])
        #expect(anna.codes([Save("later"), Save("c", ["owner": owner("later")])]) == [nil, .limitExceeded])
    }

    @Test func `A folded log and a compacted one know which links are loose`() throws {
        let disk = SimulatedDisk()
        func open() throws -> Client {
            let store = try Store.open(at: "/Loose.strata", options: .service, platform: Platform(files: disk))
            return Client(of: store).with { $0.scope = .public }
        }
        var anna = try open()
        try anna.save("mine")
        try anna.with { $0.user = "bert" }.save("child", ["owner": owner("mine")], parent: "mine")
        try anna.store.compact(before: anna.store.offset + 1)
        try anna.store.close()
        try disk.removeFiles(in: "/Loose.strata/views")
        anna = try open()
        let before = try anna.fetch("mine").get().version
        let bert = anna.with { ($0.user, $0.policy) = ("bert", .changedKeys) }
        #expect(bert.codes([Save("child", ["n": .int64(1)])]) == [nil])
        #expect(try anna.fetch("mine").get().version == before)
        // After reopening, only the stored reference row leads to the child.
        try anna.store.close()
        anna = try open()
        #expect(anna.codes(deletes: ["mine"]) == [nil] && !anna.exists("child"))
    }
}
