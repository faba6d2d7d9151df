import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("Sealing keeps the stored bytes of large commits", .timeLimit(.minutes(3)))
struct KeptPayloadTests {
    private static let keptBytes = 16 << 10

    /// A store of one sealed segment with these payloads, and what was appended.
    private static func sealed(_ payloads: [[UInt8]]) throws -> (store: TinyStore, commits: [Commit]) {
        let store = TinyStore(seed: 4)
        var options = TinyStore.options
        (options.segmentBytes, options.firstSegmentBytes) = (1 << 20, 1 << 20)
        let log = try store.open(options)
        var sequence = CommitSequence(seed: 4)
        // The last one has no room in the first segment.
        let commits = (payloads + [sample(1, bytes: 1 << 20, noise: 1)]).map { sequence.next($0) }
        for commit in commits { _ = try log.append([commit], expecting: log.end) }
        while try log.sealNext() {}
        try log.close()
        try check(store.segments.count == 2, "\(store.segments)")
        return (store, expectedCommits(commits))
    }

    private static func sample(_ events: Int, bytes: Int, noise: Double) -> [UInt8] {
        var sample = SamplePayload(seed: UInt64(bytes), zones: [1, 2, 3], noise: noise)
        return sample.next(events: events, bytesPerEvent: bytes)
    }

    /// A payload of exactly this size that does not compress.
    private static func incompressible(_ count: Int) throws -> [UInt8] {
        // An envelope adds a few bytes to its event, depending on its length.
        let payloads = (count - 40...count).lazy.map { sample(1, bytes: $0, noise: 1) }
        return try #require(payloads.first { $0.count == count })
    }

    /// The payload as a frame has it.
    private static func stored(_ payload: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: payload.count) { target, count in
            payload.withUnsafeBytes { payload in
                let target = UnsafeMutableRawBufferPointer(target)
                if let compressed = Pieces.compress(payload, into: target) {
                    count = compressed
                } else {
                    target.copyMemory(from: payload)
                    count = payload.count
                }
            }
        }
    }

    /// The first segment's blocks of commits, with their bodies as they are in the file.
    private static func blocks(_ store: TinyStore) throws -> [(header: BlockHeader, body: [UInt8])] {
        let segment = try #require(try store.reader().sealedSegments.first)
        let content = try store.disk.content(of: store.segment(1))
        return try segment.index.commits.map { entry in
            let header = try content[entry.range].withUnsafeBytes { bytes in
                try BlockHeader(
                    decoding: UnsafeRawBufferPointer(rebasing: bytes[..<BlockHeader.byteCount]),
                    salt: segment.segment.header.salt, position: entry.range.lowerBound)
            }
            let start = entry.range.lowerBound + BlockHeader.byteCount
            return (header, Array(content[start..<start + Int(header.storedLength)]))
        }
    }

    @Test("Byte for byte behind the table, in a block of one; small ones are compressed again, together")
    func kept() throws {
        let (large, hard) = (Self.sample(400, bytes: 250, noise: 0.5), try Self.incompressible(20_000))
        let small = Self.sample(4, bytes: 250, noise: 0.5)
        let (store, commits) = try Self.sealed([small, small, large, small, hard, large, small, small])
        let blocks = try Self.blocks(store)
        #expect(blocks.map(\.header.count) == [2, 1, 1, 1, 1, 2])
        #expect(blocks.map(\.header.codec) == [.lz4, .lz4, .lz4, .stored, .lz4, .lz4])
        for (index, payload) in [(1, large), (3, hard), (4, large)] {
            let (body, stored) = (blocks[index].body, Self.stored(payload))
            // The first literals move behind the table, and their number takes a few bytes more.
            #expect((20...40).contains(body.count - stored.count))
            #expect(body.suffix(stored.count - 600) == stored.suffix(stored.count - 600))
            let tableBytes = 1 + 16 + 4 + (payload.count < 1 << 16 ? 2 : 4)
            #expect(Int(blocks[index].header.rawLength) - payload.count == tableBytes)
        }
        try SealedStore.readAll(store, expecting: commits)
        let segment = Array(commits.dropLast())
        try SealedStore.readSegment(store.segment(1), on: store.disk, expecting: segment)
        let report = store.verify()
        #expect(report.damage == nil && report.commitCount == UInt64(commits.count))
    }

    @Test("From 16 KiB in the frame on, and not a byte less")
    func limit() throws {
        let small = try Self.incompressible(100)
        for (size, counts) in [(Self.keptBytes - 1, [3]), (Self.keptBytes, [1, 1, 1])] {
            let (store, commits) = try Self.sealed([small, Self.incompressible(size), small])
            #expect(try Self.blocks(store).map(\.header.count) == counts.map(UInt32.init))
            try SealedStore.readAll(store, expecting: commits)
        }
    }

    @Test("A commit of parts is compressed again as one")
    func parts() throws {
        let large = Self.sample(20, bytes: 250_000, noise: 0.1)
        #expect(large.count > LogFormat.maximumPieceBytes)
        let store = TinyStore(seed: 4)
        let log = try store.open()
        var sequence = CommitSequence(seed: 4)
        let commits = [sequence.next(large), sequence.next(Self.sample(1, bytes: 70_000, noise: 1))]
        for commit in commits { _ = try log.append([commit], expecting: log.end) }
        #expect(try log.sealNext())
        try log.close()
        let blocks = try Self.blocks(store)
        #expect(blocks.count == 1 && blocks[0].body.count < large.count / 2)
        try SealedStore.readAll(store, expecting: expectedCommits(commits))
    }

    @Test("Damage of a kept payload is found, and named")
    func damage() throws {
        let (store, commits) = try Self.sealed([Self.sample(400, bytes: 250, noise: 0.5)])
        let size = Int(try #require(try Self.blocks(store).first).header.storedLength)
        for place in stride(from: 0, to: size, by: size / 50) {
            let copy = store.copy()
            try copy.disk.flipBit(copy.segment(1), byte: 128 + BlockHeader.byteCount + place, bit: place % 8)
            #expect(copy.verify().damage != nil)
            #expect(thrownError { try SealedStore.readAll(copy, expecting: commits) } != nil)
        }
    }

    @Test("A segment with kept payloads is rewritten like any other")
    func rewritten() throws {
        let (large, small) = (Self.sample(400, bytes: 250, noise: 0.5), Self.sample(4, bytes: 250, noise: 0.5))
        let (store, commits) = try Self.sealed([small, large, small, large])
        let log = try store.open()
        let other = Self.sample(3, bytes: 200, noise: 1)
        try log.rewrite(through: 4, lookup: { _ in nil }) { offset, _ in offset == 2 ? other : nil }
        var expected = commits
        expected[1].payload = other[...]
        #expect(firstDifference(try log.allCommits(), expected) == nil)
        try log.close()
        #expect(store.verify().damage == nil)
    }
}
