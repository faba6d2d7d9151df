import StrataModel
import TestSupport
import Testing

@testable import StrataTree

@Suite("What differs between two states of a tree")
struct TreeDiffTests {
    private static let id = TreeID(rawValue: 1)

    private enum Change: Equatable {
        case added([UInt8]), removed([UInt8]), replaced([UInt8], [UInt8])
    }

    private func changes(_ new: Snapshot, since old: Snapshot, from lower: [UInt8]? = nil) throws -> [[UInt8]: Change] {
        var found: [[UInt8]: Change] = [:]
        var last: [UInt8] = []
        try (lower ?? []).withUnsafeBytes { bytes in
            try new.forEachChange(of: Self.id, since: old, from: lower == nil ? nil : bytes) { key, change in
                #expect(last.lexicographicallyPrecedes(key), "keys ascend")
                last = [UInt8](key)
                switch change {
                case .added(let value): found[last] = .added([UInt8](value))
                case .removed(let value): found[last] = .removed([UInt8](value))
                case .replaced(let before, let after):
                    if !before.elementsEqual(after) { found[last] = .replaced([UInt8](before), [UInt8](after)) }
                }
                return true
            }
        }
        return found
    }

    private func expected(_ old: TreeModel, _ new: TreeModel, from lower: [UInt8]? = nil) -> [[UInt8]: Change] {
        var changes: [[UInt8]: Change] = [:]
        for key in Set(old.keys(from: lower, to: nil)).union(new.keys(from: lower, to: nil)) {
            switch (old[key], new[key]) {
            case (nil, let value?): changes[key] = .added(value)
            case (let value?, nil): changes[key] = .removed(value)
            case (let before?, let after?) where before != after: changes[key] = .replaced(before, after)
            default: break
            }
        }
        return changes
    }

    @Test(
        "Every change is found, forwards and backwards, between states of any age",
        arguments: EntryGenerator.Shape.allCases)
    func model(shape: EntryGenerator.Shape) throws {
        for seed in seeds(3) {
            var entries = EntryGenerator(shape, seed: seed)
            let store = try PageStore.inMemory()
            var model = TreeModel()
            var held = [(store.snapshot(), model)]
            for round in 0..<14 {
                let fork = store.fork()
                for _ in 0..<[3, 400, 40].randomElement(using: &entries.random)! {
                    let isDeletion = Int.random(in: 0..<3, using: &entries.random) == 0
                    let known = model.sortedKeys.randomElement(using: &entries.random)
                    let key = isDeletion ? known ?? entries.key() : entries.key()
                    let value = isDeletion ? nil : entries.value()
                    if let value { try fork.put(Self.id, key, value) } else { try fork.delete(Self.id, key) }
                    model[key] = value
                }
                if round % 5 == 4 {
                    let bounds = [entries.key(), entries.key()].sorted { $0.lexicographicallyPrecedes($1) }
                    try fork.deleteKeys(Self.id, from: bounds[0], to: bounds[1])
                    model.removeRange(from: bounds[0], to: bounds[1])
                }
                try store.publish(fork)
                held.append((store.snapshot(), model))
                let (old, oldModel) = held.randomElement(using: &entries.random)!
                let lower = Bool.random(using: &entries.random) ? entries.key() : nil
                #expect(
                    try changes(store.snapshot(), since: old, from: lower) == expected(oldModel, model, from: lower),
                    "seed \(seed)")
                #expect(try changes(old, since: store.snapshot()) == expected(model, oldModel), "seed \(seed)")
            }
        }
    }

    @Test("A few changes in a large tree cost a few pages, and stopping early stops")
    func cost() throws {
        let store = try PageStore.inMemory()
        let fork = store.fork()
        let value = [UInt8](repeating: 1, count: 200)
        for index in 0..<100_000 {
            try fork.put(Self.id, withUnsafeBytes(of: UInt32(index).bigEndian) { Array($0) }, value)
        }
        try store.publish(fork)
        let old = store.snapshot()
        let next = store.fork()
        for index in [7, 9_000, 99_999] {
            try next.put(Self.id, withUnsafeBytes(of: UInt32(index).bigEndian) { Array($0) }, [2])
        }
        try store.publish(next)
        #expect(try changes(store.snapshot(), since: old).count == 3)
        var seen = 0
        try store.snapshot().forEachChange(of: Self.id, since: old) { _, _ in
            seen += 1
            return seen < 2
        }
        #expect(seen == 2)
        // Both in one run: a walk through all entries would take as long as a scan.
        func fastest(of count: Int, _ body: () throws -> Void) rethrows -> Double {
            try (0..<count).map { _ in try ThreadTime.seconds(body) }.min() ?? 0
        }
        let scan = try fastest(of: 5) { try store.snapshot().scan(Self.id) { _, _ in true } }
        let comparison = try fastest(of: 20) { _ = try changes(store.snapshot(), since: old) }
        #expect(comparison * 10 < scan)
    }

    @Test("States of different stores are not compared")
    func differentStores() throws {
        let (a, b) = (try PageStore.inMemory(), try PageStore.inMemory())
        #expect(throws: StrataError.self) {
            try a.snapshot().forEachChange(of: Self.id, since: b.snapshot()) { _, _ in true }
        }
    }
}
