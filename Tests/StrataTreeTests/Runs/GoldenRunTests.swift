import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// Files of runs of version 1, first made by another program after docs/format-runs.md. Later releases must read them,
/// and write them just so.
@Suite("The golden runs of version 1")
struct GoldenRunTests {
    private static let names = ["1.run", "2.run", "3.blob", "state-0000000000000001", "state-0000000000000002"]
    private static let views = StateStory.path + "/views"
    private static let (hashed, sorted) = (TreeTrial.ids[0], TreeTrial.ids[1])

    private static let directory: String = {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        return root.joined(separator: "/") + "/Golden/runs-1"
    }()

    private var options: TreeStoreOptions {
        var options = TreeStoreOptions()
        options.frameBytes = 256
        return options
    }

    private func note(_ number: Int) -> [UInt8] { Array("note-\(10 + number)".utf8) }

    /// Two states: one with values in a hashed and in a sorted tree, one more with marks, a range and a long value.
    private func generate() throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        try disk.makeDirectory(StateStory.path)
        let store = try TreeStore.open(
            in: StateStory.path, TreeTrial.owner, hashed: TreeTrial.hashed,
            platform: Platform(files: disk, time: ManualTime(microseconds: 1_000_000)), options: options
        ) { _ in true }.store
        func flush(at offset: UInt64, opaque: [UInt8], _ change: (Fork) throws -> Void) throws {
            let fork = try store.fork()
            try change(fork)
            try fork.setFoldedOffset(Self.hashed, offset)
            try store.publish(fork)
            try store.flushAll(at: offset, opaque: opaque)
        }
        try flush(at: 5, opaque: [1, 2, 3]) { fork in
            for number in 0..<12 {
                try fork.put(Self.hashed, [0x68, UInt8(number)], bytes(3 * number, of: UInt8(number)))
                try fork.put(Self.sorted, note(number), bytes(20, of: UInt8(number)))
            }
        }
        try flush(at: 9, opaque: [4]) { fork in
            try fork.put(Self.hashed, [0x68, 3], bytes(1_500, of: 9))
            try fork.delete(Self.hashed, [0x68, 5])
            try fork.delete(Self.sorted, note(1))
            try fork.deleteKeys(Self.sorted, from: note(4), to: note(7))
            try fork.put(Self.sorted, note(5), [7])
        }
        return disk
    }

    @Test("They open, and have the entries that they were given")
    func opens() throws {
        let disk = SimulatedDisk()
        for name in Self.names {
            let bytes = try RealFileSystem().readAll(Self.directory + "/" + name, atMost: 1 << 20)
            disk.setContent(bytes, of: Self.views + "/" + name)
        }
        let opened = try StateStory.open(disk, options)
        #expect(opened.finding == .whole && opened.state?.position == Position(offset: 9, chain: 1))
        #expect(opened.state?.time == 1_000_000 && opened.state?.opaque == [4])
        let snapshot = opened.store.snapshot()
        #expect(snapshot.foldedOffset(Self.hashed) == 9 && snapshot.foldedOffset(Self.sorted) == 0)
        let hashed = (0..<12 as Range<UInt8>).filter { $0 != 5 }.map { number in
            [[0x68, number], number == 3 ? bytes(1_500, of: 9) : bytes(3 * Int(number), of: number)]
        }
        let numbers = (0..<12).filter { ![1, 4, 6].contains($0) }
        let sorted = numbers.map { [note($0), $0 == 5 ? [7] : bytes(20, of: UInt8($0))] }
        #expect(try snapshot.entries(Self.hashed) == hashed && snapshot.entries(Self.sorted) == sorted)
        for entry in hashed { #expect(try snapshot.value(Self.hashed, entry[0]) == entry[1]) }
        let states = try CheckedStates.open(in: StateStory.path, TreeTrial.owner, files: disk) { _ in true }
        let checked = try #require(states)
        #expect(try checked.states.count == 2 && checked.checkFrames(limit: 9).damage.isEmpty)
        while try opened.store.mergeStep(isAtRest: true) {}
        #expect(try opened.store.snapshot().entries(Self.hashed) == hashed)
    }

    @Test("Writing them again gives the same bytes; STRATA_UPDATE_GOLDEN=1 writes them")
    func sameBytes() throws {
        let disk = try generate()
        #expect(try disk.list(Self.views).sorted() == Self.names)
        let files = RealFileSystem()
        for name in Self.names {
            let bytes = try disk.content(of: Self.views + "/" + name)
            if getenv("STRATA_UPDATE_GOLDEN") != nil {
                try files.replace(Self.directory + "/" + name, in: Self.directory, with: bytes)
            }
            let kept = try files.readAll(Self.directory + "/" + name, atMost: 1 << 20)
            let difference = zip(kept, bytes).enumerated().first { $1.0 != $1.1 }?.offset
            #expect(kept.count == bytes.count && difference == nil, "\(name)")
        }
    }
}
