import StrataLog
import StrataModel
import StrataQuery
import StrataStore
import StrataViews
import Testing

@testable import StrataReplay

/// The names of users' own records in histories made small, and in the tests that these become.
@Suite("Names of users' records in minimal histories")
struct RecordNameMinimizeTests {
    private typealias Fixture = RerunFixture

    private let fixture: RerunFixture
    private let ben = Actor(user: "ben", device: "mac")
    private let cleo = Actor(user: "cleo", device: "mac")

    /// Anna has the zone "Notes" with "milk", and everybody has written something.
    init() throws {
        fixture = try Fixture()
        try fixture.store.setPerson(Person(), of: "ben", recordName: "_chosen for ben")
        for actor in [ben, cleo] { try fixture.modify(.zones(saving: [ZoneID("Own")]), as: actor) }
        try fixture.save("milk", ["rank": .int64(1)])
    }

    private func name(of user: String) throws -> String { try fixture.store.snapshot().recordName(of: user) }

    private func minimized(_ predicate: String, in database: DatabaseID = Fixture.database) throws -> MinimalHistory {
        let question = BisectionQuestion(
            "Note", where: try PredicateParser.parse(predicate), in: database, as: Fixture.anna)
        return try Minimization(of: fixture.store, question).run()
    }

    /// Anna shares "milk" with a user, who saves it.
    private func share(with actor: Actor) throws {
        var names = RequestNames()
        let zone = names.ordinal(of: Fixture.notes)
        let milk = try fixture.store.snapshot().record(
            RecordID("milk", zone: Fixture.notes), in: Fixture.database, as: Fixture.anna)
        let key = RecordKey(zone: zone, name: "Share-1")
        let guest = ShareChange.Participant(
            "guest", .user(recordName: try name(of: actor.user)), role: .privateUser, permission: .readWrite)
        let body = ModifyRecordsRequest(saves: [
            .init(
                RecordKey(zone: zone, name: "milk"), type: names.ordinal(ofType: "Note"), base: milk.version,
                share: .set(key)),
            .init(
                key, type: names.ordinal(ofType: ShareState.recordType),
                sharing: ShareChange(root: "milk", participants: [guest])),
        ])
        let request = Request(database: Fixture.database, names: names, .modifyRecords(body))
        for save in try #require(try fixture.modify(request)).saves { _ = try save.get() }
        let token = try #require(try fixture.store.snapshot().trees.share(1)).urlToken
        let shared = DatabaseID(.shared)
        try fixture.modify(Request(database: shared, .joinShares(.init(.accept, tokens: [token]))), as: actor)
        var builder = RequestBuilder(shared, policy: .changedKeys)
        let place = ZoneID("Notes", owner: try name(of: "anna"))
        builder.save(RecordID("milk", zone: place), type: "Note", fields: ["rank": .int64(8)])
        _ = try #require(try fixture.modify(builder.request, as: actor)?.saves.first).get()
    }

    /// The number of the only line with a text.
    private func line(_ text: String, in lines: [Substring]) throws -> Int {
        let found = lines.indices.filter { lines[$0].contains(text) }
        try #require(found.count == 1, "\(text) in \(lines.joined(separator: "\n"))")
        return found[0]
    }

    @Test("The test declares the users whom it names by their records, before anything else, and no others")
    func declared() throws {
        try share(with: ben)
        let test = try MinimalTest(of: minimized("rank == 8"), named: "Named", from: "Notes.strata")
        #expect(test.leftOut.isEmpty, "\(test.leftOut)")
        let lines = test.text.split(separator: "\n")
        let anna = try name(of: "anna")
        let first = try line("try store.console.addUser(\"anna\", recordName: \"\(anna)\")", in: lines)
        let second = try line("try store.console.addUser(\"ben\", recordName: \"_chosen for ben\")", in: lines)
        let step = try #require(lines.firstIndex { $0.contains("store.container(") })
        #expect(first < step && second < step)
        #expect(lines.count { $0.contains("addUser") && $0.contains("recordName: ") } == 2, "\(test.text)")
        #expect(test.text.contains("ownerName: \"\(anna)\""), "\(test.text)")
        #expect(!test.text.contains("cleo"))
    }

    @Test("A test that names no record of a user declares nobody")
    func undeclared() throws {
        let test = try MinimalTest(of: minimized("rank == 1"), named: "Plain", from: "Notes.strata")
        let anna = try name(of: "anna")
        #expect(!test.text.contains("addUser") && !test.text.contains(anna), "\(test.text)")
    }

    @Test("A user whose record only the question names is declared, or the test would find nothing")
    func question() throws {
        let anna = try name(of: "anna")
        let predicate = "creatorUserRecordID = CAST({'\(anna)', '_defaultZone', '__defaultOwner__'}, 'CKReference')"
        let test = try MinimalTest(of: minimized(predicate), named: "Asked", from: "Notes.strata")
        let lines = test.text.split(separator: "\n")
        _ = try line("try store.console.addUser(\"anna\", recordName: \"\(anna)\")", in: lines)
        #expect(lines.count { $0.contains("addUser") } == 1, "\(test.text)")
    }

    @Test("The new store has another secret and the old names, with which it is judged again")
    func newStore() throws {
        try share(with: cleo)
        let history = try minimized("rank == 8")
        let log = MemoryLog()
        try history.write(of: fixture.store, into: log)
        let few = try Store(on: log)
        defer { try? few.close() }
        let (snapshot, old) = (few.snapshot(), fixture.store.snapshot())
        #expect(try snapshot.trees.secret()?.key != old.trees.secret()?.key)
        for user in ["anna", "cleo"] {
            let name = try snapshot.recordedName(of: user)
            #expect(try name == old.recordName(of: user), "\(user)")
            #expect(try snapshot.user(at: UserAddress(.recordName, name ?? ""))?.name == user)
        }
        let report = try JudgedLog.of(few)
        #expect(report.isSame && report.unjudgedCount == 0, "\(report)")
        // Somebody whom the small history has not met does not have the name of the old store.
        #expect(try snapshot.person(of: "ben") == nil && snapshot.recordName(of: "ben") != old.recordName(of: "ben"))
    }

    @Test("A history knows the names of those who make its requests")
    func actors() throws {
        let few = try minimized("rank == 1")
        #expect(few.floor == 0 && !few.requests.isEmpty)
        #expect(few.recordNames.map { $0.key.text } == ["anna"])
        #expect(try few.recordNames.map { $0.value } == [name(of: "anna")])
    }
}
