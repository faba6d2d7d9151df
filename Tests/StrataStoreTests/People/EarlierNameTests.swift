import Foundation
import StrataLog
import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataQuery
@testable import StrataStore

/// Names of users' own records in a store that was made before stores had a secret: docs/security.md §4 and §7.
@Suite("Names of users' records from before the secret")
struct EarlierNameTests {
    private typealias Save = Client.Save

    private let directory: TestDirectory
    private var path: String { directory.path("Old.strata") }

    init() throws {
        directory = try TestDirectory()
        try EarlierStore().make(at: path)
    }

    /// The names of anna and ben are those of the earlier release.
    private func expectEarlierNames(in store: Store, _ location: SourceLocation = #_sourceLocation) throws {
        for (user, name) in [("anna", EarlierStore.anna), ("ben", EarlierStore.ben)] {
            #expect(store.recordName(of: user) == name, sourceLocation: location)
            #expect(try store.user(named: name) == user, sourceLocation: location)
            #expect(try store.snapshot().recordedName(of: user) == nil, sourceLocation: location)
        }
    }

    /// The public notes of which a key refers to a user's record.
    private func notes(_ key: String, _ recordName: String, in store: Store, as user: String) throws -> [String] {
        let value = PredicateValue.reference(
            .init(recordName: recordName, zoneName: "_defaultZone", ownerName: "__defaultOwner__"))
        let comparison = PredicateComparison(left: .keyPath(key), relation: .equal, right: .value(value))
        let query = Query("Note", where: .comparison(comparison))
        let page = try store.query(
            .new(query), in: DatabaseID(.public), limit: 0, as: Actor(user: user, device: "phone"))
        return page.matches.map(\.id.name).sorted()
    }

    @Test("The history is one without secret and names")
    func canary() throws {
        let store = try Store.open(at: path, access: .readOnly)
        defer { try? store.close() }
        #expect(try store.snapshot().trees.secret() == nil && store.offset == 3)
        try expectEarlierNames(in: store)
        for offset in 1...store.offset {
            let commit = try #require(try store.log.commit(at: offset))
            let kinds = try Envelope(decoding: commit.payload).events.map(\.kind)
            #expect(!kinds.contains(.userRecordNamed) && !kinds.contains(.secretDrawn))
        }
    }

    @Test("Who is there keeps the name once the secret is drawn, and goes on with the own record")
    func kept() throws {
        let store = try Store.open(at: path)
        defer { try? store.close() }
        #expect(try store.snapshot().trees.secret() != nil && store.offset == 4)
        try expectEarlierNames(in: store)
        let client = Client(of: store).with { $0.policy = .changedKeys }
        for scope in [InternedName.Scope.private, .public] {
            let client = client.with { $0.scope = scope }
            let own = Save(EarlierStore.anna, ["nick": .string("Ann")], type: "Users")
            #expect(client.codes([own]) == [nil])
            #expect(try client.fields(EarlierStore.anna) == ["nick": .string("Ann")])
        }
        #expect(client.codes([Save("a", in: "Notes", owner: EarlierStore.anna)]) == [nil])
        #expect(throws: Refusal.self) { try store.setPerson(Person(), of: "anna", recordName: "_anna") }
        try store.setPerson(Person(), of: "anna", recordName: EarlierStore.anna)
        try expectEarlierNames(in: store)
    }

    @Test("New users get names that come from the secret")
    func newUsers() throws {
        let store = try Store.open(at: path)
        defer { try? store.close() }
        let carl = Client(of: store).with { $0.user = "carl" }
        let asked = store.recordName(of: "carl")
        #expect(asked != UserRecord.earlierName(of: "carl"))
        try carl.save("a")
        #expect(try store.snapshot().recordedName(of: "carl") == asked)
        #expect(try store.user(named: asked) == "carl")
        #expect(try store.user(named: UserRecord.earlierName(of: "carl")) == nil)
        for scope in [InternedName.Scope.private, .public] {
            #expect(carl.with { $0.scope = scope }.exists(asked))
        }
        // A name of another user, old or new, is not free.
        for name in [EarlierStore.anna, asked] {
            #expect(throws: Refusal.self) { try store.setPerson(Person(), of: "dora", recordName: name) }
        }
        try store.setPerson(Person(), of: "dora", recordName: "_dora")
        #expect(try store.user(named: "_dora") == "dora")
        #expect(try store.user(named: UserRecord.earlierName(of: "dora")) == nil)
        try expectEarlierNames(in: store)
    }

    @Test("References to records of users find what they found, for all users and after a compaction")
    func references() throws {
        var store = try Store.open(at: path)
        var builder = RequestBuilder(DatabaseID(.public), policy: .allKeys)
        let carl = store.recordName(of: "carl")
        let author = builder.reference(to: RecordID(carl, zone: EarlierStore.zone))
        builder.save(RecordID("late", zone: EarlierStore.zone), type: "Note", fields: ["author": author])
        try store.modify(builder.request, as: Actor(user: "carl", device: "phone"))
        try store.setPerson(Person(), of: "dora", recordName: "_dora")
        let digests = try store.snapshot().digests()
        for step in 0..<3 {
            if step > 0 { try store.compact(before: store.offset + UInt64(step) - 1) }
            for isFolded in [false, true] {
                try store.close()
                if isFolded { try FileManager.default.removeItem(atPath: path + "/views") }
                store = try Store.open(at: path)
                try expectEarlierNames(in: store)
                #expect(store.recordName(of: "carl") == carl && store.recordName(of: "dora") == "_dora")
                #expect(try store.snapshot().digests() == digests && store.differencesFromLog().isEmpty)
                for asking in ["anna", "carl", "erik"] {
                    for (name, note) in [(EarlierStore.anna, "news"), (EarlierStore.ben, "reply"), (carl, "late")] {
                        for key in ["author", "creatorUserRecordID", "lastModifiedUserRecordID"] {
                            let found = try notes(key, name, in: store, as: asking)
                            #expect(found == [note], "\(key) of \(note), asked by \(asking), \(step)")
                        }
                        let record = try store.snapshot().record(
                            RecordID(name, zone: EarlierStore.zone), in: DatabaseID(.public),
                            as: Actor(user: asking, device: "phone"))
                        #expect(try record.recordName(of: record.createdBy) == name)
                    }
                }
            }
        }
        try store.close()
    }

    @Test("As long as the secret cannot be drawn, new users get such names too, and keep them")
    func withoutSecret() throws {
        let store = try EarlierStore().inMemory()
        let client = Client(of: store)
        let asked = store.recordName(of: "carl")
        try client.with { $0.user = "carl" }.save("a")
        #expect(store.recordName(of: "carl") == asked && asked == UserRecord.earlierName(of: "carl"))
        #expect(try store.snapshot().recordedName(of: "carl") == nil)
        // None can be chosen, since a later user's computed name could be the same.
        let refusal = #expect(throws: Refusal.self) {
            try store.setPerson(Person(), of: "dora", recordName: "_dora")
        }
        #expect(refusal?.code == .invalidArguments)
        try store.engine.drawMissingSecret()
        #expect(try store.snapshot().trees.secret() != nil)
        #expect(store.recordName(of: "carl") == asked)
        #expect(try store.user(named: asked) == "carl")
        try expectEarlierNames(in: store)
        let erik = store.recordName(of: "erik")
        try client.with { $0.user = "erik" }.save("a")
        #expect(erik != UserRecord.earlierName(of: "erik"))
        #expect(try store.snapshot().recordedName(of: "erik") == erik)
        #expect(try store.differencesFromLog().isEmpty)
    }

    @Test("The past names them as the present does")
    func past() throws {
        let store = try Store.open(at: path)
        defer { try? store.close() }
        for offset in 1...store.offset {
            let past = try store.asOf(offset)
            #expect(past.recordName(of: "anna") == EarlierStore.anna, "at \(offset)")
            #expect(past.recordName(of: "ben") == EarlierStore.ben, "at \(offset)")
            try past.close()
        }
    }
}
