import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

/// Compaction replaces a log's beginning by events that state what it came to (docs/compaction.md).
@Suite("A base stands for the commits that it was made of")
struct BaseTests {
    private static let assets = ViewTree.assets.rawValue

    private func dumps(_ stores: TreeStore...) throws -> [ViewDump] { try stores.map { try ViewDump($0.snapshot()) } }

    /// The trees that differ.
    private func differences(_ a: TreeStore, _ b: TreeStore) throws -> [UInt16] {
        let (a, b) = (try ViewDump(a.snapshot()).trees, try ViewDump(b.snapshot()).trees)
        return a.keys.filter { a[$0] != b[$0] }.sorted()
    }

    @Test("Every row of every tree is the one that the commits give; of assets, what records have")
    func rows() throws {
        var kinds: Set<EventKind> = []
        var parts = 0
        try withSeeds(12) { seed in
            var generator = SeededGenerator(seed: seed)
            let commits = try SampleCommit.all(150, seed: seed, hasGaps: seed % 2 == 1)
            let count = 1 + generator.next(below: commits.count)
            let whole = try Views.emptyTrees()
            try whole.fold(commits[..<count])
            let payloads = try whole.snapshot().base()
            for payload in payloads {
                let events = try Envelope(decoding: payload[...]).events
                kinds.formUnion(events.map(\.kind))
                for event in events where event.kind == .recordSaved {
                    if try !RecordSavedEvent(decoding: event.body).isFull { parts += 1 }
                }
            }
            let offset = commits[count - 1].offset
            let base = try TreeStore.folded(base: payloads, at: offset)
            try #require(try differences(whole, base).allSatisfy { $0 == Self.assets })
            let assets = try ViewDump(base.snapshot()).trees[Self.assets] ?? []
            let expected = try PlainStore(Array(commits[..<count])).assetsOfRecords()
            try #require(Dictionary(uniqueKeysWithValues: assets.map { ($0.key, $0.row) }) == expected)
            try #require(try base.snapshot().digests() == whole.snapshot().digests())
            for id in ViewTree.folded { try #require(base.snapshot().foldedOffset(id) == offset) }
            try #require(try IndexCatalog(base.snapshot()).declared == IndexCatalog(whole.snapshot()).declared)
            try #require(try base.snapshot().base() == payloads, "a base of the base is another one")
        }
        let stated = BaseReading.ranks.keys.filter { $0 != .zoneDeleted || kinds.contains($0) }
        #expect(kinds == Set(stated) && kinds.contains(.zoneDeleted) && parts > 20)
    }

    @Test("The log goes on behind its base as it does behind its commits")
    func goingOn() throws {
        try withSeeds(8) { seed in
            var generator = SeededGenerator(seed: seed)
            let commits = try SampleCommit.all(180, seed: seed, hasGaps: seed % 2 == 0)
            let first = 1 + generator.next(below: 120)
            let second = first + 1 + generator.next(below: 50)
            let (whole, pruned) = (try Views.emptyTrees(), try Views.emptyTrees())
            for pages in [whole, pruned] { try pages.fold(commits[..<first]) }
            let base = try TreeStore.folded(
                base: try whole.snapshot().base(), at: commits[first - 1].offset)
            let state = base.snapshot()
            for range in [first..<second, second..<commits.count] {
                for pages in [whole, pruned, base] { try pages.fold(commits[range]) }
                try #require(try differences(whole, base).allSatisfy { $0 == Self.assets })
                // Whenever the rows of assets are pruned, they are those that the base gives.
                if range.lowerBound == first { try pruned.prune(to: state) }
                let trees = try dumps(pruned, base)
                try #require(trees[0] == trees[1])
                try #require(try base.snapshot().digests() == whole.snapshot().digests())
                try #require(try pruned.snapshot().base() == base.snapshot().base())
            }
        }
    }

    @Test("An asset's row goes when no record had it at the horizon and no later commit names it")
    func assets() throws {
        func value(_ number: UInt128) -> FieldValue {
            .asset(.init(hash: ContentHash(first: number, second: 9), size: UInt64(number)))
        }
        let hashes = (UInt128(1)...4).map { ContentHash(first: $0, second: 9) }
        let pages = try Views.emptyTrees()
        try pages.fold(notes([("a", value(1)), ("b", value(2)), ("c", value(3)), ("d", value(4))]))
        // Of what is replaced behind the first commit, 2 is named again behind the base, and 3 is still another's.
        var versions = (UInt32(0)...3).map { Version(offset: 2, eventIndex: $0) }
        func save(_ index: Int, _ new: FieldValue, at offset: UInt64) throws {
            var event = RecordSavedEvent(
                .update, RecordKey(zone: 1, name: ["a", "b", "c", "d"][index]), type: 1, previous: versions[index])
            event.fields = [FieldChange(1, new)]
            versions[index] = Version(offset: offset, eventIndex: 0)
            try pages.fold([
                SampleCommit(offset: offset, time: 5, payload: Envelope(events: [try event.event()]).encoded())
            ])
        }
        try save(0, .string("none"), at: 3)
        try save(1, value(3), at: 4)
        try save(2, .string("none"), at: 5)
        let base = try TreeStore.folded(base: try pages.snapshot().base(), at: 5)
        try save(3, value(2), at: 6)
        #expect(try hashes.map { try pages.snapshot().assetRow($0)?.version.offset } == [2, 6, 4, 2])
        try pages.prune(to: base.snapshot(), limit: 1)
        #expect(try hashes.map { try pages.snapshot().assetRow($0)?.version.offset } == [nil, 6, 4, 2])
        #expect(try hashes.map { try base.snapshot().assetRow($0)?.version.offset } == [nil, nil, 4, 2])
    }

    /// A store with one zone of notes: offset 1 makes it, offset 2 saves them.
    private func notes(_ values: [(String, FieldValue)]) throws -> [SampleCommit] {
        let names: [InternedName.Name] = [
            .user("anna"), .database(.private, owner: 1), .zone(database: 1, owner: 1, "one"), .recordType("Note"),
            .field("value"),
        ]
        let zone = try ZoneSavedEvent(zone: 1, database: 1).event()
        let saves = try values.map { name, value in
            var event = RecordSavedEvent(.create, RecordKey(zone: 1, name: name), type: 1)
            event.fields = [FieldChange(1, value)]
            return try event.event()
        }
        let first = names.map { InternedName(ordinal: 1, name: $0).event } + [zone]
        let all = [first] + (saves.isEmpty ? [] : [saves])
        return all.enumerated().map { index, events in
            SampleCommit(
                offset: UInt64(index) + 1, time: Int64(index),
                payload: Envelope(header: .init(user: 1), events: events).encoded())
        }
    }

    // MARK: Sizes

    @Test("A store in which nothing is has a base, and so has one with a zone alone")
    func nothing() throws {
        let audit = Envelope(events: [Event(.consoleActed, body: [1])]).encoded()
        for commits in [[SampleCommit(offset: 3, time: 1, payload: audit)], try notes([])] {
            let pages = try Views.emptyTrees()
            try pages.fold(commits)
            let payloads = try pages.snapshot().base(limits: .init())
            #expect(payloads.count == (commits[0].offset == 3 ? 1 : 2))
            let base = try TreeStore.folded(base: payloads, at: try #require(commits.last?.offset))
            let trees = try dumps(pages, base)
            #expect(trees[0] == trees[1])
        }
        let error = thrownError { _ = try BaseScan(try Views.emptyTrees().snapshot(), chain: 0) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("A record of any size fits, in payloads that a commit could have")
    func largeRecord() throws {
        let largest = FieldValue.data([UInt8](repeating: 7, count: FieldValue.maximumBytes - 1))
        let pages = try Views.emptyTrees()
        try pages.fold(notes([("a", .string("small")), ("b", largest), ("c", .string("small"))]))
        // A second one makes the record larger than a commit may be.
        let name = Event(.nameInterned, body: InternedName(ordinal: 2, name: .field("more")).event.body)
        var event = RecordSavedEvent(
            .update, RecordKey(zone: 1, name: "b"), type: 1, previous: Version(offset: 2, eventIndex: 1))
        event.fields = [FieldChange(2, largest)]
        try pages.fold([
            SampleCommit(offset: 3, time: 5, payload: Envelope(events: [name, try event.event()]).encoded())
        ])
        let payloads = try pages.snapshot().base(limits: .init())
        #expect(payloads.count == 5 && payloads.allSatisfy { $0.count < 33 << 20 })
        let base = try TreeStore.folded(base: payloads, at: 3)
        #expect(try base.snapshot().digests() == pages.snapshot().digests())
        #expect(try differences(pages, base).isEmpty)
    }

    @Test("Many small records make payloads of 64 KiB, each held alone; the tree is made of full pages")
    func manyRecords() throws {
        let pages = try Views.emptyTrees()
        var history = NoteHistory(seed: 5)
        let commits = try history.manyNotes(100_000, perCommit: 5_000)
        try pages.fold(commits)
        let offset = UInt64(commits.count)
        var scan = try BaseScan(pages.snapshot(), chain: 7)
        let base = try Views.emptyTrees()
        let fold = Fold(try base.fork())
        var sizes: [Int] = []
        try fold.load(base: Position(offset: offset, chain: 7), into: base) {
            let payload = try scan.next()
            if let payload { sizes.append(payload.count) }
            return payload?[...]
        }
        try fold.publish(to: base)
        #expect(sizes.count > 50 && sizes.dropFirst().dropLast(2).allSatisfy { (64 << 10..<65 << 10).contains($0) })
        #expect(try base.snapshot().digests() == pages.snapshot().digests())
        #expect(try base.snapshot().entryCount(ViewTree.records) == 100_000)
        let estimate = try BaseEstimate(pages.snapshot())
        let bytes = sizes.dropFirst().reduce(0, +)
        #expect(estimate.recordCount == 100_000 && estimate.otherCount == 6)
        #expect(abs(Double(estimate.byteCount) / Double(bytes) - 1) < 0.03, "\(estimate.byteCount) of \(bytes)")
    }

    @Test("What a base would hold is told exactly of small zones")
    func estimate() throws {
        try withSeeds(4) { seed in
            let commits = try SampleCommit.all(120, seed: seed)
            let pages = try Views.emptyTrees()
            try pages.fold(commits)
            let estimate = try BaseEstimate(pages.snapshot())
            var counts: [UInt64: (records: UInt64, bytes: UInt64)] = [:]
            var others: UInt64 = 0
            for payload in try pages.snapshot().base(limits: .init()) {
                for event in try Envelope(decoding: payload[...]).events {
                    guard event.kind == .recordSaved else {
                        others += event.kind == .baseMarker || event.kind == .subscriptionDeleted ? 0 : 1
                        continue
                    }
                    let zone = try RecordSavedEvent(decoding: event.body).record.zone
                    let length = event.body.count < 128 ? 1 : event.body.count < 1 << 14 ? 2 : 3
                    let known = counts[zone] ?? (0, 0)
                    counts[zone] = (known.records + 1, known.bytes + UInt64(1 + length + event.body.count))
                }
            }
            try #require(estimate.otherCount == others)
            try #require(estimate.zones.count == counts.count)
            for zone in estimate.zones {
                let expected = try #require(counts[zone.zone])
                try #require((zone.recordCount, zone.byteCount) == expected)
            }
        }
    }

    // MARK: What is stated

    @Test("Only what states an original version may end a zone that is not there")
    func tombstones() throws {
        let names: [InternedName.Name] = [
            .user("anna"), .database(.private, owner: 1), .zone(database: 1, owner: 1, "one"),
        ]
        let events = names.map { InternedName(ordinal: 1, name: $0).event }
        let version = Version(offset: 3, eventIndex: 0)
        let cases: [(ZoneDeletedEvent, StrataError.Code?)] = [
            (ZoneDeletedEvent(zone: 1, database: 1, incarnation: version), .brokenSequence),
            (ZoneDeletedEvent(zone: 1, database: 1, incarnation: nil, original: version), .brokenSequence),
            (ZoneDeletedEvent(zone: 1, database: 1, incarnation: version, original: version), nil),
        ]
        for (event, code) in cases {
            let pages = try Views.emptyTrees()
            let payload = Envelope(events: events + [try event.event()]).encoded()
            let error = thrownError { try pages.fold([SampleCommit(offset: 9, time: 1, payload: payload)]) }
            #expect(error?.code == code)
            let row = try pages.snapshot().zoneRow(1, 1)
            #expect(row?.version == (code == nil ? version : nil) && row?.status == (code == nil ? .deleted : nil))
        }
    }

    @Test("What a later release said, and only it can say again, keeps the base from being made")
    func laterFields() throws {
        let pages = try Views.emptyTrees()
        let names: [InternedName.Name] = [.user("anna"), .device(user: 1, "phone")]
        let seen = Event(.deviceSeen, body: [1, 4, 0xC9, 1, 1, 7])
        let payload = Envelope(events: names.map { InternedName(ordinal: 1, name: $0).event } + [seen]).encoded()
        try pages.fold([SampleCommit(offset: 1, time: 1, payload: payload)])
        let error = thrownError { _ = try pages.snapshot().base() }
        #expect(error?.code == .newerFormat && error?.context.found == "device seen")
    }

    @Test("docs/compaction.md §2 has the events and trees in the order of the code")
    func page() throws {
        let rows = try FormatPage(named: "compaction.md").table(0, ofSection: 2)
        for row in rows {
            let numbers = row[1].split { !$0.isNumber }.compactMap { UInt64($0) }
            #expect(!numbers.isEmpty)
            for number in numbers { #expect(BaseReading.ranks[EventKind(rawValue: number)] == Int(row[0]), "\(row)") }
        }
        let stated = ViewTree.maintainers.filter { $0.isStated }
        #expect(rows.dropLast().map { $0[2] } == stated.map { $0.name } && stated.map { $0.tree } == ViewTree.stated)
        // The rest follows from these.
        let derived = [
            ViewTree.ordinals, ViewTree.zoneChanges, ViewTree.references, ViewTree.assets,
            ViewTree.subscriptionContents, ViewTree.shareTokens, ViewTree.sharedRoots, ViewTree.shareChanges,
            ViewTree.addresses,
        ]
        #expect(Set(ViewTree.folded) == Set(ViewTree.stated + derived))
    }
}
