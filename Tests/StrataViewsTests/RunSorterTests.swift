import Glibc
import StrataModel
import TestSupport
import Testing

@testable import StrataViews

/// What is sorted comes back in the order of its keys, equal keys as they came, in memory or through a file.
@Suite(.timeLimit(.minutes(5))) struct RunSorterTests {
    private struct Entry: Equatable {
        var key: [UInt8]
        var value: [UInt8]
    }

    /// Keys that share beginnings, are equal, end within others, and have zeros at their ends.
    private func entries(_ count: Int, _ random: inout SeededGenerator) -> [Entry] {
        let starts: [[UInt8]] = [[], [0], [0, 0, 0, 0, 0, 0, 0, 0, 0], Array(repeating: 7, count: 40), [255, 255]]
        return (0..<count).map { number in
            let start = starts[random.next(below: starts.count)]
            let rest = (0..<random.next(below: 12)).map { _ in UInt8([0, 0, 1, 7, 255][random.next(below: 5)]) }
            return Entry(key: start + rest, value: Array("\(number)".utf8) + Array(repeating: 9, count: number % 5))
        }
    }

    private func sorted(_ entries: [Entry]) -> [Entry] {
        entries.enumerated().sorted { a, b in
            a.element.key == b.element.key
                ? a.offset < b.offset : a.element.key.lexicographicallyPrecedes(b.element.key)
        }.map(\.element)
    }

    private func add(_ entry: Entry, to sorter: RunSorter) throws {
        try entry.key.withUnsafeBytes { key in try entry.value.withUnsafeBytes { try sorter.add(key, $0) } }
    }

    private func rest(of sorter: RunSorter) throws -> [Entry] {
        var found: [Entry] = []
        while let (key, value) = sorter.current {
            found.append(Entry(key: [UInt8](key), value: [UInt8](value)))
            try sorter.advance()
        }
        return found
    }

    @Test(arguments: [0, 1, 2, 12, 13, 500, 6_000])
    func `as a plain sort, in memory and in runs`(_ count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        let entries = entries(count, &random)
        for memoryBytes in [64 << 20, 4_000, 1] {
            let spill = RunSorter.Spill(files: SimulatedDisk(), path: "/views.build")
            let sorter = RunSorter(memoryBytes: memoryBytes, spill: spill)
            for entry in entries {
                try add(entry, to: sorter)
                #expect(sorter.heldBytes < memoryBytes)
            }
            #expect(sorter.isSpilled == (memoryBytes == 1 ? count > 0 : memoryBytes == 4_000 && count >= 500))
            #expect(sorter.count == UInt64(count) && sorter.current == nil)
            try sorter.finish()
            #expect(try rest(of: sorter) == sorted(entries), "\(count) in \(memoryBytes)")
        }
    }

    @Test func `without a file memory has to do`() throws {
        var random = SeededGenerator(seed: 1)
        let entries = entries(2_000, &random)
        let sorter = RunSorter(memoryBytes: 100, spill: nil)
        for entry in entries { try add(entry, to: sorter) }
        try sorter.finish()
        #expect(!sorter.isSpilled)
        #expect(try rest(of: sorter) == sorted(entries))
    }

    @Test func `thousands of equal keys stay in the order in which they came`() throws {
        let key = Array(repeating: UInt8(3), count: 100)
        let entries = (0..<5_000).map { Entry(key: key, value: Array("\($0)".utf8)) }
        for memoryBytes in [64 << 20, 20_000] {
            let spill = RunSorter.Spill(files: SimulatedDisk(), path: "/views.build")
            let sorter = RunSorter(memoryBytes: memoryBytes, spill: spill)
            for entry in entries { try add(entry, to: sorter) }
            try sorter.finish()
            #expect(try rest(of: sorter) == entries)
        }
    }

    @Test func `a slice is used again, and holds what it was given`() throws {
        var random = SeededGenerator(seed: 5)
        let slice = SortSlice()
        for count in [300, 0, 1, 40] {
            let entries = entries(count, &random)
            for entry in entries {
                entry.key.withUnsafeBytes { key in entry.value.withUnsafeBytes { slice.append(key, $0) } }
            }
            let bytes = entries.reduce(0) { $0 + $1.key.count + $1.value.count }
            #expect(slice.count == count && slice.byteCount >= bytes)
            slice.sort()
            let found = (0..<count).map { place in
                Entry(key: [UInt8](slice.entry(place).key), value: [UInt8](slice.entry(place).value))
            }
            #expect(found == sorted(entries))
            slice.removeAll()
            #expect(slice.count == 0 && slice.byteCount == 0)
        }
    }

    @Test func `a file that fails is an error, not fewer entries`() throws {
        let disk = SimulatedDisk()
        let sorter = RunSorter(memoryBytes: 1_000, spill: .init(files: disk, path: "/views.build"))
        var random = SeededGenerator(seed: 2)
        disk.fail(.write, from: 3, with: .errno(ENOSPC), on: "views.build")
        #expect(throws: StrataError.self) {
            for entry in entries(3_000, &random) { try add(entry, to: sorter) }
            try sorter.finish()
        }
    }
}
