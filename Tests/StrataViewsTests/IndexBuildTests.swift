import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

/// Records are put into their tree directly; what the indexes come to is compared with the records themselves.
@Suite("Indexes that are built and removed")
struct IndexBuildTests {
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
        let store: TreeStore
        var build = IndexBuild()
        var records: [RecordKey: RecordState] = [:]
        var random: SeededGenerator

        init(seed: UInt64) throws {
            store = try Views.emptyTrees()
            random = SeededGenerator(seed: seed)
            let fork = try store.fork()
            let databases: [InternedName.Name] = [.database(.public, owner: 0), .database(.private, owner: 0)]
            let zones = (UInt64(1)...3).map { InternedName.Name.zone(database: $0 % 2 + 1, owner: 0, "zone \($0)") }
            for (index, name) in (databases + zones).enumerated() {
                let ordinal = UInt64(index < 2 ? index + 1 : index - 1)
                let name = InternedName(ordinal: ordinal, name: name)
                try ViewKeys.name(name.name.namespace, ordinal).withUnsafeBytes { key in
                    try name.event.body.withUnsafeBytes { try fork.put(ViewTree.names, key, $0) }
                }
            }
            try store.publish(fork)
        }

        mutating func change(_ count: Int) throws {
            let fork = try store.fork()
            var indexes = IndexWriter(try IndexCatalog(fork))
            for _ in 0..<count {
                let key = RecordKey(
                    zone: UInt64.random(in: 1...3, using: &random),
                    name: "r\(Int.random(in: 0..<150, using: &random))")
                let state = Int.random(in: 0..<4, using: &random) > 0 ? state() : nil
                try put(state, key, key.viewKey, &indexes, in: fork)
            }
            try store.publish(fork)
        }

        /// Saves all records again, each in a later version.
        mutating func resave() throws {
            let fork = try store.fork()
            var indexes = IndexWriter(try IndexCatalog(fork))
            for (key, state) in records {
                var state = state
                state.header.version = Version(offset: state.header.version.offset + 1, eventIndex: 0)
                state.header.modified += 1
                try put(state, key, key.viewKey, &indexes, in: fork)
            }
            try store.publish(fork)
        }

        /// What folding does to a record.
        private mutating func put(
            _ state: RecordState?, _ key: RecordKey, _ bytes: [UInt8], _ indexes: inout IndexWriter, in fork: Fork
        ) throws {
            let old = try fork.get(ViewTree.records, key: bytes) { [UInt8]($0) }
            var new = ByteWriter()
            try state?.encode(into: &new)
            try bytes.withUnsafeBytes { record in
                try (old ?? []).withUnsafeBytes { oldBytes in
                    try new.bytes.withUnsafeBytes { newBytes in
                        try indexes.update(
                            record, in: key.zone % 2 + 1, from: old == nil ? nil : oldBytes,
                            to: state == nil ? nil : newBytes, fork)
                        if state == nil {
                            try fork.delete(ViewTree.records, record)
                        } else {
                            try fork.put(ViewTree.records, record, newBytes)
                        }
                    }
                }
            }
            records[key] = state
        }

        private mutating func state() -> RecordState {
            let words = ["Milk", "bread", "Zürich", "milk", "42"]
            let title = (0..<Int.random(in: 0...3, using: &random)).map { _ in words.randomElement(using: &random)! }
            let rank = Int64.random(in: -3...3, using: &random)
            let tags = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                FieldValue.int64(Int64.random(in: 0...4, using: &random))
            }
            var fields = [RecordField(title0, .string(title.joined(separator: ", ")))]
            if Bool.random(using: &random) { fields.append(RecordField(IndexBuildTests.rank, .int64(rank))) }
            if let list = try? FieldList(tags) { fields.append(RecordField(IndexBuildTests.tags, .list(list))) }
            return RecordState(
                header: RecordHeader(
                    version: Version(offset: UInt64.random(in: 1...1_000_000, using: &random), eventIndex: 0),
                    type: IndexBuildTests.types.randomElement(using: &random)!,
                    created: Int64.random(in: 0...5, using: &random), createdBy: 1, modified: 9, modifiedBy: 1),
                fields: fields)
        }

        private var title0: UInt32 { IndexBuildTests.title }

        /// One slice, published; whether there is more to do.
        mutating func advance(steps: Int = 0, recordsTogether: Int? = nil) throws -> Bool {
            if Int.random(in: 0..<4, using: &random) == 0 {
                // Dropped with its fork, a slice has not been.
                var lost = build
                _ = try lost.advance(try store.fork(), from: store.snapshot()) { false }
            }
            // A restart loses everything but the catalog.
            if Int.random(in: 0..<8, using: &random) == 0 { build = IndexBuild() }
            build.recordsTogether = recordsTogether ?? Int.random(in: 1...15, using: &random)
            let fork = try store.fork()
            var left = steps
            let hasMore = try build.advance(fork, from: store.snapshot()) {
                left -= 1
                return left < 0
            }
            try store.publish(fork)
            return hasMore
        }

        mutating func set(_ index: IndexID, _ progress: IndexProgress) throws {
            let fork = try store.fork()
            try IndexCatalog.put(index, progress, in: fork)
            try store.publish(fork)
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
        try IndexKey.withBounds(of: IndexKey.start(database, index)) { lower, upper in
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
                let name = try PackedName.withName(of: reader.readLastText()) { String(decoding: $0, as: UTF8.self) }
                rows.append("\(zone) \(value) \(name)")
                return true
            }
        }
        return rows
    }

    @Test("Whatever the slices, an index has a row for each value of each record up to its key, in order")
    func slices() throws {
        try withSeeds(6) { seed in
            var harness = try Harness(seed: seed)
            var (partCount, joinCount) = (0, 0)
            for round in stride(from: 0, to: Self.indexes.count, by: 2) {
                try harness.change([5, 200, 1_000][round / 2 % 3])
                try harness.set(Self.indexes[round], .building(upTo: []))
                // Changes and another index come in the middle of a build.
                var late = Self.indexes.dropFirst(round + 1).first
                var shortSlices = 0
                while try late != nil || shortSlices > 0
                    ? harness.advance(recordsTogether: shortSlices > 0 ? 1 : nil) || late != nil
                    : harness.advance(steps: Int.random(in: 0...2, using: &harness.random))
                {
                    let building = try IndexCatalog(harness.store.snapshot()).building
                    if building.values.contains(where: { !$0.isEmpty }) { partCount += 1 }
                    if Set(building.values).count > 1 { joinCount += 1 }
                    try check(&harness, Array(Self.indexes[...round]))
                    try harness.change(Int.random(in: 0...30, using: &harness.random))
                    shortSlices -= 1
                    let position = building[Self.indexes[round]]
                    let passedCount = harness.records.keys.count { key in
                        position.map { !$0.lexicographicallyPrecedes(key.viewKey) } ?? true
                    }
                    // The other starts far behind, and then reads a record at a time.
                    if let id = late, position == nil || passedCount >= 20 {
                        try harness.set(id, .building(upTo: []))
                        (late, shortSlices) = (nil, 2)
                    }
                }
                #expect(try IndexCatalog(harness.store.snapshot()).building.isEmpty)
                try harness.change(30)
                try check(&harness, Array(Self.indexes.prefix(round + 2)))
            }
            #expect(partCount > 10 && joinCount > 2, "\(partCount), \(joinCount)")
        }
    }

    private func check(_ harness: inout Harness, _ indexes: [IndexID]) throws {
        let snapshot = harness.store.snapshot()
        let building = try IndexCatalog(snapshot).building
        for index in indexes {
            let last = building[index]
            let records = harness.records.filter { key, _ in
                last.map { !$0.lexicographicallyPrecedes(key.viewKey) } ?? true
            }
            for database in UInt64(1)...2 {
                let rows = try found(index, in: snapshot, database: database)
                let all = expected(index, records, database: database)
                // The lists themselves would be too long.
                let isSame = rows == all
                try #require(isSame, "\(index): \(Set(rows).symmetricDifference(all).sorted().prefix(3))")
            }
        }
        #expect(try found(IndexID(type: 9, .membership), in: snapshot, database: 1) == [])
    }

    @Test("An index that is removed leaves no rows, and can come again, also before they are gone")
    func removal() throws {
        var harness = try Harness(seed: 1)
        try harness.change(300)
        let (index, other) = (IndexID(type: 1, .field(Self.rank)), IndexID(type: 1, .membership))
        for id in [index, other] { try harness.set(id, .building(upTo: [])) }
        while try harness.advance() {}
        for isAskedAgain in [true, false] {
            try check(&harness, [index, other])
            try harness.set(index, .leaving)
            var sliceCount = 1
            // A database at a time.
            #expect(try harness.advance())
            try harness.change(50)
            if isAskedAgain { try harness.set(index, .returning) }
            while try harness.advance() { sliceCount += 1 }
            #expect(sliceCount > 1, "all databases at once")
            #expect(try IndexCatalog(harness.store.snapshot())[index] == (isAskedAgain ? .ready : nil))
        }
        for database in UInt64(1)...2 {
            #expect(try found(index, in: harness.store.snapshot(), database: database) == [])
        }
        try check(&harness, [other])
    }

    @Test("A value that stays costs nothing, and a change costs its own rows")
    func cost() throws {
        var harness = try Harness(seed: 2)
        try harness.change(500)
        let (membership, title) = (IndexID(type: 1, .membership), IndexID(type: 1, .field(Self.title), .words))
        try harness.set(membership, .building(upTo: []))
        while try harness.advance() {}
        let before = harness.store.snapshot()
        try harness.resave()
        #expect(harness.store.snapshot().shares(ViewTree.index, with: before))
        try harness.set(title, .building(upTo: []))
        while try harness.advance() {}
        let built = harness.store.snapshot()
        try harness.resave()
        #expect(harness.store.snapshot().shares(ViewTree.index, with: built))
        #expect(!built.shares(ViewTree.index, with: before))
    }
}
