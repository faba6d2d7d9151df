import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplay

@Suite("Bisecting by halving")
struct BisectionSearchTests {
    private func search(
        _ range: ClosedRange<UInt64>, holdsFrom first: UInt64, silent: Set<UInt64> = []
    ) -> (outcome: BisectionOutcome, probes: [UInt64]) {
        var probes: [UInt64] = []
        let outcome = Bisection.search(from: range.lowerBound, to: range.upperBound) { offset in
            probes.append(offset)
            return silent.contains(offset) ? .cannotTell : offset >= first ? .holds : .doesNotHold
        }
        return (outcome, probes)
    }

    @Test("Whatever commit it is, it is found, with no state asked twice and few asked at all")
    func found() {
        for end: UInt64 in [1, 2, 3, 64, 100] {
            for first in 1...end {
                let (outcome, probes) = search(0...end, holdsFrom: first)
                #expect(outcome == .found(first))
                #expect(Set(probes).count == probes.count && probes.count <= 8)
                #expect(!probes.contains(0))
            }
        }
        let (outcome, probes) = search(0...1_000_000, holdsFrom: 777_777)
        #expect(outcome == .found(777_777) && probes.count <= 22)
    }

    @Test("What holds at neither end or at both is told so")
    func ends() {
        #expect(search(0...10, holdsFrom: 11).outcome == .never)
        #expect(search(3...10, holdsFrom: 3).outcome == .fromStart)
        #expect(search(3...10, holdsFrom: 4).outcome == .found(4))
        #expect(search(3...10, holdsFrom: 5, silent: [10]).outcome == .cannotTell(10))
        #expect(search(3...10, holdsFrom: 5, silent: [3]).outcome == .cannotTell(3))
    }

    @Test("A range without commits is asked once, about its only state", arguments: [0, 7] as [UInt64])
    func emptyRange(offset: UInt64) {
        func expect(_ outcome: BisectionOutcome, holdsFrom first: UInt64, silent: Set<UInt64> = []) {
            let found = search(offset...offset, holdsFrom: first, silent: silent)
            #expect(found.outcome == outcome && found.probes == [offset])
        }
        expect(.fromStart, holdsFrom: offset)
        expect(.never, holdsFrom: offset + 1)
        expect(.cannotTell(offset), holdsFrom: offset, silent: [offset])
    }

    @Test("States that do not tell are gone around; where that cannot be, the commits are named that are left")
    func silent() throws {
        try withSeeds(30) { seed in
            var generator = SeededGenerator(seed: seed)
            let end = UInt64.random(in: 2...60, using: &generator)
            let first = UInt64.random(in: 1...end, using: &generator)
            let silent = Set((1..<end).filter { _ in Int.random(in: 0..<2, using: &generator) == 0 })
            let (outcome, probes) = search(0...end, holdsFrom: first, silent: silent)
            #expect(Set(probes).count == probes.count)
            let low = (0..<first).last { !silent.contains($0) } ?? 0
            let high = (first...end).first { !silent.contains($0) } ?? end
            #expect(outcome == (high - low == 1 ? .found(high) : .oneOf(low + 1...high)), "seed \(seed)")
        }
    }
}

@Suite("A store made again as it was")
struct BisectionStoreTests {
    private let anna = BisectionFixture.anna

    @Test(
        "Every offset has the digests, chain values, assets and values that it had, also over a base",
        arguments: [
            false, true,
        ])
    func digests(isCompacted: Bool) throws {
        let directory = try TestDirectory()
        let path = directory.path("Notes.strata")
        var options = StoreOptions.embedded
        options.containerIdentifier = "iCloud.test"
        let store = try Store.open(at: path, options: options)
        let zone = ZoneID("Notes")
        try store.modify(.zones(saving: [zone]), as: anna)
        let photo = try photo(in: store, directory)
        for number in 0..<6 {
            var request = RequestBuilder(BisectionFixture.database, policy: .allKeys)
            let id = RecordID("note \(number % 4)", zone: zone)
            let secret = try store.seal(
                .string("1234"), for: "pin", of: id, in: BisectionFixture.database, as: anna)
            request.save(id, type: "Note", fields: ["pin": secret, "photo": .asset(photo.value)])
            try store.modify(request.request, as: anna)
        }
        if isCompacted { try store.compact(before: 4) }
        try store.sync()
        let maker = try BisectionStore(of: store, at: path)
        for offset in store.log.floor.offset...store.offset {
            let target = directory.path("Past-\(offset).strata")
            try maker.make(at: target, through: offset)
            let copy = try Store.open(at: target, options: options)
            let past = try store.asOf(offset)
            #expect(copy.log.end == past.log.end)
            #expect(try copy.snapshot().digests() == past.snapshot().digests(), "offset \(offset)")
            // It is a store of its own: who writes to it changes nothing here.
            try copy.modify(.zones(saving: [ZoneID("More")]), as: anna)
            try copy.close()
            try past.close()
        }
        let files = RealFileSystem()
        let last = directory.path("Past-\(store.offset).strata")
        let names = try files.list(last + "/assets")
        #expect(try !names.isEmpty && names.sorted() == files.list(path + "/assets").sorted())
        #expect(try files.readAll(last + "/keys", atMost: 1 << 20) == files.readAll(path + "/keys", atMost: 1 << 20))
        withExtendedLifetime(photo) {}
        try store.close()
    }

    private func photo(in store: Store, _ directory: TestDirectory) throws -> PinnedAsset {
        let path = directory.path("photo")
        let file = try RealFileSystem().open(path, .create)
        try file.write(Array("picture".utf8), at: 0)
        file.close()
        return try store.importAsset(at: path)
    }

    @Test("A store whose beginning was let go without a base is refused, and one that is there already")
    func refused() throws {
        let directory = try TestDirectory()
        let path = directory.path("Notes.strata")
        let store = try Store.open(at: path)
        try store.modify(.zones(saving: [ZoneID("Notes")]), as: anna)
        let maker = try BisectionStore(of: store, at: path)
        #expect(throws: StrataError.self) { try maker.make(at: path, through: store.offset) }
        try store.close()
    }
}
