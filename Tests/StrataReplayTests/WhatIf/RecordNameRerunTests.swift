import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import StrataTree
import StrataViews
import Testing

@testable import StrataReplay
@testable import StrataStore

/// The names of users' own records in a history that is judged again.
@Suite("Names of users' records, judged again")
struct RecordNameRerunTests {
    private static let home = ZoneID("_defaultZone")

    private static func saving(_ record: String) -> Request {
        var builder = RequestBuilder(DatabaseID(.private), policy: .allKeys)
        builder.save(RecordID(record, zone: home), type: "Note", fields: ["rank": .int64(1)])
        return builder.request
    }

    private static func save(_ record: String, as user: String, to store: Store) throws {
        for save in try store.modify(saving(record), as: Actor(user: user, device: "phone")).result.saves {
            _ = try save.get()
        }
    }

    /// The names of users as a snapshot has them.
    private static func names(of users: [String], in snapshot: StoreSnapshot) throws -> [String] {
        try users.map { try snapshot.recordName(of: $0) }
    }

    /// The records that differ in a history that is judged again with a change, by their names.
    private func differences(
        _ change: RerunChange, in store: Store, keeping users: [String], _ location: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let report = try Rerun(of: store, changes: [change]).run()
        defer { try? report.close() }
        let names = try Self.names(of: users, in: store.snapshot())
        #expect(try Self.names(of: users, in: report.after) == names, sourceLocation: location)
        var found: [String] = []
        try report.forEachDifference { difference in
            found.append(difference.id.name)
            return true
        }
        return found.sorted()
    }

    private func expectDeterminism(_ store: Store, _ location: SourceLocation = #_sourceLocation) throws {
        let report = try JudgedLog.of(store)
        #expect(report.isSame, "\(report)", sourceLocation: location)
        #expect(report.unjudgedCount == 0 && report.judgedCount == Int(store.offset), sourceLocation: location)
    }

    /// Commit 1 is dora's, 2 anna's, 3 chooses the name of carl's record, 4 is his, and 5 anna's second one.
    private func store() throws -> Store {
        let store = try Store.inMemory()
        try Self.save("of dora", as: "dora", to: store)
        try Self.save("of anna", as: "anna", to: store)
        try store.setPerson(Person(), of: "carl", recordName: "_carl")
        try Self.save("of carl", as: "carl", to: store)
        try Self.save("of anna, too", as: "anna", to: store)
        return store
    }

    @Test("A history is judged again with its names")
    func same() throws {
        let store = try store()
        defer { try? store.close() }
        try expectDeterminism(store)
    }

    @Test("Without the first commit another one draws the secret, and the names stay")
    func withoutFirst() throws {
        let store = try store()
        defer { try? store.close() }
        let dora = store.recordName(of: "dora")
        let found = try differences(.drop(1), in: store, keeping: ["anna", "carl"])
        // Her records in both databases.
        #expect(found == [dora, dora, "of dora"].sorted())
    }

    @Test("Without the request that chose a name, and without the first commit of a user, the names stay")
    func withoutChoice() throws {
        let store = try store()
        defer { try? store.close() }
        let users = ["anna", "carl", "dora"]
        #expect(try differences(.drop(3), in: store, keeping: users) == [])
        #expect(try differences(.drop(2), in: store, keeping: users) == ["of anna"])
    }

    @Test("A user who comes earlier than in the log has the name of the log")
    func earlier() throws {
        let store = try store()
        defer { try? store.close() }
        let users = ["anna", "carl", "dora"]
        for (user, offsets) in [("anna", [0, 1]), ("carl", [0, 2])] as [(String, [UInt64])] {
            for offset in offsets {
                let actor = Actor(user: user, device: "laptop")
                let insertion = RerunChange.insert([Self.saving("early")], by: actor, after: offset)
                #expect(try differences(insertion, in: store, keeping: users) == ["early"], "\(user) after \(offset)")
            }
        }
    }

    @Test("Commits that an import gave another secret are judged with the names that they record")
    func otherSecret() throws {
        let store = try store()
        defer { try? store.close() }
        let log = MemoryLog()
        var cursor = try store.log.read(from: 1)
        while let commit = try cursor.next() {
            var envelope = try Envelope(decoding: commit.payload)
            for index in envelope.events.indices where envelope.events[index].kind == .secretDrawn {
                var drawn = try SecretDrawnEvent(decoding: envelope.events[index].body)
                drawn.secret = Array(1...32)
                envelope.events[index] = try drawn.event()
            }
            let other = NewCommit(id: commit.id, time: commit.time, payload: envelope.encoded()[...])
            _ = try log.append([other], expecting: log.end)
        }
        let imported = try Store(on: log)
        defer { try? imported.close() }
        let users = ["anna", "carl", "dora"]
        let names = try Self.names(of: users, in: store.snapshot())
        #expect(try Self.names(of: users, in: imported.snapshot()) == names)
        let derived = UserRecord.name(of: "anna", try imported.engine.secret())
        #expect(derived != names[0])
        try expectDeterminism(imported)
        #expect(try differences(.drop(2), in: imported, keeping: users) == ["of anna"])
        // Who comes now gets a name from the new secret.
        try Self.save("of erik", as: "erik", to: imported)
        #expect(imported.recordName(of: "erik") == UserRecord.name(of: "erik", try imported.engine.secret()))
        try expectDeterminism(imported)
    }

    /// A history that a release wrote in which stores had no secret: anna's and ben's first commits.
    private static func earlierHistory() throws -> MemoryLog {
        let view = RulesView(Fold(try Views.emptyTrees().fork()))
        let log = MemoryLog()
        for (index, user) in ["anna", "ben"].enumerated() {
            let context = RequestContext(
                actor: Actor(user: user, device: "phone"), time: 1_600_000_000_000_000 + Int64(index),
                commitID: Identifier(high: 7, low: UInt64(index)))
            let decision = try StoreOptions.service.rules.decide(saving("of \(user)"), view, context)
            guard case .commit(let payload) = decision.outcome else { continue }
            try payload.withUnsafeBytes {
                try view.fold.apply($0, offset: UInt64(index) + 1, time: context.time)
            }
            view.adopt(decision)
            let commit = NewCommit(id: context.commitID, time: context.time, payload: payload[...])
            _ = try log.append([commit], expecting: log.end)
        }
        return log
    }

    @Test("In a store from before the secret, users keep the old names, and later ones the new")
    func earlierStore() throws {
        let store = try Store(on: Self.earlierHistory())
        defer { try? store.close() }
        try expectDeterminism(store)
        try store.engine.drawMissingSecret()
        try Self.save("of carl", as: "carl", to: store)
        try Self.save("of anna, too", as: "anna", to: store)
        #expect(store.recordName(of: "anna") == UserRecord.earlierName(of: "anna"))
        #expect(store.recordName(of: "carl") != UserRecord.earlierName(of: "carl"))
        try expectDeterminism(store)
        let users = ["anna", "ben", "carl"]
        #expect(try differences(.drop(4), in: store, keeping: ["anna", "ben"]).contains("of carl"))
        #expect(try differences(.drop(5), in: store, keeping: users) == ["of anna, too"])
    }
}

extension Store {
    /// Returns the name of a user's own record; records an issue if it cannot be read.
    fileprivate func recordName(of user: String) -> String {
        do { return try snapshot().recordName(of: user) } catch {
            Issue.record(error)
            return ""
        }
    }
}
