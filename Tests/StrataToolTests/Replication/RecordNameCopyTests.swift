import StrataModel
import StrataStore
import StrataSystem
import StrataViews
import Testing

/// The names of users' own records in a store of a sequencer, which several programs write.
@Suite("Names of users' records in all copies of a store", .timeLimit(.minutes(5)))
struct RecordNameCopyTests {
    private let sequenced: SequencedStore

    init() throws { sequenced = try SequencedStore() }

    private func write(_ record: String, as user: String, to store: Store) throws {
        var request = RequestBuilder(DatabaseID(.public), policy: .allKeys)
        request.save(RecordID(record, zone: ZoneID("_defaultZone")), type: "Item")
        for save in try store.modify(request.request, as: Actor(user: user)).result.saves { _ = try save.get() }
    }

    /// A store finds these users by these names, and each has a record of the name.
    private func expect(
        _ names: [String: String], in store: Store, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let snapshot = store.snapshot()
        for (user, name) in names {
            #expect(store.recordName(of: user) == name, "\(user)", sourceLocation: location)
            #expect(try snapshot.recordedName(of: user) == name, "\(user)", sourceLocation: location)
            let found = try snapshot.user(at: UserAddress(.recordName, name))?.name
            #expect(found == user, sourceLocation: location)
            let record = try snapshot.record(
                RecordID(name, zone: ZoneID("_defaultZone")), in: DatabaseID(.public), as: Actor(user: user))
            #expect(try record.createdBy == user, sourceLocation: location)
        }
    }

    @Test("A store that moves to a sequencer keeps its names, in its directory, in others and in a standby")
    func moved() throws {
        let store = try sequenced.open("Notes.strata", alone: true)
        try store.setPerson(Person(), of: "carl", recordName: "_carl")
        for user in ["anna", "ben", "carl"] { try write("of \(user)", as: user, to: store) }
        var names = ["carl": "_carl"]
        for user in ["anna", "ben"] { names[user] = store.recordName(of: user) }
        try store.close()
        #expect(try sequenced.run("replicate", "Notes.strata", "Standby.strata").code == 0)
        try sequenced.succeed("create", sequenced.address, "--from", "Notes.strata")
        let (own, other) = (try sequenced.open("Notes.strata"), try sequenced.open("Other.strata"))
        for store in [own, other] { try expect(names, in: store) }
        // Whom one of them meets, the other names likewise.
        let asked = own.recordName(of: "dora")
        try write("late", as: "dora", to: other)
        names["dora"] = asked
        try own.confirm()
        for store in [own, other] {
            try expect(names, in: store)
            try store.close()
        }
        #expect(try sequenced.run("join", sequenced.address, "Copy.strata").code == 0)
        for name in ["Other.strata", "Copy.strata"] {
            let judged = try sequenced.run("verify", "--judge", name)
            #expect(judged.code == 0, "\(judged)")
        }
        let copy = try Store.open(at: sequenced.path("Copy.strata"), access: .readOnly)
        try expect(names, in: copy)
        try copy.close()
        names["dora"] = nil
        let standby = try Store.open(at: sequenced.path("Standby.strata"), access: .readOnly)
        try expect(names, in: standby)
        try standby.close()
    }

    @Test("Of two programs that begin a store, the first one's secret names the users of both")
    func begun() throws {
        try sequenced.succeed("create", sequenced.address)
        let (left, right) = (try sequenced.open("Left.strata"), try sequenced.open("Right.strata"))
        let (first, other) = (left.recordName(of: "anna"), right.recordName(of: "anna"))
        #expect(first != other)
        try write("one", as: "anna", to: left)
        // This one has not heard of it.
        try write("two", as: "ben", to: right)
        try write("three", as: "anna", to: right)
        try left.confirm()
        #expect(try left.snapshot().trees.secret()?.key == right.snapshot().trees.secret()?.key)
        #expect(left.recordName(of: "anna") == first && right.recordName(of: "anna") == first)
        for user in ["carl", "dora"] {
            #expect(left.recordName(of: user) == right.recordName(of: user))
            try write("a of \(user)", as: user, to: left)
            try write("b of \(user)", as: user, to: right)
        }
        for store in [left, right] { try store.confirm() }
        let names = Dictionary(
            uniqueKeysWithValues: ["anna", "ben", "carl", "dora"].map { ($0, left.recordName(of: $0)) })
        for store in [left, right] {
            try expect(names, in: store)
            #expect(try store.snapshot().user(at: UserAddress(.recordName, other))?.name == nil)
        }
        #expect(Set(names.values).count == 4)
        for store in [left, right] { try store.close() }
    }
}
