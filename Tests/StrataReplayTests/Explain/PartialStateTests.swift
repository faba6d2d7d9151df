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
            let floor = fixture.store.log.floor.offset
            #expect(isOnDisk == (floor > 0))
            for offset in floor + 1...fixture.store.offset {
                let quick = try Explanation.of(offset, in: fixture.store)
                let whole = try Explanation.of(offset, in: fixture.store, usesWholeStates: true)
                try #require("\(quick)" == "\(whole)", "seed \(seed), \(offset)")
            }
        }
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
