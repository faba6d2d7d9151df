import Foundation
import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore
@testable import StrataTool

/// The names of users' own records in exports of records, and in stores made from them.
@Suite("Names of users' records in exports and imports")
struct RecordNameImportTests {
    private static let zone = ZoneID("_defaultZone")

    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    // MARK: Stores and exports

    private func run(_ words: String...) throws -> ToolResult { try ToolProcess.run(words, in: directory.path("")) }

    private func export(_ store: String = "Notes.strata") throws {
        let result = try run("export", store, "Out", "--records")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
    }

    private func importRecords(as user: String, to store: String) throws {
        let result = try run("import", store, "Out", "--user", user)
        try #require(result.code == 0 && result.errors.isEmpty, "\(result)")
        let verified = try run("verify", store, "--deep")
        #expect(verified.code == 0, "\(verified)")
    }

    private func read<Result>(_ store: String, _ body: (Store) throws -> Result) throws -> Result {
        let store = try Store.openForReading(at: directory.path(store))
        defer { try? store.close() }
        return try body(store)
    }

    /// Changes the lines of the export.
    private func edit(_ body: (String) -> String) throws {
        let path = directory.path("Out")
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { body(String($0)) }
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
    }

    /// A line of an export without a key that has a text.
    private static func line(_ line: String, without key: String) -> String {
        guard let start = line.range(of: ",\"\(key)\":\""), let end = line[start.upperBound...].firstIndex(of: "\"")
        else { return line }
        return String(line[..<start.lowerBound]) + line[line.index(after: end)...]
    }

    /// Saves values in a user's own record, and a profile that refers to it, alone and in a list.
    private static func saveProfile(of user: String, in database: DatabaseID, to store: Store) throws {
        let own = RecordID(store.recordName(of: user), zone: zone)
        var builder = RequestBuilder(database, policy: .changedKeys)
        builder.save(own, type: UserRecord.type, fields: ["nick": .string("Nick of \(user)")])
        let link = builder.reference(to: own)
        builder.save(
            RecordID("profile of \(user)", zone: zone), type: "Profile",
            fields: ["user": link, "users": .list(try FieldList([link]))])
        for save in try store.modify(builder.request, as: Actor(user: user, device: "phone")).result.saves {
            _ = try save.get()
        }
    }

    /// A store of anna's with a private and a public profile and a note; returns the name of her record.
    private func notes() throws -> String {
        let store = try Store.open(at: directory.path("Notes.strata"))
        defer { try? store.close() }
        let anna = Actor(user: "anna", device: "phone")
        try store.modify(.zones(saving: [ZoneID("Notes")]), as: anna)
        for database in [DatabaseID(.private), DatabaseID(.public)] {
            try Self.saveProfile(of: "anna", in: database, to: store)
        }
        var builder = RequestBuilder(DatabaseID(.private), policy: .allKeys)
        builder.save(RecordID("milk", zone: ZoneID("Notes")), type: "Note", fields: ["rank": .int64(1)])
        try store.modify(builder.request, as: anna)
        return store.recordName(of: "anna")
    }

    /// The profile and the own record of `old` are as they were, and are those of `user` now.
    private func expectProfile(
        of old: String, as user: String, in database: DatabaseID, _ store: Store,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let (snapshot, actor) = (store.snapshot(), Actor(user: user, device: "phone"))
        let name = store.recordName(of: user)
        let profile = try snapshot.record(RecordID("profile of \(old)", zone: Self.zone), in: database, as: actor)
        guard case .reference(let link)? = try profile["user"], case .list(let list)? = try profile["users"] else {
            Issue.record("the profile has other values", sourceLocation: location)
            return
        }
        #expect(link.target.name == name && list.elements == [.reference(link)], sourceLocation: location)
        let own = try snapshot.record(RecordID(name, zone: Self.zone), in: database, as: actor)
        #expect(try own.type == UserRecord.type && own.createdBy == user, sourceLocation: location)
        #expect(try own.fields == ["nick": .string("Nick of \(old)")], sourceLocation: location)
    }

    // MARK: Owners

    @Test("The owner keeps the name, so that references to the owner's record lead there", arguments: ["anna", "zoe"])
    func owner(_ user: String) throws {
        let name = try notes()
        try export()
        try importRecords(as: user, to: "Copy.strata")
        try read("Copy.strata") { store in
            #expect(store.recordName(of: user) == name)
            for database in [DatabaseID(.private), DatabaseID(.public)] {
                try expectProfile(of: "anna", as: user, in: database, store)
            }
            #expect(try store.snapshot().user(at: UserAddress(.recordName, name))?.name == user)
        }
    }

    @Test("The export says the names of the owners' records")
    func lines() throws {
        let name = try notes()
        let result = try run("export", "Notes.strata", "--records")
        let zones = try result.lines.filter { $0.hasPrefix("{\"zone\":") }.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        for zone in zones { try PromisedKeys.expect(zone, follows: "A zone of an export") }
        #expect(zones.count == 3)
        for zone in zones {
            let isPrivate = zone["database"] as? String == "private"
            #expect(zone["ownerRecord"] as? String == (isPrivate ? name : nil), "\(zone)")
        }
    }

    @Test("Also of a user whom the old store met after the public database was there")
    func laterUser() throws {
        let store = try Store.open(at: directory.path("Notes.strata"))
        var news = RequestBuilder(DatabaseID(.public), policy: .allKeys)
        news.save(RecordID("news", zone: Self.zone), type: "Item")
        try store.modify(news.request, as: Actor(user: "anna", device: "phone"))
        for database in [DatabaseID(.public), DatabaseID(.private)] {
            try Self.saveProfile(of: "ben", in: database, to: store)
        }
        let name = store.recordName(of: "ben")
        try store.close()
        try export()
        for user in ["ben", "zoe"] {
            try importRecords(as: user, to: "\(user).strata")
            try read("\(user).strata") { store in
                #expect(store.recordName(of: user) == name)
                for database in [DatabaseID(.private), DatabaseID(.public)] {
                    try expectProfile(of: "ben", as: user, in: database, store)
                }
            }
        }
    }

    @Test("Also of a user who has nothing but public records")
    func publicOnly() throws {
        let store = try Store.open(at: directory.path("Notes.strata"))
        try Self.saveProfile(of: "anna", in: DatabaseID(.public), to: store)
        let name = store.recordName(of: "anna")
        try store.close()
        try export()
        try importRecords(as: "anna", to: "Copy.strata")
        try read("Copy.strata") { store in
            #expect(store.recordName(of: "anna") == name)
            try expectProfile(of: "anna", as: "anna", in: DatabaseID(.public), store)
        }
    }

    @Test("A store that has met the owner keeps the present name, and takes the records")
    func knownOwner() throws {
        let old = try notes()
        try export()
        let store = try Store.open(at: directory.path("Other.strata"))
        defer { try? store.close() }
        let zoe = Actor(user: "zoe", device: "phone")
        try store.modify(.zones(saving: [ZoneID("Own")]), as: zoe)
        let present = store.recordName(of: "zoe")
        let lines = try LineReader(directory.path("Out"))
        let header = try #require(try lines.next { try ExportHeader(reading: $0) })
        var records = RecordImport(header, lines, into: store, as: zoe)
        let count = try records.run()
        #expect(count == 5)
        #expect(store.recordName(of: "zoe") == present && present != old)
        let snapshot = store.snapshot()
        for database in [DatabaseID(.private), DatabaseID(.public)] {
            let own = try snapshot.record(RecordID(present, zone: Self.zone), in: database, as: zoe)
            #expect(try own.fields == ["nick": .string("Nick of anna")])
            let profile = try snapshot.record(RecordID("profile of anna", zone: Self.zone), in: database, as: zoe)
            #expect(try profile["user"] != nil)
        }
        let milk = try snapshot.record(RecordID("milk", zone: ZoneID("Notes")), in: DatabaseID(.private), as: zoe)
        #expect(try milk["rank"] == .int64(1))
        #expect(try snapshot.user(at: UserAddress(.recordName, old))?.name == nil)
    }

    @Test("An export of an earlier release, which has no such names, gives the owner a new one")
    func earlierExport() throws {
        let old = try notes()
        try export()
        let earlier = UserRecord.earlierName(of: "anna")
        try edit { Self.line($0, without: "ownerRecord").replacingOccurrences(of: old, with: earlier) }
        try importRecords(as: "anna", to: "Copy.strata")
        try read("Copy.strata") { store in
            let name = store.recordName(of: "anna")
            #expect(name != old && name != earlier)
            for database in [DatabaseID(.private), DatabaseID(.public)] {
                let own = try store.snapshot().record(
                    RecordID(name, zone: Self.zone), in: database, as: Actor(user: "anna", device: "phone"))
                #expect(try own.fields == ["nick": .string("Nick of anna")])
            }
        }
    }

    @Test("A name that no record of a user can have is refused, and leaves no store", arguments: ["", "anna", "__a"])
    func forgedName(_ name: String) throws {
        let old = try notes()
        try export()
        try edit { $0.replacingOccurrences(of: "\"ownerRecord\":\"\(old)\"", with: "\"ownerRecord\":\"\(name)\"") }
        let result = try run("import", "Copy.strata", "Out", "--user", "anna")
        #expect(result.code == 1 && result.errors.contains("cannot be the name of a user's record"), "\(result)")
        #expect(try RealFileSystem().list(directory.path("")).allSatisfy { !$0.hasPrefix("Copy") })
    }

    @Test("what-if --insert saves the owner's record under the present name")
    func insertion() throws {
        let name = try notes()
        try export()
        let other = try Store.open(at: directory.path("Other.strata"))
        try other.modify(.zones(saving: [ZoneID("Own")]), as: Actor(user: "anna", device: "phone"))
        let present = other.recordName(of: "anna")
        try other.close()
        let result = try run(
            "what-if", "Other.strata", "--insert", "Out", "--at", "1", "--user", "anna", "--out", "New.strata")
        #expect(result.code == 1 && result.errors.isEmpty, "\(result)")
        try read("New.strata") { store in
            #expect(store.recordName(of: "anna") == present && present != name)
            let own = try store.snapshot().record(
                RecordID(present, zone: Self.zone), in: DatabaseID(.private), as: Actor(user: "anna", device: "phone"))
            #expect(try own.fields == ["nick": .string("Nick of anna")])
        }
    }
}
