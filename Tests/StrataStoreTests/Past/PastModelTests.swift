import ModelComparison
import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("The past of a store is that of its log, folded from the beginning")
struct PastModelTests {
    /// Returns a store with a random history of shares, zones and requests, and in a file also with compaction and
    /// erasures; the last commits purge a zone and use it again.
    private static func store(_ ground: TwinStore.Ground, _ seed: UInt64) throws -> Store {
        var twin = try TwinStore(ground, seed: seed, hasShares: true)
        var places: Set<RecordPlace> = []
        for step in 1...60 {
            try twin.step()
            if step % 15 == 0 { places.formUnion(try twin.store.snapshot().recordVersions().keys) }
            if step == 25 { try twin.compact(to: twin.log.floor.offset + twin.log.end.offset / 3) }
        }
        let store = twin.store
        let anna = Actor(user: "anna")
        if ground == .segmented {
            var count = 0
            for place in places.sorted(by: { $0.id.name < $1.id.name }) where count < 5 {
                // A record that is a parent, or whose zone has been deleted, stays.
                do { try store.erase([place.id], in: place.database, reason: "asked for") } catch is Refusal {
                    continue
                }
                count += 1
            }
        }
        // A hostile log may have lost an answer, after which the store takes no more requests.
        if ground == .hostile { return store }
        func write(_ request: Request) throws { do { try store.modify(request, as: anna) } catch is Refusal {} }
        for round in 0..<3 {
            try write(NoteRequest.makingZones())
            for name in ["a", "b", "c"] { try write(NoteRequest.saving([name], [("title", .string("\(round)"))])) }
            try write(NoteRequest.deleting(["b"]))
            if ground == .segmented, round == 1 {
                let own = DatabaseID(.private, owner: "anna")
                do { try store.erase([NoteRequest.id("a")], in: own, reason: "asked for") } catch is Refusal {}
            }
            do { try store.purgeZone(NoteRequest.zone, of: "anna") } catch is Refusal {}
        }
        return store
    }

    @Test(
        "States, records, changes and touches are those of folding",
        arguments: [TwinStore.Ground.memory, .segmented, .hostile])
    func model(ground: TwinStore.Ground) throws {
        let fromLog = Lock(0)
        try withSeeds(3) { seed in
            let store = try Self.store(ground, seed)
            let model = try PastModel(of: store, seed: seed)
            try model.checkStates()
            try model.checkRecords()
            try model.checkTouches()
            let count = try model.checkChanges()
            fromLog.withLock { $0 += count }
            try store.close()
        }
        #expect(fromLog.withLock { $0 } > 10)
    }

    @Test("Canary: a model with a wrong state of one record differs", arguments: PastModel.Fault.allCases)
    func canary(fault: PastModel.Fault) throws {
        let store = try Self.store(.segmented, 1)
        var model = try PastModel(of: store, seed: 1)
        try model.plant(fault)
        #expect(throws: Divergence.self) { try model.checkStates() }
        #expect(throws: Divergence.self) { try model.checkRecords() }
        #expect(throws: Divergence.self) { _ = try model.checkChanges() }
        try store.close()
    }

    @Test("Canary: a touch that no list has is missed")
    func touchCanary() throws {
        let store = try Self.store(.segmented, 1)
        var model = try PastModel(of: store, seed: 1)
        try model.plantTouch()
        #expect(throws: Divergence.self) { try model.checkTouches() }
        try store.close()
    }

    @Test("Progress is reported while a state is folded")
    func progress() throws {
        let store = try Store.open(at: "/Past.strata", platform: Platform(files: SimulatedDisk()))
        try store.modify(NoteRequest.makingZones(), as: Actor(user: "anna"))
        for name in ["a", "b", "c"] { try store.modify(NoteRequest.saving([name]), as: Actor(user: "anna")) }
        var offsets: [UInt64] = []
        try store.past.state(at: store.offset - 1) { offsets.append($0.offset) }.close()
        #expect(offsets.last == store.offset - 1)
        try store.close()
    }

    @Test("Offsets that the log does not have are refused")
    func offsets() throws {
        let store = try Self.store(.segmented, 2)
        let (floor, end) = (store.log.floor.offset, store.offset)
        #expect(thrownCode { _ = try store.past.state(at: end + 1) } == .outOfRange)
        #expect(thrownCode { _ = try store.past.state(at: floor - 1) } == .outOfRange)
        for (first, last) in [(floor - 1, end), (floor, end + 1), (end, end - 1)] {
            #expect(thrownCode { try store.past.forEachChange(from: first, to: last) { _ in true } } == .outOfRange)
        }
        try store.close()
    }
}

/// The records of a store after each commit, folded from the beginning of its log or its base each time.
struct PastModel {
    /// A change of one record in the model.
    enum Fault: String, CaseIterable, Sendable {
        case keepsDeleted, losesSave, keepsOldValues
    }

    private typealias Rows = [RecordKey: [UInt8]]

    private let store: Store
    private var states: [UInt64: Rows] = [:]
    /// The offsets of the floor and of all commits, in order.
    private let offsets: [UInt64]
    private let digests: [UInt64: Digests]
    private let names: StoreSnapshot
    private let random: SeededRandom
    /// The offsets at which each record is checked: the first, the last, and those before and after each change.
    private let checked: [RecordKey: Set<UInt64>]

    init(of store: Store, seed: UInt64) throws {
        self.store = store
        names = store.snapshot()
        random = SeededRandom(seed: seed)
        var offsets = [store.log.floor.offset]
        var cursor = try store.log.read(from: offsets[0] + 1)
        while let commit = try cursor.next(), commit.offset <= names.offset { offsets.append(commit.offset) }
        self.offsets = offsets
        var digests: [UInt64: Digests] = [:]
        for offset in offsets {
            let trees = try Views.state(
                of: store.log, at: offset, in: nil, options: TreeStoreOptions())
            states[offset] = try Self.rows(of: trees)
            digests[offset] = try trees.digests()
        }
        self.digests = digests
        var checked: [RecordKey: Set<UInt64>] = [:]
        for record in Set(states.values.flatMap(\.keys)) {
            checked[record] = [offsets[0], offsets[offsets.count - 1]]
            for (before, after) in zip(offsets, offsets.dropFirst())
            where states[before]?[record] != states[after]?[record] { checked[record]?.formUnion([before, after]) }
        }
        self.checked = checked
    }

    private static func rows(of trees: Snapshot) throws -> Rows {
        var rows: Rows = [:]
        for index in 0..<(try trees.nameCount(.zone)) {
            var records = RecordRows(of: index + 1, in: trees)
            while let (keyName, state) = try records.next() {
                let name = try keyName.withUnsafeBytes { try RecordStateView.name(in: state, keyName: $0) }
                rows[RecordKey(zone: index + 1, name: name)] = state
            }
        }
        return rows
    }

    /// Changes the model from one commit on, in a record that exists before and after it.
    mutating func plant(_ fault: Fault) throws {
        for (before, after) in zip(offsets, offsets.dropFirst()) {
            let (old, new) = (states[before] ?? [:], states[after] ?? [:])
            for record in Set(old.keys).union(new.keys) where old[record] != new[record] {
                switch fault {
                case .keepsDeleted where new[record] == nil: states[after]?[record] = old[record]
                case .losesSave where old[record] == nil: states[after]?[record] = nil
                case .keepsOldValues where old[record] != nil && new[record] != nil:
                    states[after]?[record] = old[record]
                default: continue
                }
                return
            }
        }
        throw Divergence(description: "no commit fits \(fault)")
    }

    /// Changes a record of the model where no commit touched it.
    mutating func plantTouch() throws {
        for (before, after) in zip(offsets, offsets.dropFirst()).reversed() {
            for (record, state) in states[before] ?? [:] where states[after]?[record] == state {
                states[after]?[record] = nil
                return
            }
        }
        throw Divergence(description: "every commit touches every record")
    }

    // MARK: States and records

    func checkStates() throws {
        for offset in offsets {
            let past = try store.past.state(at: offset)
            defer { try? past.close() }
            let trees = past.snapshot().trees
            let (found, expected) = (try Self.rows(of: trees), states[offset] ?? [:])
            guard try found.mapValues({ try Self.content(of: $0) }) == expected.mapValues({ try Self.content(of: $0) }),
                try trees.digests() == digests[offset]
            else {
                throw Divergence(description: "the state at \(offset) is another one")
            }
        }
    }

    func checkRecords() throws {
        for (record, offsets) in checked {
            for offset in offsets {
                let (found, expected) = (try store.past.record(record, at: offset), states[offset]?[record])
                guard try Self.content(of: found) == Self.content(of: expected) else {
                    throw Divergence(description: "\(record) at \(offset) is another one")
                }
                guard let expected, let version = try RecordStateView.version(of: expected) as Version? else {
                    continue
                }
                // Nil after an erasure, or if the version was removed by compaction.
                guard let found = try store.past.record(record, at: version) else { continue }
                guard try Self.content(of: found) == Self.content(of: expected) else {
                    throw Divergence(description: "version \(version.tag) of \(record) is another one")
                }
            }
        }
    }

    private struct Content: Equatable {
        let version: Version
        let (parent, share): (RecordKey?, RecordKey?)
        let fields: [RecordField]
    }

    private static func content(of state: [UInt8]?) throws -> Content? {
        try state.map { bytes in
            let state = try RecordState(decoding: bytes[...])
            return Content(
                version: state.header.version, parent: state.parent, share: state.share, fields: state.fields)
        }
    }

    // MARK: Changes

    /// Returns the number of ranges whose changes came from the log alone.
    func checkChanges() throws -> Int {
        var ranges = [(offsets[0], offsets[offsets.count - 1])]
        for _ in 0..<20 {
            let one = Int(random.next() % UInt64(offsets.count))
            let other = Int(random.next() % UInt64(offsets.count))
            ranges.append((offsets[min(one, other)], offsets[max(one, other)]))
        }
        var (lookedUp, followed, compared) = (ChangeLimits(), ChangeLimits(), ChangeLimits())
        lookedUp.commitsPerLookup = 0
        followed.commitsPerLookup = 1 << 20
        compared.maximumRecords = 0
        var count = 0
        for (first, last) in ranges {
            for limits in [lookedUp, followed, compared] where try check(first, last, limits) { count += 1 }
        }
        for (first, last) in zip(offsets, offsets.dropFirst()) where try check(first, last, followed) { count += 1 }
        return count
    }

    private func check(_ first: UInt64, _ last: UInt64, _ limits: ChangeLimits) throws -> Bool {
        let (old, new) = (states[first] ?? [:], states[last] ?? [:])
        let changed = try Set(old.keys).union(new.keys).filter { record in
            try Self.content(of: old[record])?.version != Self.content(of: new[record])?.version
        }.sorted {
            RecordKey.viewKey(zone: $0.zone, name: Array($0.name.utf8))
                .lexicographicallyPrecedes(RecordKey.viewKey(zone: $1.zone, name: Array($1.name.utf8)))
        }
        var rest = changed[...]
        let isFromLog = try store.past.forEachChange(from: first, to: last, within: limits) { difference in
            guard let record = rest.popFirst(), difference.id.name == record.name,
                try store.past.place(of: record) == (difference.id, difference.database),
                try isSame(difference.before, old[record], record), try isSame(difference.after, new[record], record)
            else { throw Divergence(description: "from \(first) to \(last), \(difference.id) changes otherwise") }
            return true
        }
        guard rest.isEmpty else { throw Divergence(description: "from \(first) to \(last), \(rest) do not change") }
        return isFromLog
    }

    private func isSame(_ found: Record?, _ state: [UInt8]?, _ record: RecordKey) throws -> Bool {
        guard let found, let state else { return found == nil && state == nil }
        let expected = try store.past.decoded(state, of: record)
        return try found.version == expected.version && found.fields == expected.fields
            && found.parent == expected.parent && found.share == expected.share
    }

    // MARK: Touches

    func checkTouches() throws {
        let end = offsets[offsets.count - 1]
        for record in checked.keys {
            var touched: Set<UInt64> = []
            for subject in [
                TouchedCommits.Subject.record(record.name, zones: [record.zone]), .zones([record.zone]),
            ] {
                let kind: Touch.Kind? = if case .zones = subject { .zoneDeleted } else { nil }
                var commits = store.past.touches(subject, kind: kind, after: offsets[0], through: end)
                while let commit = try commits.next() { touched.insert(commit.offset) }
            }
            for (before, after) in zip(offsets, offsets.dropFirst())
            where states[before]?[record] != states[after]?[record] && !touched.contains(after) {
                throw Divergence(description: "\(record) changes at \(after), which is in no list")
            }
        }
    }
}
