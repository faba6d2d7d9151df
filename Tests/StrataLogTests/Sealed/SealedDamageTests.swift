import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("Damage of a sealed segment is noticed", .timeLimit(.minutes(5)))
struct SealedDamageTests {
    @Test("Every flipped byte is found by whoever reads it, with its place")
    func flips() throws {
        let sealed = try SealedStore.small()
        let path = try #require(sealed.sealedPaths.first)
        let size = try sealed.store.disk.content(of: path).count
        let commits = sealed.commits.filter { $0.offset < sealed.store.newestFirstOffset }
        var generator = SeededGenerator(seed: 2)
        var missed: [Int] = []
        for position in 0..<size {
            // One bit of each byte; which one changes from byte to byte.
            let bit = Int(generator.next(below: 8))
            try sealed.store.disk.flipBit(path, byte: position, bit: bit)
            // Every place through the segment alone, some through all that a log does.
            let error = thrownError {
                if position % 61 == 0 {
                    try SealedStore.readAll(sealed.store, expecting: sealed.commits)
                } else {
                    try SealedStore.readSegment(path, on: sealed.store.disk, expecting: commits)
                }
            }
            try sealed.store.disk.flipBit(path, byte: position, bit: bit)
            guard let error else {
                missed.append(position)
                continue
            }
            #expect(error.context.path == path, "byte \(position): \(error)")
        }
        #expect(missed == [])
        try SealedStore.readSegment(path, on: sealed.store.disk, expecting: commits)
    }

    @Test("Canary: a reader that does not look at change lists misses damage of them")
    func unread() throws {
        let sealed = try SealedStore.small()
        let path = try #require(sealed.sealedPaths.first)
        let segment = try #require(try sealed.store.reader().sealedSegments.first)
        let place = try #require(segment.index.changes.first?.range.upperBound) - 20
        try sealed.store.disk.flipBit(path, byte: place, bit: 3)
        var cursor = try sealed.store.reader().read(from: 1)
        for commit in sealed.commits { try #expect(cursor.next() == commit) }
        #expect(thrownError { try SealedStore.readAll(sealed.store, expecting: sealed.commits) } != nil)
    }

    @Test("A file that is cut anywhere is refused when the log is opened")
    func cut() throws {
        let sealed = try SealedStore(seed: 3, count: 60)
        let path = try #require(sealed.sealedPaths.first)
        let size = try sealed.store.disk.open(path, .read).size()
        for count in stride(from: 0, to: size, by: 61) {
            let store = sealed.store.copy()
            let file = try store.disk.open(path, .write)
            try file.truncate(to: count)
            file.close()
            let error = thrownError { _ = try store.reader() }
            #expect(error?.context.path == path, "\(count) of \(size): \(String(describing: error))")
            let opening = thrownError { _ = try store.open() }
            #expect(opening != nil)
        }
    }

    @Test("A count of names that no block could have is an error")
    func countOfNames() throws {
        var header = BlockHeader(kind: .names)
        header.count = .max
        let file = try SimulatedDisk().open("/block", .create)
        var writer = BlockWriter(file, salt: 1, at: 0)
        let size = try writer.append(header, [])
        try writer.flush()
        let block = try file.read(count: size, at: 0).withUnsafeBytes { try Block(decoding: $0, salt: 1, position: 0) }
        #expect(thrownError { _ = try block.internedNames() }?.code == .malformed)
    }

    @Test("Blocks of other segments, at other places, or of another store are no blocks here")
    func foreign() throws {
        let sealed = try SealedStore(seed: 4, count: 200)
        let paths = sealed.sealedPaths
        try check(paths.count >= 3, "there is nothing to exchange")
        // The first block of the second segment in the place of that of the first.
        let store = sealed.store.copy()
        let source = try store.disk.open(paths[1], .read)
        let header = LogFormat.segmentHeaderBytes
        let bytes = try source.read(count: 4_096, at: header)
        let target = try store.disk.open(paths[0], .write)
        try target.write(bytes, at: header)
        #expect(thrownError { try SealedStore.readAll(store, expecting: sealed.commits) }?.code == .badChecksum)
        // A whole segment in the place of another.
        let other = sealed.store.copy()
        try other.disk.remove(paths[0])
        try other.disk.rename(paths[1], to: paths[0])
        #expect(thrownError { _ = try other.reader() }?.code == .brokenSequence)
    }
}
