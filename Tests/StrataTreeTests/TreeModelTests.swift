import StrataModel
import TestSupport
import Testing

@testable import StrataTree

/// Random changes against a dictionary, with snapshots of all ages, dropped forks and forks on forks.
@Suite("Trees against a dictionary")
struct TreeModelTests {
    private static let id = TreeID(rawValue: 3)
    private static let other = TreeID(rawValue: 9)

    /// What is held at some moment: a snapshot and what must be in it.
    private struct Held {
        var snapshot: Snapshot
        var model: TreeModel
        var otherModel: TreeModel
    }

    @Test("Everything that was put is there, in order, in every snapshot", arguments: EntryGenerator.Shape.allCases)
    func model(shape: EntryGenerator.Shape) throws {
        for seed in seeds(4) { try run(shape, seed: seed) }
    }

    private func run(_ shape: EntryGenerator.Shape, seed: UInt64) throws {
        var entries = EntryGenerator(shape, seed: seed)
        let store = try PageStore.inMemory()
        var held: [Held] = []
        var (model, otherModel) = (TreeModel(), TreeModel())
        for round in 0..<40 {
            let fork = store.fork()
            var (changed, otherChanged) = (model, otherModel)
            for _ in 0..<Int.random(in: 1...120, using: &entries.random) {
                try change(fork, Self.id, &changed, &entries)
                if round % 3 == 0 { try change(fork, Self.other, &otherChanged, &entries) }
            }
            if Int.random(in: 0..<4, using: &entries.random) == 0 { continue }
            if Int.random(in: 0..<3, using: &entries.random) == 0 {
                let upper = Fork(on: fork)
                var upperModel = changed
                for _ in 0..<30 { try change(upper, Self.id, &upperModel, &entries) }
                try store.publish(fork)
                if Bool.random(using: &entries.random) {
                    try store.publish(upper)
                    changed = upperModel
                }
            } else {
                try store.publish(fork)
            }
            (model, otherModel) = (changed, otherChanged)
            let newest = Held(snapshot: store.snapshot(), model: model, otherModel: otherModel)
            try check(newest, &entries)
            if round % 4 == 0 { held.append(newest) }
            if held.count > 5 { held.remove(at: Int.random(in: 0..<held.count, using: &entries.random)) }
            if round % 8 == 0 {
                for old in held { try check(old, &entries) }
                let snapshots = held.map(\.snapshot) + [store.snapshot()]
                #expect(try TreeChecker.faults(of: store, holding: snapshots) == [], "seed \(seed), round \(round)")
            }
        }
        // Whoever lets everything go gets everything back.
        let fork = store.fork()
        try fork.deleteRange(Self.id, from: nil, to: nil)
        try fork.deleteRange(Self.other, from: nil, to: nil)
        held = []
        try store.publish(fork)
        #expect(try TreeChecker.faults(of: store, holding: [store.snapshot()]) == [], "seed \(seed)")
        #expect(store.core.memory.usedSlots == 0, "seed \(seed)")
    }

    private func change(
        _ fork: Fork, _ id: TreeID, _ model: inout TreeModel, _ entries: inout EntryGenerator
    ) throws {
        switch Int.random(in: 0..<100, using: &entries.random) {
        case 0:
            let bounds = [entries.key(), entries.key()].sorted { $0.lexicographicallyPrecedes($1) }
            let lower = Int.random(in: 0..<5, using: &entries.random) == 0 ? nil : bounds[0]
            let upper = Int.random(in: 0..<5, using: &entries.random) == 0 ? nil : bounds[1]
            try fork.deleteKeys(id, from: lower, to: upper)
            model.removeRange(from: lower, to: upper)
        case 1..<30:
            let key = model.sortedKeys.randomElement(using: &entries.random) ?? entries.key()
            #expect(try fork.delete(id, key) == (model[key] != nil))
            model[key] = nil
        case 30..<40:
            guard let key = model.sortedKeys.randomElement(using: &entries.random) else { return }
            let value = entries.value()
            try fork.put(id, key, value)
            model[key] = value
        default:
            let (key, value) = (entries.key(), entries.value())
            try fork.put(id, key, value)
            model[key] = value
            #expect(try fork.value(id, key) == value)
        }
        #expect(fork.entryCount(id) == UInt64(model.count))
    }

    private func check(_ held: Held, _ entries: inout EntryGenerator) throws {
        for (id, model) in [(Self.id, held.model), (Self.other, held.otherModel)] {
            let snapshot = held.snapshot
            let expected = model.sortedKeys.map { [$0, model[$0]!] }
            #expect(try snapshot.entries(id) == expected)
            #expect(snapshot.entryCount(id) == UInt64(model.count))
            for _ in 0..<10 {
                let key =
                    Bool.random(using: &entries.random)
                    ? entries.key() : model.sortedKeys.randomElement(using: &entries.random) ?? []
                #expect(try snapshot.value(id, key) == model[key])
            }
            let bounds = [entries.key(), entries.key()].sorted { $0.lexicographicallyPrecedes($1) }
            #expect(
                try snapshot.entries(id, from: bounds[0], to: bounds[1]).map { $0[0] }
                    == Array(model.keys(from: bounds[0], to: bounds[1])))
            try checkCursor(snapshot.cursor(id), model, from: bounds[0])
        }
    }

    private func checkCursor(_ cursor: Cursor, _ model: TreeModel, from start: [UInt8]) throws {
        let keys = model.sortedKeys
        let place = model.place(of: start)
        var found: [[UInt8]] = []
        var isThere = try start.withUnsafeBytes { try cursor.seek($0) }
        while isThere, found.count < 50 {
            found.append(try cursor.withEntry { key, _ in [UInt8](key) } ?? [])
            isThere = try cursor.next()
        }
        #expect(found == Array(keys[place...].prefix(50)))
        found = []
        isThere = try start.withUnsafeBytes { try cursor.seekBefore($0) }
        while isThere, found.count < 50 {
            found.append(try cursor.withEntry { key, _ in [UInt8](key) } ?? [])
            isThere = try cursor.previous()
        }
        #expect(found == Array(keys[..<place].suffix(50).reversed()))
    }
}
