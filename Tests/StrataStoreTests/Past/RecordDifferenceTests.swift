import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("What differs between two states")
struct RecordDifferenceTests {
    private let anna = Actor(user: "anna")
    private let second = ZoneID("Second")

    private func save(
        _ store: Store, _ name: String, _ fields: [(String, FieldValue)], in zone: ZoneID = NoteRequest.zone
    ) throws {
        _ = try store.modify(NoteRequest.saving([name], fields, in: zone), as: anna)
    }

    private func texts(_ store: Store, since old: UInt64) throws -> [String] {
        var texts: [String] = []
        try store.past.forEachChange(from: old, to: store.offset) { difference in
            let fields = try difference.fields.map { "\($0.key): \(text($0.before))>\(text($0.after))" }
            texts.append(
                "\(difference.kind) \(difference.database.owner) \(difference.id.zone.name) \(difference.id.name) "
                    + "\(try difference.type) \(fields.joined(separator: " "))")
            return true
        }
        return texts
    }

    private func text(_ value: FieldValue?) -> String {
        guard case .string(let text)? = value else { return value == nil ? "-" : "?" }
        return text
    }

    @Test("Added, removed and changed records, with their fields")
    func kinds() throws {
        let store = try Store.open(at: "/Diff.strata", platform: Platform(files: SimulatedDisk()))
        _ = try store.modify(NoteRequest.makingZones([NoteRequest.zone, second]), as: anna)
        try save(store, "a", [("title", .string("x")), ("body", .string("b"))])
        try save(store, "gone", [("title", .string("x"))])
        try save(store, "same", [("title", .string("x"))])
        try save(store, "z", [("title", .string("1"))], in: second)
        let past = try store.asOf(store.offset)
        let before = past.offset
        try save(store, "a", [("title", .string("y")), ("more", .string("m"))])
        _ = try store.modify(NoteRequest.deleting(["gone"]), as: anna)
        try save(store, "new", [("title", .string("n"))])
        try save(store, "z", [("title", .string("2"))], in: second)
        try past.advance(to: store.offset)
        let all = try texts(past, since: before)
        #expect(
            all == [
                "changed anna Notes a Note more: ->m title: x>y", "removed anna Notes gone Note title: x>-",
                "added anna Notes new Note title: ->n", "changed anna Second z Note title: 1>2",
            ])
        #expect(try texts(store, since: before) == all)
        #expect(try texts(past, since: past.offset) == [])
        #expect(thrownCode { _ = try texts(past, since: past.offset + 1) } == .outOfRange)
        try past.close()
        try store.close()
    }

    @Test("It is what comparing all records gives, for states of seeded histories", arguments: seeds(3))
    func seeded(seed: UInt64) throws {
        var twin = try TwinStore(.segmented, seed: seed)
        for _ in 0..<60 { try twin.step() }
        let past = try twin.store.asOf(twin.store.offset / 3)
        while past.offset < twin.store.offset {
            let before = past.snapshot()
            let next = min(twin.store.offset, past.offset + 5)
            try past.advance(to: next)
            #expect(past.offset == next)
            #expect(try past.snapshot().digests() == twin.store.asOf(next).snapshot().digests())
            var found: [RecordPlace: Bool] = [:]
            try past.past.forEachChange(from: before.offset, to: next) { difference in
                found[RecordPlace(database: difference.database, id: difference.id)] = difference.after != nil
                return true
            }
            #expect(try found == Self.compared(before, past.snapshot()))
        }
        try past.close()
        try twin.store.close()
    }

    @Test("The log gives the same as comparing both states", arguments: TwinStore.Ground.allCases)
    func fromCommits(ground: TwinStore.Ground) throws {
        let fromLogCount = Lock(0)
        try withSeeds(4) { seed in
            var twin = try TwinStore(ground, seed: seed)
            for step in 1...60 {
                try twin.step()
                if step == 35 { try twin.compact(to: twin.log.floor.offset + twin.log.end.offset / 3) }
            }
            let store = twin.store
            var offsets = [store.log.floor.offset]
            var cursor = try store.log.read(from: offsets[0] + 1)
            while let commit = try cursor.next() { offsets.append(commit.offset) }
            for (start, length) in [(0, 3), (0, offsets.count), (2, 7), (5, 1), (9, 20), (offsets.count - 4, 4)] {
                let (first, last) = (offsets[start], offsets[min(start + length, offsets.count - 1)])
                let past = try store.asOf(first)
                let before = past.snapshot()
                try past.advance(to: last)
                var expected: [String] = []
                try past.snapshot().forEachDifference(sinceEarlier: before) {
                    expected.append(try Self.text($0))
                    return true
                }
                try past.close()
                // Each record looked up by itself, and all of them followed.
                for commitsPerLookup in [0, 1_000] {
                    var limits = ChangeLimits()
                    limits.commitsPerLookup = commitsPerLookup
                    var found: [String] = []
                    let isFromLog = try store.past.forEachChange(from: first, to: last, within: limits) {
                        found.append(try Self.text($0))
                        return true
                    }
                    if isFromLog { fromLogCount.withLock { $0 += 1 } }
                    #expect(found == expected, "seed \(seed), \(first) to \(last), \(commitsPerLookup)")
                }
            }
            try store.close()
        }
        #expect(fromLogCount.withLock { $0 } > 16)
    }

    @Test("If the log would take too much memory, the states are compared")
    func limits() throws {
        let store = try Store.open(at: "/Diff.strata", platform: Platform(files: SimulatedDisk()))
        _ = try store.modify(NoteRequest.makingZones([NoteRequest.zone]), as: anna)
        try save(store, "old", [("body", .string(String(repeating: "x", count: 5_000)))])
        let first = store.offset
        try save(store, "old", [("title", .string("x"))])
        for name in ["a", "b", "c"] { try save(store, name, [("title", .string("x"))]) }
        func isFromLog(_ change: (inout ChangeLimits) -> Void) throws -> Bool {
            var limits = ChangeLimits()
            change(&limits)
            var count = 0
            let isFromLog = try store.past.forEachChange(from: first, to: store.offset, within: limits) { _ in
                count += 1
                return true
            }
            #expect(count == 4)
            return isFromLog
        }
        #expect(try isFromLog { $0.maximumRecords = 4 })
        #expect(try !isFromLog { $0.maximumRecords = 3 })
        #expect(try isFromLog { $0.maximumBytes = 20_000 })
        #expect(try !isFromLog { $0.maximumBytes = 9_000 }, "both versions of a large record count")
        #expect(try !isFromLog { $0.maximumBytes = 1_000 }, "the state before the commits counts")
        try store.close()
    }

    @Test("A state on disk between is where reading begins", arguments: seeds(3))
    func fromStates(seed: UInt64) throws {
        let folder = try TestDirectory()
        var options = StoreOptions.embedded
        options.trees.generationBytes = 128 << 10
        let store = try Store.open(at: folder.path("Diff.strata"), options: options)
        _ = try store.modify(NoteRequest.makingZones([NoteRequest.zone]), as: anna)
        let random = SeededRandom(seed: seed)
        for step in 0..<200 {
            let name = "note \(random.next() % 20)"
            if random.next() % 8 == 0 {
                _ = try? store.modify(NoteRequest.deleting([name]), as: anna)
            } else {
                try save(store, name, [("title", .string("\(step)")), ("k\(step % 3)", .string(name))])
            }
        }
        try store.close()
        let again = try Store.open(at: folder.path("Diff.strata"), options: options)
        for _ in 0..<20 {
            let first = random.next() % again.offset
            let last = first + random.next() % (again.offset - first + 1)
            let past = try again.asOf(first)
            let before = past.snapshot()
            try past.advance(to: last)
            var (expected, found): ([String], [String]) = ([], [])
            try past.snapshot().forEachDifference(sinceEarlier: before) {
                expected.append(try Self.text($0))
                return true
            }
            try past.close()
            let isFromLog = try again.past.forEachChange(from: first, to: last, within: ChangeLimits()) {
                found.append(try Self.text($0))
                return true
            }
            #expect(isFromLog)
            #expect(found == expected, "\(first) to \(last)")
        }
        try again.close()
    }

    @Test("A record that was erased since has only its header", arguments: [0, 1_000])
    func erasedSince(commitsPerLookup: Int) throws {
        let store = try Store.open(at: "/Diff.strata", platform: Platform(files: SimulatedDisk()))
        _ = try store.modify(NoteRequest.makingZones([NoteRequest.zone]), as: anna)
        try save(store, "a", [("title", .string("x"))])
        try save(store, "gone", [("title", .string("x"))])
        let first = store.offset
        try save(store, "a", [("title", .string("y"))])
        _ = try store.modify(NoteRequest.deleting(["gone"]), as: anna)
        let last = store.offset
        try store.erase([NoteRequest.id("gone")], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
        var limits = ChangeLimits()
        limits.commitsPerLookup = commitsPerLookup
        var found: [String] = []
        try store.past.forEachChange(from: first, to: last, within: limits) {
            found.append("\($0.id.name) \(try $0.before?.fields.keys.sorted() ?? []) \($0.kind)")
            return true
        }
        #expect(found == ["a [\"title\"] changed", "gone [] removed"])
        try store.close()
    }

    @Test("A state on disk that cannot be read only costs time")
    func damagedState() throws {
        let worn = try DamagedStore()
        let first = worn.store.offset
        try worn.save([0, 1], "new")
        try worn.damage(containing: String(repeating: ".", count: 100))
        var words: [FieldValue?] = []
        try worn.store.past.forEachChange(from: first, to: worn.store.offset) {
            words += [try $0.before?["title"], try $0.after?["title"]]
            return true
        }
        #expect(words == ["old", "new", "old", "new"].map { DamagedStore.title($0)[0].1 })
        let past = try worn.store.asOf(first)
        #expect(try worn.words([0, 1, 2], in: past.snapshot()) == ["old", "old", "old"])
        try past.close()
        try worn.store.close()
    }

    @Test("Damage of the newest state is noticed and mended while changes up to it are read")
    func damagedEnd() throws {
        var worn = try DamagedStore()
        let first = worn.store.offset
        try worn.save([0, 1], "new")
        worn = try DamagedStore.reopened(worn)
        try worn.damage()
        let words = try worn.retrying {
            var words: [FieldValue?] = []
            try worn.store.past.forEachChange(from: first, to: worn.store.offset) {
                words += [try $0.before?["title"], try $0.after?["title"]]
                return true
            }
            return words
        }
        #expect(words == ["old", "new", "old", "new"].map { DamagedStore.title($0)[0].1 })
        #expect(eventually { (try? worn.words([0, 1, 2], in: worn.store.snapshot())) == ["new", "new", "old"] })
        try worn.store.close()
    }

    @Test("A link that is loose in one state and holds in the other is another one, in one store and between two")
    func looseness() throws {
        let anna = try Client().with { $0.scope = .public }
        let bert = anna.with { ($0.user, $0.policy) = ("bert", .allKeys) }
        try anna.save("mine")
        let list = FieldValue.list(try FieldList([owner("mine")]))
        let child = Client.Save("child", ["list": list, "owner": owner("mine")], parent: "mine")
        #expect(bert.codes([child]) == [nil])
        let past = try anna.store.asOf(anna.store.offset)
        let before = past.snapshot()
        try anna.declare("Note", [], grants: [SchemaGrant("_icloud", .create), SchemaGrant("_icloud", .write)])
        #expect(bert.codes([child]) == [nil])
        try past.advance(to: anna.store.offset)
        var count = 0
        func check(_ difference: RecordDifference) throws -> Bool {
            guard difference.id.name == "child" else { return true }
            count += 1
            let link = try #require(try difference.links.first)
            #expect(link.kind == .parent && link.before == "mine" && link.after == "mine")
            #expect(link.isLooseBefore && !link.isLooseAfter)
            let fields = try difference.fields
            #expect(fields.map(\.key) == ["list", "owner"])
            for field in fields { #expect(field.before?.references.map(\.isLoose) == [true]) }
            for field in fields { #expect(field.after?.references.map(\.isLoose) == [false]) }
            return true
        }
        try past.past.forEachChange(from: before.offset, to: past.offset, check)
        try past.snapshot().forEachDifference(fromOther: before, check)
        #expect(count == 2)
        try past.close()
    }

    private static func text(_ difference: RecordDifference) throws -> String {
        let fields = try difference.fields.map { "\($0)" }
        return "\(difference.database) \(difference.id) \(difference.before?.version.tag ?? "-") "
            + "\(difference.after?.version.tag ?? "-") \(try difference.type) \(fields) \(try difference.links)"
    }

    /// By reading both states to their ends.
    private static func compared(_ old: StoreSnapshot, _ new: StoreSnapshot) throws -> [RecordPlace: Bool] {
        let (before, after) = (try old.recordVersions(), try new.recordVersions())
        var compared: [RecordPlace: Bool] = [:]
        for (place, version) in before where after[place] != version { compared[place] = after[place] != nil }
        for place in after.keys where before[place] == nil { compared[place] = true }
        return compared
    }
}
