import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// Files whose checksums are right, but not what they say.
@Suite("Forged runs", .timeLimit(.minutes(1)))
struct ForgedRunTests {
    private static let (a, b, m, y, z) = ([0x61], [0x62], [0x6D], [0x79], [0x7A]) as BytesOf5
    private typealias BytesOf5 = ([UInt8], [UInt8], [UInt8], [UInt8], [UInt8])

    private let disk = SimulatedDisk()
    private var options: TreeStoreOptions {
        var options = TreeStoreOptions()
        options.frameBytes = 256
        return options
    }

    /// Writes a state of two frames with an entry each.
    private func write(_ first: [UInt8], _ second: [UInt8]) throws {
        try disk.makeDirectory(StateStory.path)
        let store = try StateStory.open(disk, options).store
        let fork = try store.fork()
        for key in [first, second] { try fork.put(StateStory.id, key, bytes(150, of: 1)) }
        try store.publish(fork)
        try store.flushAll(at: 1)
    }

    /// Replaces the key of the second frame, and its fence if asked to.
    private func forge(_ key: [UInt8], by other: [UInt8], withFence: Bool = false) throws {
        try forge { run in
            run[try #require(run.content[516..<768].lastIndex(of: key[0]))] = other[0]
            run.sealFrame(2)
            guard withFence else { return }
            run[try #require(run.content[run.fences].lastIndex(of: key[0]))] = other[0]
            run.sealFences()
        }
    }

    private func forge(_ change: (inout ForgedRun) throws -> Void) throws {
        let path = try #require(disk.paths.first { $0.hasSuffix(".run") })
        var run = try ForgedRun(try disk.content(of: path), frameBytes: options.frameBytes)
        try change(&run)
        disk.setContent(run.content, of: path)
    }

    @Test("A layout that leads outside of a frame is an error with its place")
    func layout() throws {
        try write(Self.a, Self.z)
        let path = try #require(disk.paths.first { $0.hasSuffix(".run") })
        try forge { run in
            let slot = 512 + RunFormat.frameHeaderBytes + Int(run[512 + RunFormat.prefixBytesPlace])
            (run[slot], run[slot + 1]) = (0xFF, 0xFF)
            run.sealFrame(2)
        }
        let snapshot = try StateStory.open(disk, options).store.snapshot()
        let error = #expect(throws: StrataError.self) { try snapshot.entries(StateStory.id) }
        #expect(error?.context.path == path && error?.context.position == 512 && error?.context.page == 0)
    }

    private func snapshot(deleting lower: [UInt8], to upper: [UInt8]?) throws -> Snapshot {
        let store = try StateStory.open(disk, options).store
        let fork = try store.fork()
        try fork.deleteKeys(StateStory.id, from: lower, to: upper)
        return try store.publish(fork)
    }

    private func keys(of snapshot: Snapshot, forward: Bool) throws -> [[UInt8]] {
        let cursor = snapshot.cursor(StateStory.id)
        var keys: [[UInt8]] = []
        var isThere = try forward ? cursor.seekFirst() : cursor.seekLast()
        while isThere, keys.count < 10 {
            try cursor.withEntry { key, _ in keys.append([UInt8](key)) }
            isThere = try forward ? cursor.next() : cursor.previous()
        }
        return keys
    }

    @Test("Keys out of order below a deleted range are an error, and no circle", arguments: [true, false])
    func circle(isForged: Bool) throws {
        try write(Self.a, Self.z)
        if isForged { try forge(Self.z, by: Self.b) }
        let snapshot = try snapshot(deleting: Self.a, to: Self.m)
        if isForged {
            #expect(throws: StrataError.self) { try keys(of: snapshot, forward: true) }
        } else {
            #expect(try keys(of: snapshot, forward: true) == [Self.z])
        }
    }

    @Test("So they are backward", arguments: [true, false])
    func circleBackward(isForged: Bool) throws {
        try write(Self.a, Self.b)
        if isForged { try forge(Self.b, by: Self.y) }
        let snapshot = try snapshot(deleting: isForged ? Self.m : Self.b, to: nil)
        if isForged {
            #expect(throws: StrataError.self) { try keys(of: snapshot, forward: false) }
        } else {
            #expect(try keys(of: snapshot, forward: false) == [Self.a])
        }
    }

    @Test("A check compares a frame with the one before it", arguments: [false, true])
    func frameOrder(isForged: Bool) throws {
        try write(Self.m, Self.z)
        if isForged { try forge(Self.z, by: Self.b, withFence: true) }
        let states = try CheckedStates.open(in: StateStory.path, TreeTrial.owner, files: disk) { _ in true }
        let checked = try #require(states).checkFrames(limit: 10)
        #expect(checked.count == 2)
        // The hash finds the forged key neither, but each frame has one error.
        #expect(checked.damage.map { $0.context.found?.contains("out of order") } == (isForged ? [true] : []))
    }

    @Test("A check looks each key up in the hash", arguments: [false, true])
    func forgottenKey(isForged: Bool) throws {
        try write(Self.a, Self.b)
        if isForged { try forge { try $0.forgetHash() } }
        let states = try CheckedStates.open(in: StateStory.path, TreeTrial.owner, files: disk) { _ in true }
        let damage = try #require(states).checkFrames(limit: 10).damage
        #expect(damage.map { $0.context.found?.contains("hash lacks") } == (isForged ? [true] : []))
    }

    private func decodes(_ footer: PieceFooter) -> Bool {
        footer.encoded().withUnsafeBytes { (try? PieceFooter(decoding: $0)) != nil }
    }

    @Test("Counts in a footer are bounded by its frames", arguments: [0, 1] as [UInt64])
    func footer(excess: UInt64) throws {
        var footer = PieceFooter()
        footer.trees = [PieceTree(id: StateStory.id, isHashed: false, entries: 2 * 1_024 + excess, firstFrame: 1)]
        (footer.hashFrame, footer.fencesFrame) = (3, 3)
        #expect(decodes(footer) == (excess == 0))
        footer.trees[0].entries = 5
        footer.blobs = (0..<5 + excess).map { BlobUse(file: $0, byteCount: 8) }
        #expect(decodes(footer) == (excess == 0))
        footer.trees[0].entries = 6
        footer.blobs = (0..<4).map { BlobUse(file: $0, byteCount: 1 << 40) }
        footer.blobs.append(BlobUse(file: 4, byteCount: Int(excess)))
        #expect(decodes(footer) == (excess == 0))
    }

    @Test("So are the bytes that a state names", arguments: [0, 1])
    func state(excess: Int) throws {
        try write(Self.a, Self.b)
        let path = try #require(disk.paths.first { $0.contains("/state-") })
        var state = try StateFile.decode(disk.content(of: path))
        state.runs = []
        state.blobs = (0..<1 << 16).map { BlobDescriptor(number: $0, byteCount: 1 << 40) }
        state.blobs.append(BlobDescriptor(number: 1 << 16, byteCount: excess))
        #expect(((try? StateFile.decode(state.encoded())) != nil) == (excess == 0))
    }

    @Test("A frame has at most 1,024 entries", arguments: [1_024, 1_025])
    func frame(count: Int) {
        var frame = [UInt8](repeating: 0, count: 4_096)
        (frame[4], frame[5]) = (UInt8(count & 255), UInt8(count >> 8))
        // All are the same empty entry.
        for slot in 0..<count { frame[13 + 2 * slot] = 0x0F }
        #expect(frame.withUnsafeBytes { FrameTrial.run($0) } == (count == 1_024))
    }
}
