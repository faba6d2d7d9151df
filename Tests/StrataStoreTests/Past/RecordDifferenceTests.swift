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

    private func texts(
        _ store: Store, since old: StoreSnapshot, in zone: ZoneID? = nil
    ) throws -> [String] {
        var texts: [String] = []
        let database = DatabaseID(.private, owner: "anna")
        try store.snapshot().forEachDifference(since: old, in: zone.map { (database, $0) }) { difference in
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

    @Test("Added, removed and changed records, with their fields, also of one zone alone")
    func kinds() throws {
        let store = try Store.open(at: "/Diff.strata", platform: Platform(files: SimulatedDisk()))
        _ = try store.modify(NoteRequest.makingZones([NoteRequest.zone, second]), as: anna)
        try save(store, "a", [("title", .string("x")), ("body", .string("b"))])
        try save(store, "gone", [("title", .string("x"))])
        try save(store, "same", [("title", .string("x"))])
        try save(store, "z", [("title", .string("1"))], in: second)
        let past = try store.asOf(store.offset)
        let before = past.snapshot()
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
        #expect(try texts(past, since: before, in: NoteRequest.zone) == Array(all.prefix(3)))
        #expect(try texts(past, since: before, in: second) == Array(all.suffix(1)))
        #expect(try texts(past, since: past.snapshot()) == [])
        #expect(throws: Refusal.self) { try texts(past, since: before, in: ZoneID("None")) }
        #expect(thrownCode { _ = try texts(past, since: store.snapshot()) } == .invalidArgument)
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
            try past.snapshot().forEachDifference(since: before) { difference in
                found[RecordPlace(database: difference.database, id: difference.id)] = difference.after != nil
                return true
            }
            #expect(try found == Self.compared(before, past.snapshot()))
        }
        try past.close()
        try twin.store.close()
    }

    @Test("Commits alone tell the same, where they tell it", arguments: TwinStore.Ground.allCases)
    func fromCommits(ground: TwinStore.Ground) throws {
        let toldCount = Lock(0)
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
                try past.snapshot().forEachDifference(since: before) {
                    expected.append(try Self.text($0))
                    return true
                }
                try past.close()
                var found: [String] = []
                let isTold = try store.snapshot().forEachDifference(from: first, to: last) {
                    found.append(try Self.text($0))
                    return true
                }
                guard isTold else { continue }
                toldCount.withLock { $0 += 1 }
                #expect(found == expected, "seed \(seed), \(first) to \(last)")
            }
            try store.close()
        }
        #expect(toldCount.withLock { $0 } > 8)
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
