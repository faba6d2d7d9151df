import StrataLog
import StrataModel
import StrataQuery
import StrataReplication
import StrataRules
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// The rules in force, as the log states them: event 84 of docs/format.md §18.
@Suite struct StatedRulesTests {
    private static let path = "/Rules.strata"
    private let disk = SimulatedDisk()
    private let anna = Actor(user: "anna", device: "phone")

    private func open(_ options: StoreOptions = .service, _ access: AccessMode = .readWrite) throws -> Store {
        try Store.open(at: Self.path, options: options, access: access, platform: Platform(files: disk))
    }

    /// The offsets of the commits that state rules.
    private func stated(_ store: Store) throws -> [UInt64] {
        var offsets: [UInt64] = []
        var cursor = try store.log.read(from: store.log.floor.offset + 1)
        while let commit = try cursor.next() {
            let events = try Envelope(decoding: commit.payload).events
            if events.contains(where: { $0.kind == .rulesStated }) { offsets.append(commit.offset) }
        }
        return offsets
    }

    private func save(_ name: String, in store: Store) throws {
        _ = try store.modify(NoteRequest.saving([name], in: ZoneID("_defaultZone")), as: anna)
    }

    @Test func `The first commit states them, and no other until they change`() throws {
        var store = try open()
        #expect(try RulesHistory(of: store).rules(at: 0) == nil)
        for name in ["a", "b"] { try save(name, in: store) }
        #expect(try stated(store) == [1])
        try store.close()
        store = try open()
        try save("c", in: store)
        #expect(try stated(store) == [1])
        try store.close()

        var options = StoreOptions.service
        var expected: [UInt64] = [1]
        let changes: [(inout StoreOptions) -> Void] = [
            { $0.schema = .enforced }, { $0.touchesParents = false }, { $0.predicates = .extended },
            { $0.unknownTypesAreErrors = false }, { $0.limits.itemsPerRequest = 7 }, { $0.limits.requestBytes = 9_000 },
            { $0.limits.recordBytes = 8_000 }, { $0.limits.owningReferences = 3 }, { $0.limits.movedRecords = 5 },
            { $0.assetBytes = 1 },
        ]
        // A release that does not know the event stops at it.
        #expect(!EventKind.rulesStated.isAudit)
        for (index, change) in changes.enumerated() {
            change(&options)
            store = try open(options)
            try store.noteConsole(ConsoleNote("change \(index)"))
            try store.noteConsole(ConsoleNote("again"))
            expected.append(store.offset - 1)
            try #require(try stated(store) == expected, "change \(index)")
            let history = RulesHistory(of: store)
            #expect(try history.stated(at: store.offset)?.original?.offset == store.offset - 1)
            #expect(try history.stated(at: store.offset - 2)?.original?.offset == expected[index])
            try store.close()
        }
        // How many results a page has decides about no request.
        options.limits.pageSize += 1
        store = try open(options)
        try store.noteConsole(ConsoleNote("pages"))
        #expect(try stated(store) == expected)
        let history = RulesHistory(of: store)
        let (first, last) = (try #require(try history.rules(at: 3)), try #require(try history.rules(at: store.offset)))
        #expect(
            first.limits.itemsPerRequest == 400 && first.limits.movedRecords == 100_000 && first.schema == .open
                && first.touchesParents)
        #expect(last.limits.itemsPerRequest == 7 && last.limits.movedRecords == 5 && last.schema == .enforced)
        #expect(!last.touchesParents)
        #expect(throws: StrataError.self) { try first.checkPredicate("a == 1 OR b == 2") }
        try last.checkPredicate("a == 1 OR b == 2")
        try store.close()
    }

    @Test func `A lazy commit states them as well, before its audit`() throws {
        var options = StoreOptions.service
        options.recordsRefusals = true
        let store = try open(options)
        #expect(throws: Refusal.self) { try save("a", as: Actor(user: ""), in: store) }
        try store.close()
        let again = try open(options)
        #expect(try stated(again) == [1])
        let kinds = try Envelope(decoding: #require(try again.log.commit(at: 1)).payload).events.map(\.kind)
        #expect(kinds == [.secretDrawn, .rulesStated, .requestRefused])
        try again.close()
    }

    private func save(_ name: String, as actor: Actor, in store: Store) throws {
        _ = try store.modify(NoteRequest.saving([name], in: ZoneID("_defaultZone")), as: actor)
    }

    @Test func `A tool with other options states none`() throws {
        var other = StoreOptions.embedded
        other.statesRules = false
        var store = try open(other)
        try store.noteConsole(ConsoleNote("first"))
        #expect(try stated(store).isEmpty && RulesHistory(of: store).rules(at: 1) == nil)
        try store.close()
        store = try open()
        try save("a", in: store)
        try store.close()
        store = try open(other)
        try store.noteConsole(ConsoleNote("second"))
        #expect(try stated(store) == [2] && RulesHistory(of: store).rules(at: 3)?.touchesParents == true)
        try store.close()
    }

    @Test func `Opening alone writes none, and reading changes no file`() throws {
        let store = try open()
        try save("a", in: store)
        try store.close()
        var other = StoreOptions.service
        other.schema = .enforced
        let before = try files()
        let reader = try open(other, .readOnly)
        #expect(
            try reader.snapshot().record(
                RecordID("a", zone: ZoneID("_defaultZone")), in: NoteRequest.database, as: anna
            ).id.name == "a")
        #expect(try RulesHistory(of: reader).rules(at: 1)?.schema == .open)
        try reader.close()
        #expect(try files() == before)
        let writer = try open(other)
        #expect(writer.offset == 1)
        try writer.close()
        let last = try open(other, .readOnly)
        #expect(try last.offset == 1 && stated(last) == [1])
        try last.close()
    }

    /// All files but the lock.
    private func files() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for path in disk.paths where path.hasPrefix(Self.path) && !path.hasSuffix("LOCK") {
            files[path] = try disk.content(of: path)
        }
        return files
    }

    @Test func `A base states them, and what is folded again or verified finds the same`() throws {
        var options = StoreOptions.service
        var store = try open(options)
        for name in ["a", "b"] { try save(name, in: store) }
        try store.close()
        options.schema = .enforced
        store = try open(options)
        for round in 0..<3 { try store.noteConsole(ConsoleNote("\(round)")) }
        let digests = try store.snapshot().digests()
        _ = try store.compact(before: 5)
        #expect(try stated(store).isEmpty && store.snapshot().digests() == digests)
        let history = RulesHistory(of: store)
        #expect(try history.stated(at: 2)?.original?.offset == 1)
        #expect(try history.stated(at: 5)?.original?.offset == 3)
        try store.close()
        try disk.removeFiles(in: Self.path + "/views")
        store = try open(options)
        #expect(try store.snapshot().digests() == digests)
        try store.noteConsole(ConsoleNote("more"))
        #expect(try stated(store).isEmpty && RulesHistory(of: store).rules(at: store.offset)?.schema == .enforced)
        try store.close()
    }

    @Test func `Several processes with the same rules state them once`() throws {
        let sequence = MemorySequencer.Sequence()
        func open(_ disk: SimulatedDisk) throws -> Store {
            var options = StoreOptions.service
            options.place = LogPlace(address: "memory") { _ in MemorySequencer(sequence) }
            return try Store.open(at: Self.path, options: options, platform: Platform(files: disk))
        }
        let stores = [try open(disk), try open(SimulatedDisk())]
        for (index, store) in (stores + stores).enumerated() { try save("n\(index)", in: store) }
        for store in stores {
            try store.confirm()
            #expect(try stated(store) == [1])
        }
        for store in stores { try store.close() }
    }
}
