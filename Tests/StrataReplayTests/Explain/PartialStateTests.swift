import StrataModel
import StrataStore
import StrataViews
import TestSupport
import Testing

@testable import StrataReplay

@Suite("States with some of their records")
struct PartialStateTests {
    private static let stepCount = 80

    private func history(_ seed: UInt64, at path: String?) throws -> RerunFixture {
        let fixture = try RerunFixture(at: path)
        var history = RandomHistory(fixture, seed: seed)
        history.setsQuotas = false
        try history.run(Self.stepCount)
        return fixture
    }

    @Test("Explanations from some records are those from whole states, compacted or not", arguments: [false, true])
    func explanations(isOnDisk: Bool) throws {
        try withSeeds(4) { seed in
            let directory = try TestDirectory()
            let fixture = try history(seed, at: isOnDisk ? directory.path("Notes.strata") : nil)
            if isOnDisk { _ = try fixture.store.compact(before: fixture.store.offset / 3) }
            #expect(isOnDisk == (fixture.store.log.floor.offset > 0))
            try expectSame(fixture.store, "seed \(seed)")
            if !isOnDisk { return }
            // Only a store that writes no states turns records back.
            try fixture.store.close()
            let store = try Store.open(at: directory.path("Notes.strata"), access: .readOnly)
            defer { try? store.close() }
            try expectSame(store, "seed \(seed), read")
        }
    }

    private func expectSame(_ store: Store, _ text: String) throws {
        for offset in store.log.floor.offset + 1...store.offset {
            let quick = try Explanation.of(offset, in: store)
            let whole = try Explanation.of(offset, in: store, usesWholeStates: true)
            try #require("\(quick)" == "\(whole)", "\(text), \(offset)")
        }
    }

    @Test("A state with its records turned back has them as they were, and leaves the newest state as it is")
    func turnedBack() throws {
        let fixture = try RerunFixture()
        let store = fixture.store
        let first = try #require(try fixture.save("milk", ["rank": .int64(1)]))
        let second = try #require(try fixture.save("milk", ["rank": .int64(2)], base: first))
        try fixture.save("tea", ["rank": .int64(3)])
        try fixture.delete("milk")
        let trees = store.snapshot().trees
        let database = DatabaseID(.private, owner: "anna")
        let place = try #require(try trees.place(of: RerunFixture.notes, in: database, as: RerunFixture.anna))
        let key = RecordKey(zone: place.zone, name: "milk")
        for (offset, version) in [(first.offset - 1, nil), (first.offset, first), (second.offset, second)] {
            let past = try #require(try store.past.state(at: offset, turningBack: [key], in: trees))
            defer { try? past.close() }
            let found = try past.snapshot().trees.withRecord(key) { try RecordState(decoding: [UInt8]($0)[...]) }
            #expect(past.offset == offset && found?.header.version == version)
            let tea = try past.snapshot().trees.withRecord(RecordKey(zone: place.zone, name: "tea")) { _ in true }
            #expect(tea == true)
        }
        #expect(try store.snapshot().trees.withRecord(key) { _ in } == nil)
        #expect(throws: StrataError.self) {
            try store.past.state(at: store.offset + 1, turningBack: [], in: trees)
        }
    }

    @Test("Records are not turned back beside accounts, and where states are written")
    func notTurnedBack() throws {
        let fixture = try RerunFixture()
        let store = fixture.store
        #expect(try store.past.state(at: 1, turningBack: [], in: store.snapshot().trees) != nil)
        try store.setQuota(bytes: 100_000, of: "anna")
        #expect(try store.past.state(at: 1, turningBack: [], in: store.snapshot().trees) == nil)
        let directory = try TestDirectory()
        let written = try RerunFixture(at: directory.path("Notes.strata"))
        #expect(try written.store.past.state(at: 1, turningBack: [], in: written.store.snapshot().trees) == nil)
    }

    @Test("A parent is part of the state, whether a save sets it or keeps it", arguments: [false, true])
    func parents(isOnDisk: Bool) throws {
        let directory = try TestDirectory()
        let fixture = try RerunFixture(at: isOnDisk ? directory.path("Notes.strata") : nil)
        try fixture.save("list", [:])
        var offsets: [UInt64] = []
        for parent in [RequestBuilder.LinkedName.set("list"), .kept] {
            let version = try fixture.save("milk", ["rank": .int64(1)], parent: parent, policy: .changedKeys)
            offsets.append(try #require(version).offset)
        }
        try fixture.save("tea", [:], parent: .set("none"))
        try fixture.settle()
        for offset in offsets {
            let why = try Explanation.of(offset, in: fixture.store)
            #expect(why.items.first?.rules.map(\.rule).contains(.parentTouch) == true, "\(why)")
        }
        try expectSame(fixture.store, "parents")
    }

    @Test("A zone or a type that has changed since is as it was when the request was judged")
    func changedSince() throws {
        let fixture = try RerunFixture()
        let first = try #require(try fixture.save("milk", ["rank": .int64(1)]))
        let unbound = try #require(try fixture.save("milk", ["text": .string("a")], base: first)).offset
        try fixture.save("tea", ["text": .int64(3)])
        try fixture.settle()
        try fixture.modify(.zones(deleting: [RerunFixture.notes]))
        try fixture.save("tea", [:])
        try fixture.modify(.zones(saving: [RerunFixture.notes]))
        try fixture.save("tea", [:])
        let schema = DeclareSchemaRequest([])
        try fixture.modify(Request(database: DatabaseID(.public), .declareSchema(schema)), as: .service)
        try fixture.modify(Request(database: DatabaseID(.public), .declareSchema(schema)))
        try fixture.settle()
        #expect(try Explanation.of(unbound, in: fixture.store).items.map(\.code) == [nil])
        try expectSame(fixture.store, "changed")
    }

    @Test("The records and the zones are those of the whole state, and other records are not folded")
    func states() throws {
        let fixture = try history(7, at: nil)
        let names = Set(["r1", "r5"].map { Array($0.utf8) })
        var (comparedCount, missingCount) = (0, 0)
        for offset in 1...fixture.store.offset {
            let whole = try fixture.store.asOf(offset)
            let part = try #require(try fixture.store.past.state(at: offset, records: names))
            defer {
                try? whole.close()
                try? part.close()
            }
            #expect(part.offset == offset)
            let (all, some) = (whole.snapshot().trees, part.snapshot().trees)
            let zoneCount = try all.nameCount(.zone)
            #expect(try some.nameCount(.zone) == zoneCount)
            for zone in 0..<zoneCount {
                for record in 0..<8 {
                    let key = RecordKey(zone: zone + 1, name: "r\(record)")
                    let state = try all.withRecord(key) { [UInt8]($0) }
                    let found = try some.withRecord(key) { [UInt8]($0) }
                    if [1, 5].contains(record) {
                        #expect(found == state, "\(offset), \(key)")
                        comparedCount += state == nil ? 0 : 1
                    } else {
                        #expect(found == nil)
                        missingCount += state == nil ? 0 : 1
                    }
                }
            }
        }
        #expect(comparedCount > 20 && missingCount > 20)
    }

    @Test("A store with accounts or shares has no such states")
    func accounts() throws {
        let fixture = try RerunFixture()
        try fixture.save("a", [:])
        #expect(try fixture.store.past.state(at: fixture.store.offset, records: []) != nil)
        try fixture.store.setQuota(bytes: 100_000, of: "anna")
        #expect(try fixture.store.past.state(at: fixture.store.offset, records: []) == nil)
        #expect(try fixture.store.past.state(at: fixture.store.offset - 1, records: []) != nil)
        #expect(throws: StrataError.self) { try fixture.store.past.state(at: fixture.store.offset + 1, records: []) }
    }
}
