import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// A store with small generations, frames and pieces, and what it must hold.
struct TreeTrial {
    enum Home: Sendable { case memory, disk }

    /// What the model does wrong, as if the trees did.
    enum Mistake: CaseIterable, Sendable {
        /// A deleted key is still there.
        case lostMark
        /// A range also deletes what is put after it.
        case rangeHidesItself
        case lostPut
    }

    static let ids = [TreeID(rawValue: 3), TreeID(rawValue: 9)]
    static let owner = RunOwner(store: Identifier(high: 7, low: 9), form: 1)
    /// One of the trees is hashed.
    static let hashed: Set = [ids[0]]

    /// What is held at some moment: a snapshot and what must be in it.
    struct Held {
        var snapshot: Snapshot
        var models: [TreeModel]
    }

    /// What the story came by.
    struct Reached {
        var flushes = 0
        var mergeSteps = 0
        /// Checks while a merge had consumed a part of its inputs.
        var begunMerges = 0
        var mostRuns = 0
        var blobs = 0
        var ranges = 0
        /// Openings of a state with all changes, and of one with fewer than were in memory.
        var (reopenings, losses) = (0, 0)
        var isEverything: Bool {
            flushes > 4 && mergeSteps > 4 && begunMerges > 0 && mostRuns > 2 && blobs > 0 && ranges > 0
        }
    }

    var mistake: Mistake?
    private(set) var reached = Reached()
    let seed: UInt64
    private let disk: SimulatedDisk?
    private(set) var store: TreeStore
    private var entries: EntryGenerator
    private var models = [TreeModel(), TreeModel()]
    private var held: [Held] = []
    private var ranges: [(tree: Int, lower: [UInt8]?, upper: [UInt8]?)] = []
    private var roundCount: UInt64 = 0
    /// What each published state holds that may still be flushed, by its epoch.
    private var published: [UInt64: [TreeModel]] = [:]
    /// What the last durable state must hold.
    private var durable: (position: Position, models: [TreeModel])?

    static var options: TreeStoreOptions {
        var options = TreeStoreOptions()
        options.generationBytes = 40 << 10
        options.pieceBytes = 16 << 10
        options.frameBytes = 4_096
        return options
    }

    init(_ home: Home, _ shape: EntryGenerator.Shape, seed: UInt64) throws {
        self.seed = seed
        entries = EntryGenerator(shape, seed: seed)
        disk = home == .disk ? SimulatedDisk() : nil
        if let disk {
            try disk.makeDirectory("/s")
            store = try Self.open(disk).store
        } else {
            store = try TreeStore.inMemory(Self.owner, hashed: Self.hashed, options: Self.options)
        }
    }

    private static func open(_ disk: SimulatedDisk) throws -> OpenedTreeStore {
        try TreeStore.open(
            in: "/s", owner, hashed: hashed, platform: Platform(files: disk), options: options, isValid: { _ in true })
    }

    mutating func round() throws {
        roundCount += 1
        let fork = try store.fork()
        var changed = models
        for _ in 0..<Int.random(in: 1...120, using: &entries.random) {
            try change(fork, 0, &changed)
            if roundCount % 3 == 0 { try change(fork, 1, &changed) }
        }
        if mistake == .rangeHidesItself {
            for range in ranges { changed[range.tree].removeRange(from: range.lower, to: range.upper) }
        }
        ranges = []
        if chance(4) { return }
        if chance(3) {
            let upper = try Fork(on: fork)
            var upperModels = changed
            for _ in 0..<30 { try change(upper, 0, &upperModels) }
            try publish(fork, changed)
            if chance(2) {
                try publish(upper, upperModels)
                changed = upperModels
            }
        } else {
            try publish(fork, changed)
        }
        models = changed
        try work()
        let newest = Held(snapshot: store.snapshot(), models: models)
        try check(newest)
        if roundCount % 4 == 0 { held.append(newest) }
        if held.count > 5 { held.remove(at: Int.random(in: 0..<held.count, using: &entries.random)) }
        if roundCount % 8 == 0 {
            for old in held { try check(old) }
        }
        if let disk, chance(10) { try reopen(disk) }
    }

    private mutating func publish(_ fork: Fork, _ models: [TreeModel]) throws {
        published[try store.publish(fork).epoch] = models
    }

    /// Writes a generation, and notes what the state of it holds.
    private mutating func flush(_ waiting: Snapshot, opaque: [UInt8]) throws {
        let position = Position(offset: roundCount, chain: UInt32(roundCount))
        try store.flush(waiting, at: position, opaque: opaque)
        durable = (position, try #require(published[waiting.epoch]))
        published = published.filter { $0.key > waiting.epoch }
    }

    private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &entries.random) == 0 }

    /// Flushes and merges, as the thread of a store does.
    private mutating func work() throws {
        if chance(8) { try store.freeze() }
        if store.waitingGenerations > 0, disk != nil || chance(2) {
            while let waiting = store.nextToFlush() {
                try flush(waiting, opaque: [1, 2, 3])
                reached.flushes += 1
            }
        }
        while chance(2), try store.mergeStep(isAtRest: chance(3)) { reached.mergeSteps += 1 }
        let levels = store.state.withLock { $0.levels }
        if levels.runs.contains(where: { $0.run.visibleFrom != nil }) { reached.begunMerges += 1 }
        reached.mostRuns = max(reached.mostRuns, levels.runs.count)
        reached.blobs = max(reached.blobs, levels.blobDescriptors.count)
        reached.ranges = max(reached.ranges, levels.runs.reduce(0) { $0 + $1.run.ranges.ranges.count })
    }

    /// Opens the store again, which shows the last durable state.
    private mutating func reopen(_ disk: SimulatedDisk) throws {
        if durable == nil || chance(2) {
            try store.freeze()
            while let waiting = store.nextToFlush() { try flush(waiting, opaque: [4]) }
        }
        let opened = try Self.open(disk)
        #expect(opened.finding == .whole && opened.state?.opaque.isEmpty == false, "seed \(seed)")
        let durable = try #require(durable)
        #expect(opened.state?.position == durable.position, "seed \(seed)")
        store = opened.store
        if durable.models == models { reached.reopenings += 1 } else { reached.losses += 1 }
        (models, published) = (durable.models, [:])
        try check(Held(snapshot: store.snapshot(), models: models))
        // The snapshots of the store before stay readable.
        for old in held { try check(old) }
    }

    private mutating func change(_ fork: Fork, _ tree: Int, _ models: inout [TreeModel]) throws {
        let id = Self.ids[tree]
        switch Int.random(in: 0..<100, using: &entries.random) {
        case 0:
            let bounds = [entries.key(), entries.key()].sorted { $0.lexicographicallyPrecedes($1) }
            let lower = chance(5) ? nil : bounds[0]
            let upper = chance(5) ? nil : bounds[1]
            try fork.deleteKeys(id, from: lower, to: upper)
            models[tree].removeRange(from: lower, to: upper)
            ranges.append((tree, lower, upper))
        case 1..<20:
            let key = models[tree].sortedKeys.randomElement(using: &entries.random) ?? entries.key()
            #expect(try fork.delete(id, key) == (models[tree][key] != nil), "seed \(seed)")
            models[tree][key] = nil
        case 20..<30:
            let key = chance(2) ? models[tree].sortedKeys.randomElement(using: &entries.random) : nil
            let known = key ?? entries.key()
            try known.withUnsafeBytes { try fork.deleteKnown(id, $0) }
            if mistake != .lostMark { models[tree][known] = nil }
        case 30..<40:
            guard let key = models[tree].sortedKeys.randomElement(using: &entries.random) else { return }
            let value = entries.value()
            try fork.put(id, key, value)
            models[tree][key] = value
        default:
            let (key, value) = (entries.key(), entries.value())
            try fork.put(id, key, value)
            if mistake != .lostPut || !chance(50) { models[tree][key] = value }
            #expect(try fork.value(id, key) == value, "seed \(seed)")
        }
    }

    private mutating func check(_ held: Held) throws {
        for (id, model) in zip(Self.ids, held.models) {
            let snapshot = held.snapshot
            let expected = model.sortedKeys.map { [$0, model[$0] ?? []] }
            let found = try snapshot.entries(id)
            if found != expected {
                Issue.record("seed \(seed), round \(roundCount): \(found.count) entries, not \(expected.count)")
            }
            #expect(try snapshot.isEmpty(id) == (model.count == 0), "seed \(seed)")
            for _ in 0..<10 {
                let key =
                    chance(2) ? entries.key() : model.sortedKeys.randomElement(using: &entries.random) ?? entries.key()
                #expect(try snapshot.value(id, key) == model[key], "seed \(seed), round \(roundCount)")
            }
            let bounds = [entries.key(), entries.key()].sorted { $0.lexicographicallyPrecedes($1) }
            #expect(
                try snapshot.entries(id, from: bounds[0], to: bounds[1]).map { $0[0] }
                    == Array(model.keys(from: bounds[0], to: bounds[1])), "seed \(seed)")
            try check(snapshot.cursor(id), model, from: bounds[0])
        }
    }

    /// Moves a cursor at random, and compares each place.
    private mutating func check(_ cursor: Cursor, _ model: TreeModel, from start: [UInt8]) throws {
        let keys = model.sortedKeys
        let place = model.place(of: start)
        let isForward = chance(2)
        var index = isForward ? place : place - 1
        var isThere = try start.withUnsafeBytes { isForward ? try cursor.seek($0) : try cursor.seekBefore($0) }
        for _ in 0..<40 {
            guard isThere == keys.indices.contains(index) else {
                Issue.record("seed \(seed), round \(roundCount): the cursor ends at another place")
                return
            }
            if !isThere { return }
            let found = try cursor.withEntry { [[UInt8]($0), [UInt8]($1)] }
            if found != [keys[index], model[keys[index]] ?? []] {
                Issue.record("seed \(seed), round \(roundCount): the cursor is at another entry")
                return
            }
            if chance(isForward ? 5 : 2) {
                index -= 1
                isThere = try cursor.previous()
            } else {
                index += 1
                isThere = try cursor.next()
            }
        }
    }
}
