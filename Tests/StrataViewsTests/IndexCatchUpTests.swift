import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

/// Records are put into their tree directly; what the indexes come to is compared with the records themselves.
@Suite("Indexes that lag and catch up")
struct IndexCatchUpTests {
    private static let types: [UInt64] = [1, 2]
    private static let title: UInt32 = 1
    private static let rank: UInt32 = 2
    private static let tags: UInt32 = 3

    private static let indexes = [
        IndexID(type: 1, .membership), IndexID(type: 1, .field(title)), IndexID(type: 1, .field(title), .words),
        IndexID(type: 1, .field(rank)), IndexID(type: 1, .field(tags)), IndexID(type: 2, .field(rank)),
        IndexID(type: 2, .created),
    ]

    private struct Harness {
        let store: PageStore
        var catchUp: IndexCatchUp
        var records: [RecordKey: RecordState] = [:]
        var random: SeededGenerator

        init(seed: UInt64) throws {
            store = try PageStore.inMemory()
            random = SeededGenerator(seed: seed)
            let fork = store.fork()
            let databases: [InternedName.Name] = [.database(.public, owner: 0), .database(.private, owner: 0)]
            let zones = (UInt64(1)...3).map { InternedName.Name.zone(database: $0 % 2 + 1, owner: 0, "zone \($0)") }
            for (index, name) in (databases + zones).enumerated() {
                let ordinal = UInt64(index < 2 ? index + 1 : index - 1)
                let name = InternedName(ordinal: ordinal, name: name)
                try ViewKeys.name(name.name.namespace, ordinal).withUnsafeBytes { key in
                    try name.event.body.withUnsafeBytes { try fork.put(ViewTree.names, key, $0) }
                }
            }
            catchUp = IndexCatchUp(try store.publish(fork))
        }

        mutating func change(_ count: Int) throws {
            let fork = store.fork()
            for _ in 0..<count {
                let key = RecordKey(
                    zone: UInt64.random(in: 1...3, using: &random), name: "r\(Int.random(in: 0..<150, using: &random))")
                var bytes = KeyWriter()
                bytes.append(number: key.zone)
                bytes.append(lastText: key.name.utf8)
                guard Int.random(in: 0..<4, using: &random) > 0 else {
                    records[key] = nil
                    _ = try bytes.bytes.withUnsafeBytes { try fork.delete(ViewTree.records, $0) }
                    continue
                }
                let state = state()
                records[key] = state
                var writer = ByteWriter()
                try state.encode(into: &writer)
                try bytes.bytes.withUnsafeBytes { key in
                    try writer.bytes.withUnsafeBytes { try fork.put(ViewTree.records, key, $0) }
                }
            }
            try store.publish(fork)
        }

        private mutating func state() -> RecordState {
            let words = ["Milk", "bread", "Zürich", "milk", "42"]
            let title = (0..<Int.random(in: 0...3, using: &random)).map { _ in words.randomElement(using: &random)! }
            let rank = Int64.random(in: -3...3, using: &random)
            let tags = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                FieldValue.int64(Int64.random(in: 0...4, using: &random))
            }
            var fields = [RecordField(title0, .string(title.joined(separator: ", ")))]
            if Bool.random(using: &random) { fields.append(RecordField(IndexCatchUpTests.rank, .int64(rank))) }
            if let list = try? FieldList(tags) { fields.append(RecordField(IndexCatchUpTests.tags, .list(list))) }
            return RecordState(
                header: RecordHeader(
                    version: Version(offset: UInt64.random(in: 1...1_000_000, using: &random), eventIndex: 0),
                    type: IndexCatchUpTests.types.randomElement(using: &random)!,
                    created: Int64.random(in: 0...5, using: &random), createdBy: 1, modified: 9, modifiedBy: 1),
                fields: fields)
        }

        private var title0: UInt32 { IndexCatchUpTests.title }

        /// One slice, published; whether there is more to do.
        mutating func advance(limit: Int) throws -> Bool {
            if Int.random(in: 0..<4, using: &random) == 0 {
                // Dropped with its fork, a slice has not been.
                var lost = catchUp
                _ = try lost.advance(store.fork(), to: store.snapshot(), limit: limit)
            }
            let fork = store.fork()
            var next = catchUp
            let hasMore = try next.advance(fork, to: store.snapshot(), limit: limit)
            try store.publish(fork)
            catchUp = next
            return hasMore
        }
    }

    /// The rows that an index must have, worked out from the records in another way.
    private func expected(_ index: IndexID, _ records: [RecordKey: RecordState], database: UInt64) -> [String] {
        var rows: [(value: FieldOrder, zone: UInt64, name: String)] = []
        for (key, state) in records where state.header.type == index.type && key.zone % 2 + 1 == database {
            let value = index.subject.field.flatMap { field in state.fields.first { $0.field == field }?.value }
            let values: Set<FieldOrder>
            switch (index.subject, index.form, value) {
            case (.membership, _, _): values = [.nothing]
            case (.created, _, _): values = [.number(state.header.created)]
            case (_, .words, .string(let text)?):
                let separators = text.lowercased().split { ", ".contains($0) }
                let words = separators.map(String.init)
                values = Set(words.map { .text(Array($0.replacing("ü", with: "u").utf8)) })
            case (_, _, .string(let text)?): values = [.text(Array(text.utf8))]
            case (_, _, .int64(let number)?): values = [.number(number)]
            case (_, _, .list(let list)?):
                values = Set(
                    list.elements.compactMap { if case .int64(let number) = $0 { .number(number) } else { nil } })
            case (_, .ordered, nil): values = [.nothing]
            default: values = []
            }
            rows += values.map { ($0, key.zone, key.name) }
        }
        rows.sort { ($0.zone, $0.value, $0.name) < ($1.zone, $1.value, $1.name) }
        return rows.map { "\($0.zone) \($0.value) \($0.name)" }
    }

    private enum FieldOrder: Hashable, Comparable {
        case nothing
        case number(Int64)
        case text([UInt8])

        static func < (a: Self, b: Self) -> Bool {
            switch (a, b) {
            case (.number(let a), .number(let b)): a < b
            case (.text(let a), .text(let b)): a.lexicographicallyPrecedes(b)
            case (.nothing, .number), (.nothing, .text): true
            default: false
            }
        }
    }

    private func found(_ index: IndexID, in snapshot: Snapshot, database: UInt64) throws -> [String] {
        var rows: [String] = []
        try IndexCatchUp.withBounds(of: index, database) { lower, upper in
            try snapshot.scan(ViewTree.index, from: lower, to: upper) { key, _ in
                var reader = KeyReader(key)
                _ = (try reader.readNumber(), try reader.readNumber(), try reader.readNumber(), try reader.readByte())
                let zone = try reader.readNumber()
                let value: FieldOrder
                switch try reader.readByte() {
                case 2: value = .number(try reader.readInt64())
                case 5: value = .text(try reader.readText())
                default: value = .nothing
                }
                let name = String(decoding: try reader.readLastText(), as: UTF8.self)
                rows.append("\(zone) \(value) \(name)")
                return true
            }
        }
        return rows
    }

    @Test("Whatever the slices, an index that is done has a row for each value of each record, in order")
    func slices() throws {
        try withSeeds(6) { seed in
            var harness = try Harness(seed: seed)
            for (round, index) in Self.indexes.enumerated() {
                try harness.change([5, 200, 1_000][round % 3])
                let fork = harness.store.fork()
                try IndexCatalog.put(index, .building, in: fork)
                try harness.store.publish(fork)
                // Changes come in the middle of catching up and of building.
                let memoryBytes = [500, 10_000, 1 << 20][round % 3]
                let spill = RunSorter.Spill(files: SimulatedDisk(), path: "/views.build")
                let isSpilled = try harness.catchUp.build(
                    in: harness.store, RunSorter(memoryBytes: memoryBytes, spill: spill)
                ) {
                    if Int.random(in: 0..<3, using: &harness.random) == 0 {
                        try harness.change(Int.random(in: 0...30, using: &harness.random))
                    }
                    _ = try harness.advance(limit: Int.random(in: 1...60, using: &harness.random))
                    return harness.catchUp
                }
                #expect(isSpilled || round % 3 > 0 || round == 0)
                while try harness.advance(limit: Int.random(in: 1...80, using: &harness.random)) {}
                // The last slices changed trees themselves, but no record.
                try check(&harness, Array(Self.indexes[...round]))
            }
        }
    }

    private func check(_ harness: inout Harness, _ indexes: [IndexID]) throws {
        let snapshot = harness.store.snapshot()
        for index in indexes {
            for database in UInt64(1)...2 {
                let rows = try found(index, in: snapshot, database: database)
                try #require(rows == expected(index, harness.records, database: database), "\(index)")
            }
        }
        #expect(try found(IndexID(type: 9, .membership), in: snapshot, database: 1) == [])
    }

    /// What a query does: rows of records that were not touched, and touched records themselves.
    private func overlaid(
        _ index: IndexID, _ harness: Harness, _ touched: Set<[UInt8]>, database: UInt64
    ) throws -> [String] {
        func isTouched(_ key: RecordKey) -> Bool {
            var bytes = KeyWriter()
            bytes.append(number: key.zone)
            bytes.append(lastText: key.name.utf8)
            return touched.contains(bytes.bytes)
        }
        let rows = try found(index, in: harness.store.snapshot(), database: database).filter { row in
            let parts = row.split(separator: " ")
            return !isTouched(RecordKey(zone: UInt64(parts[0]) ?? 0, name: String(parts[parts.count - 1])))
        }
        return rows + expected(index, harness.records.filter { isTouched($0.key) }, database: database)
    }

    @Test(
        "At any lag, rows and touched records together are right; without a touched one they are not",
        arguments: [true, false])
    func overlay(isWhole: Bool) throws {
        var differences = 0
        try withSeeds(4) { seed in
            var harness = try Harness(seed: seed)
            try harness.change(400)
            let fork = harness.store.fork()
            let index = IndexID(type: 1, .field(Self.rank))
            try IndexCatalog.put(index, .building, in: fork)
            try harness.store.publish(fork)
            while try harness.advance(limit: 100) {}
            try harness.catchUp.build(in: harness.store)
            for _ in 0..<12 {
                try harness.change(Int.random(in: 1...40, using: &harness.random))
                if Bool.random(using: &harness.random) {
                    _ = try harness.advance(limit: Int.random(in: 1...20, using: &harness.random))
                }
                let snapshot = harness.store.snapshot()
                var touched = try #require(try harness.catchUp.lag.touched(in: snapshot, limit: 10_000))
                if !isWhole, let some = touched.min(by: { $0.lexicographicallyPrecedes($1) }) { touched.remove(some) }
                for database in UInt64(1)...2 {
                    let rows = try overlaid(index, harness, touched, database: database)
                    let all = expected(index, harness.records, database: database)
                    if rows.sorted() != all.sorted() { differences += 1 }
                }
                if !touched.isEmpty {
                    #expect(try harness.catchUp.lag.touched(in: snapshot, limit: touched.count - 1) == nil)
                }
            }
        }
        #expect(isWhole ? differences == 0 : differences > 0)
    }

    @Test("An index that is removed leaves no rows, and can come again")
    func removal() throws {
        var harness = try Harness(seed: 1)
        try harness.change(300)
        let index = IndexID(type: 1, .field(Self.rank))
        for _ in 0..<2 {
            let fork = harness.store.fork()
            try IndexCatalog.put(index, .building, in: fork)
            try harness.store.publish(fork)
            while try harness.advance(limit: 50) {}
            try harness.catchUp.build(in: harness.store)
            try check(&harness, [index])
            let next = harness.store.fork()
            try IndexCatalog.put(index, .leaving, in: next)
            try harness.store.publish(next)
            var (sliceCount, database) = (0, UInt64(0))
            var hasMore = true
            while hasMore {
                let slice = harness.store.fork()
                hasMore = try IndexBuild.clear(index, from: &database, in: slice, limit: 10)
                if !hasMore { try IndexBuild.forget(index, in: slice) }
                try harness.store.publish(slice)
                sliceCount += 1
            }
            #expect(sliceCount > 3, "all rows at once")
            #expect(harness.store.snapshot().entryCount(ViewTree.index) == 0)
            #expect(harness.store.snapshot().entryCount(ViewTree.indexCatalog) == 0)
        }
    }

    @Test("Ten saves of a record cost one update, and what did not change costs nothing")
    func cost() throws {
        var harness = try Harness(seed: 2)
        try harness.change(500)
        let fork = harness.store.fork()
        try IndexCatalog.put(IndexID(type: 1, .membership), .building, in: fork)
        try harness.store.publish(fork)
        while try harness.advance(limit: 100) {}
        try harness.catchUp.build(in: harness.store)
        let before = harness.store.snapshot()
        for _ in 0..<10 { try harness.change(20) }
        while try harness.advance(limit: 1_000) {}
        let touched = try Self.changeCount(of: ViewTree.records, harness.store.snapshot(), since: before)
        let rows = try Self.changeCount(of: ViewTree.index, harness.store.snapshot(), since: before)
        #expect(rows <= 2 * touched && touched > 50)
    }

    private static func changeCount(of id: TreeID, _ new: Snapshot, since old: Snapshot) throws -> Int {
        var count = 0
        try new.forEachChange(of: id, since: old) { _, _ in
            count += 1
            return true
        }
        return count
    }
}
