import StrataModel
import TestSupport

@testable import StrataTree

/// What a tree must hold, kept in the plainest way: a sorted list of keys, and their values.
struct TreeModel: Equatable {
    private(set) var sortedKeys: [[UInt8]] = []
    private var values: [[UInt8]: [UInt8]] = [:]

    var count: Int { sortedKeys.count }

    subscript(key: [UInt8]) -> [UInt8]? {
        get { values[key] }
        set {
            let place = place(of: key)
            if newValue != nil, values[key] == nil { sortedKeys.insert(key, at: place) }
            if newValue == nil, values[key] != nil { sortedKeys.remove(at: place) }
            values[key] = newValue
        }
    }

    /// Of the first key that is not in front of this one.
    func place(of key: [UInt8]) -> Int {
        var low = 0
        var high = sortedKeys.count
        while low < high {
            let middle = (low + high) / 2
            if sortedKeys[middle].lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func keys(from lower: [UInt8]?, to upper: [UInt8]?) -> ArraySlice<[UInt8]> {
        let start = lower.map { place(of: $0) } ?? 0
        let end = upper.map { place(of: $0) } ?? count
        return sortedKeys[start..<max(start, end)]
    }

    mutating func removeRange(from lower: [UInt8]?, to upper: [UInt8]?) {
        let keys = keys(from: lower, to: upper)
        for key in keys { values[key] = nil }
        sortedKeys.removeSubrange(keys.indices)
    }
}

/// Keys and values of many shapes, from a seed.
struct EntryGenerator {
    enum Shape: CaseIterable, Sendable { case short, text, sharedPrefix, long, sequential, zeros }

    let shape: Shape
    var random: SeededGenerator
    private var next: UInt32 = 0

    init(_ shape: Shape, seed: UInt64) {
        self.shape = shape
        random = SeededGenerator(seed: seed)
    }

    mutating func key() -> [UInt8] {
        switch shape {
        case .short: return bytes(1...3)
        case .text: return Array("\(UInt16.random(in: 0...9_999, using: &random))-record-name-of-some-length".utf8)
        case .sharedPrefix:
            let prefix = [UInt8](repeating: 0x61, count: [0, 1, 40, 700].randomElement(using: &random)!)
            return prefix + bytes(1...6)
        case .long: return bytes(1...960)
        case .sequential:
            next += 1
            return withUnsafeBytes(of: (next / 2).bigEndian) { Array($0) }
        case .zeros:
            return (0..<Int.random(in: 1...12, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random) }
        }
    }

    mutating func value() -> [UInt8] {
        switch Int.random(in: 0..<40, using: &random) {
        case 0: bytes(4_000...20_000)
        case 1: bytes(1_020...1_028)
        case 2...5: bytes(200...1_024)
        default: bytes(0...60)
        }
    }

    private mutating func bytes(_ count: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: count, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
}

extension Fork {
    func put(_ id: TreeID, _ key: [UInt8], _ value: [UInt8]) throws {
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try put(id, key, $0) } }
    }

    @discardableResult
    func delete(_ id: TreeID, _ key: [UInt8]) throws -> Bool { try key.withUnsafeBytes { try delete(id, $0) } }

    func deleteKeys(_ id: TreeID, from lower: [UInt8]?, to upper: [UInt8]?) throws {
        try withBounds(lower, upper) { try deleteRange(id, from: $0, to: $1) }
    }

    func value(_ id: TreeID, _ key: [UInt8]) throws -> [UInt8]? {
        try key.withUnsafeBytes { try get(id, $0) { [UInt8]($0) } }
    }
}

extension Snapshot {
    func value(_ id: TreeID, _ key: [UInt8]) throws -> [UInt8]? {
        try key.withUnsafeBytes { try get(id, $0) { [UInt8]($0) } }
    }

    func entries(_ id: TreeID, from lower: [UInt8]? = nil, to upper: [UInt8]? = nil) throws -> [[[UInt8]]] {
        var entries: [[[UInt8]]] = []
        try withBounds(lower, upper) { lower, upper in
            try scan(id, from: lower, to: upper) { key, value in
                entries.append([[UInt8](key), [UInt8](value)])
                return true
            }
        }
        return entries
    }
}

private func withBounds(
    _ lower: [UInt8]?, _ upper: [UInt8]?, _ body: (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?) throws -> Void
) throws {
    try (lower ?? []).withUnsafeBytes { low in
        try (upper ?? []).withUnsafeBytes { high in try body(lower == nil ? nil : low, upper == nil ? nil : high) }
    }
}
