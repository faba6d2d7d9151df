import StrataModel
import StrataSystem
import TestSupport

@testable import StrataLog

/// Stores with segments of a few hundred bytes, which no writer makes: small enough to damage every byte of them.
struct StoreForge {
    enum Ending { case open, mark, seal }

    let store: TinyStore
    private(set) var commits: [Commit] = []
    private let storeID: Identifier
    private let random: SeededRandom
    private var end = Position.start
    private var time = Int64.min

    init(seed: UInt64 = 1, disk: SimulatedDisk = SimulatedDisk()) throws {
        store = TinyStore(disk, seed: seed)
        random = SeededRandom(seed: seed &+ 500)
        storeID = random.nextIdentifier()
        let identity = try StoreIdentity(storeID: storeID, containerIdentifier: "iCloud.forged", created: 1)
        disk.setContent(identity.encoded(), of: store.path + "/STORE")
    }

    /// Adds a segment behind the last. Each batch was synced before the next was written.
    mutating func addSegment(_ batches: [[NewCommit]], _ ending: Ending, zeros: Int = 0) throws {
        let (header, headerBytes) = try SegmentHeader.make(
            storeID: storeID, segmentID: random.nextIdentifier(), after: end, timeBefore: time)
        var assembler = FrameAssembler()
        for batch in batches {
            let place = FrameAssembler.Place(
                salt: header.salt, position: header.byteCount, durableOffset: end.offset)
            for commit in batch {
                let chain = assembler.add(commit, after: end, at: place)
                end = Position(offset: end.offset + 1, chain: chain)
                time = commit.time
                commits.append(
                    Commit(
                        offset: end.offset, id: commit.id, time: commit.time, chain: chain, payload: commit.payload))
            }
        }
        let place = FrameAssembler.Place(salt: header.salt, position: header.byteCount, durableOffset: end.offset)
        switch ending {
        case .open: break
        case .mark: assembler.addClosing(.mark, end: end, time: time, at: place)
        case .seal: assembler.addClosing(.seal, end: end, time: time, at: place)
        }
        store.disk.setContent(
            headerBytes + Array(assembler.bytes) + [UInt8](repeating: 0, count: zeros),
            of: store.segment(header.firstOffset))
    }

    /// Three segments of two to four commits, some compressed, some not; the newest ends as asked.
    static func three(_ ending: Ending = .mark, zeros: Int = 0, seed: UInt64 = 1) throws -> StoreForge {
        var forge = try StoreForge(seed: seed)
        var plain = CommitSequence(seed: seed, noise: 1)
        func batch(_ count: Int, bytes: Int) -> [NewCommit] { plain.next(count, events: 1, bytesPerEvent: bytes) }
        var text = CommitSequence(seed: seed &+ 5, noise: 0)
        func compressible(_ count: Int) -> [NewCommit] {
            text.next(count, events: 3, bytesPerEvent: 90).map { commit in
                var commit = commit
                commit.time = plain.time
                return commit
            }
        }
        try forge.addSegment([batch(1, bytes: 30), batch(2, bytes: 20)], .seal)
        try forge.addSegment([compressible(1), batch(1, bytes: 40)], .seal)
        try forge.addSegment([batch(2, bytes: 24), compressible(1), batch(1, bytes: 50)], ending, zeros: zeros)
        return forge
    }
}

/// A frame as the bytes of a file show it, read from docs/format.md alone.
struct SeenFrame: Equatable {
    var position: Int
    var kind: UInt8
    var codec: UInt8
    var offset: UInt64
    var byteCount: Int
    var range: Range<Int> { position..<position + byteCount }

    /// All frames of a segment that is whole.
    static func all(in bytes: [UInt8]) -> [SeenFrame] {
        var frames: [SeenFrame] = []
        var position = 128
        while position + 64 <= bytes.count, bytes[position..<position + 4].elementsEqual("StFr".utf8) {
            let stored = number(bytes, at: position + 44, bytes: 4)
            let frame = SeenFrame(
                position: position, kind: bytes[position + 4], codec: bytes[position + 5],
                offset: number(bytes, at: position + 8, bytes: 8), byteCount: 64 + (Int(stored) + 7) / 8 * 8)
            frames.append(frame)
            position += frame.byteCount
        }
        return frames
    }

    static func number(_ bytes: [UInt8], at position: Int, bytes count: Int) -> UInt64 {
        bytes[position..<position + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Changes that carry the right checksum, as a bug or another version would make them.
extension SimulatedDisk {
    func patchHeader(_ path: String, at position: Int, with new: [UInt8]) throws {
        var bytes = try content(of: path)
        bytes.replaceSubrange(position..<position + new.count, with: new)
        try setHeaderChecksum(&bytes)
        setContent(bytes, of: path)
    }

    /// Puts a field behind the last one, in the zeros that the block ends with or behind them.
    func addHeaderField(_ path: String, tag: UInt16, value: [UInt8]) throws {
        var bytes = try content(of: path)
        let size = Int(SeenFrame.number(bytes, at: 10, bytes: 2))
        var position = 16
        while position + 4 <= size, SeenFrame.number(bytes, at: position, bytes: 2) != 0 {
            position += 4 + (Int(SeenFrame.number(bytes, at: position + 2, bytes: 2)) + 3) / 4 * 4
        }
        var writer = ByteWriter()
        writer.append(tag)
        writer.append(UInt16(value.count))
        writer.append(bytes: value)
        writer.pad(to: 4)
        let field = writer.bytes
        if position + field.count <= size {
            bytes.replaceSubrange(position..<position + field.count, with: field)
        } else {
            bytes = bytes[..<position] + field
            while bytes.count % 8 != 0 { bytes.append(0) }
            bytes[10] = UInt8(bytes.count & 0xFF)
            bytes[11] = UInt8(bytes.count >> 8)
        }
        try setHeaderChecksum(&bytes)
        setContent(bytes, of: path)
    }

    private func setHeaderChecksum(_ bytes: inout [UInt8]) throws {
        let size = Int(SeenFrame.number(bytes, at: 10, bytes: 2))
        let zero: [UInt8] = [0, 0, 0, 0]
        bytes.replaceSubrange(12..<16, with: zero)
        bytes.replaceSubrange(12..<16, with: littleEndian(ReferenceChain.checksum(Array(bytes[..<size]))))
    }

    /// Changes bytes of a frame's header and makes its checksum fit; `resum` does the same for the body's checksum.
    func patchFrame(_ path: String, _ frame: SeenFrame, at place: Int, with new: [UInt8]) throws {
        var bytes = try content(of: path)
        let start = frame.position
        bytes.replaceSubrange(start + place..<start + place + new.count, with: new)
        if place >= 64 {
            let body = Array(bytes[start + 64..<start + frame.byteCount])
            bytes.replaceSubrange(start + 56..<start + 60, with: littleEndian(ReferenceChain.checksum(body)))
        }
        let covered = Array(bytes[12..<16]) + littleEndian(UInt64(start)) + Array(bytes[start..<start + 60])
        bytes.replaceSubrange(start + 60..<start + 64, with: littleEndian(ReferenceChain.checksum(covered)))
        setContent(bytes, of: path)
    }
}

func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
}
