import Foundation
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

/// The ways in which a store can be damaged: the rows of the recovery table (docs/format.md §10), and files that are
/// gone, strange or wrong in another place.
struct DamageWay: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What a command calls it that meets it; empty for what is no damage.
    let codes: [String]
    let whole: @Sendable () throws -> StoreFixture
    let damage: @Sendable (StoreFixture) throws -> Void

    init(
        _ name: String, _ codes: String..., of whole: @escaping @Sendable () throws -> StoreFixture = { try .pieces() },
        damage: @escaping @Sendable (StoreFixture) throws -> Void
    ) {
        (testDescription, self.codes, self.whole, self.damage) = (name, codes, whole, damage)
    }

    /// The codes are those of the error, or of what it says is the cause.
    static let all: [DamageWay] = recoveryTable + files + sealedFiles + lostEnds

    static let recoveryTable: [DamageWay] = [
        DamageWay("the end") { _ in },
        DamageWay("zeros in the place of a seal", "unsealedSegment") { fixture in
            let seal = try fixture.bytes(ofSegment: 1).count - 64
            try fixture.overwrite(try fixture.segments()[1], at: seal, with: [UInt8](repeating: 0, count: 64))
        },
        DamageWay("zeros behind the end, and something behind them") { fixture in
            try fixture.appendBytes([UInt8](repeating: 0, count: 200) + [1, 2, 3], to: try fixture.newest())
        },
        DamageWay("an unfinished frame behind the end") { fixture in
            try fixture.addUnfinishedTail()
        },
        DamageWay("zeros in the place of a synced commit", "brokenSequence") { fixture in
            let place = try fixture.place(of: fixture.middle(ofSegment: 3))
            try fixture.overwrite(place.path, at: place.range.lowerBound, with: zeros(place.range.count))
        },
        DamageWay("a wrong byte in a synced commit", "badChecksum") { fixture in
            let place = try fixture.place(of: fixture.middle(ofSegment: 3))
            try fixture.change(place.path, at: place.range.lowerBound + 100) { $0 ^ 0x10 }
        },
        DamageWay("zeros in a closed segment", "brokenSequence") { fixture in
            let place = try fixture.place(of: fixture.middle(ofSegment: 1))
            try fixture.overwrite(place.path, at: place.range.lowerBound, with: zeros(place.range.count))
        },
        DamageWay("a wrong byte in a closed segment", "badChecksum") { fixture in
            try fixture.flipByte(inSegment: 1)
        },
        DamageWay("a frame that cannot come next", "brokenSequence", "brokenChain") { fixture in
            // Its number is another one, and its checksum right.
            try fixture.changeHeader(ofCommit: fixture.middle(ofSegment: 1), at: 8) { $0 &+ 40 }
        },
        DamageWay("a frame of an unknown kind", "newerFormat") { fixture in
            try fixture.changeHeader(ofCommit: fixture.middle(ofSegment: 1), at: 4) { _ in 77 }
        },
        DamageWay("something behind a seal", "unsealedSegment", "brokenSequence", "impossibleLength") { fixture in
            try fixture.appendBytes([0, 0, 0, 0, 0, 0, 0, 7], to: try fixture.segments()[1])
        },
    ]

    static let files: [DamageWay] = [
        DamageWay("STORE with a wrong byte", "badChecksum") { fixture in
            try fixture.change(fixture.path + "/STORE", at: 20) { ~$0 }
        },
        DamageWay("STORE of a later version", "newerFormat") { fixture in
            try fixture.makeNewer(fixture.path + "/STORE")
        },
        DamageWay("a segment's header with a wrong byte", "badChecksum") { fixture in
            try fixture.change(try fixture.segments()[1], at: 30) { ~$0 }
        },
        DamageWay("a segment that is missing", "missingSegment") { fixture in
            try RealFileSystem().remove(try fixture.segments()[1])
        },
        DamageWay("a segment of another store", "foreignSegment") { fixture in
            let other = try StoreFixture.pieces(seed: 2)
            let segment = try fixture.segments()[1]
            try RealFileSystem().remove(segment)
            try RealFileSystem().rename(try other.segments()[1], to: segment)
        },
        DamageWay("a base with a wrong byte", "badChecksum", of: { try .based() }) { fixture in
            try fixture.change("\(fixture.path)/log/00000000000000000002.base", at: 150) { ~$0 }
        },
        DamageWay("a base that is missing", "missingSegment", "notFound", "outOfRange", of: { try .based() }) {
            fixture in
            try RealFileSystem().remove("\(fixture.path)/log/00000000000000000002.base")
        },
    ]

    static let sealedFiles: [DamageWay] = [
        DamageWay("a sealed store", of: { try .sealed() }) { _ in },
        DamageWay("a sealed block with a wrong byte", "badChecksum", "malformed", of: { try .sealed() }) { fixture in
            let place = try fixture.place(of: fixture.middle(ofSegment: 1))
            try fixture.change(place.path, at: place.range.lowerBound + 200) { $0 ^ 0x10 }
        },
        DamageWay(
            "a footer with a wrong byte", "badChecksum", "malformed", "wrongMagic", "unsealedSegment",
            of: { try .sealed() }
        ) { fixture in
            let size = try fixture.bytes(ofSegment: 1).count
            try fixture.change(try fixture.segments()[1], at: size - 20) { $0 ^ 0x10 }
        },
    ]

    /// What is left is a log without a fault: only what stands beside it tells that it was longer.
    static let lostEnds: [DamageWay] = [
        DamageWay("the newest segment is missing", "missingSegment") { fixture in
            try RealFileSystem().remove(try fixture.newest())
        },
        DamageWay("the last two segments are missing", "missingSegment") { fixture in
            for path in try fixture.segments().suffix(2) { try RealFileSystem().remove(path) }
        },
        DamageWay("the newest segment ends in front of a commit", "missingSegment") { fixture in
            let place = try fixture.place(of: fixture.middle(ofSegment: 3))
            let file = try RealFileSystem().open(place.path, .write)
            defer { file.close() }
            try file.truncate(to: place.range.lowerBound)
        },
        DamageWay("zeros in the newest segment from a commit on", "missingSegment") { fixture in
            let place = try fixture.place(of: fixture.middle(ofSegment: 3))
            let count = try fixture.bytes(ofSegment: 3).count - place.range.lowerBound
            try fixture.overwrite(place.path, at: place.range.lowerBound, with: zeros(count))
        },
        DamageWay("a sealed store without its newest segment", "missingSegment", of: { try .sealed() }) { fixture in
            try RealFileSystem().remove(try fixture.newest())
        },
    ]

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}

extension StoreFixture {
    /// A closed store of four segments with few commits.
    static func pieces(seed: UInt64 = 1) throws -> StoreFixture {
        let fixture = try StoreFixture(segmentBytes: 64 << 10, seed: seed)
        try fixture.internNames(drawsSecret: true)
        try fixture.saveNotes(36, noise: 6_000)
        try fixture.close()
        return fixture
    }

    /// The same whose closed segments are sealed.
    static func sealed() throws -> StoreFixture {
        let fixture = try StoreFixture.pieces()
        try fixture.open(segmentBytes: 64 << 10)
        try fixture.sealAll()
        try fixture.close()
        return fixture
    }

    /// A small store with a base in the place of two commits.
    static func based() throws -> StoreFixture {
        let fixture = try StoreFixture.small(drawsSecret: true)
        let store = try Store.open(at: fixture.path, options: .service)
        _ = try store.compact(before: 3)
        try store.close()
        // Closing writes what opening had to fold.
        try FileManager.default.removeItem(atPath: fixture.path + "/views")
        return fixture
    }

    /// Has views made. The log stays what it was: whoever opens a store begins to seal its closed segments, and
    /// how far that comes is chance.
    func makeViews() throws {
        let files = FileManager.default
        let kept = directory.path("kept")
        try files.copyItem(atPath: path + "/log", toPath: kept)
        let result = try run("rebuild-views", name, "--apply")
        #expect(result.code == 0, "\(result)")
        try files.removeItem(atPath: path + "/log")
        try files.moveItem(atPath: kept, toPath: path + "/log")
    }

    func newest() throws -> String { try #require(try segments().last) }

    func bytes(ofSegment index: Int) throws -> [UInt8] {
        try RealFileSystem().readAll(try segments()[index], atMost: 1 << 30)
    }

    func overwrite(_ path: String, at position: Int, with bytes: [UInt8]) throws {
        let file = try RealFileSystem().open(path, .write)
        defer { file.close() }
        try file.write(bytes, at: position)
    }

    /// A commit that has others of its segment in front of it and behind it.
    func middle(ofSegment index: Int) throws -> UInt64 {
        let segment = try LogReader.open(at: path).segments[index]
        let last = try #require(segment.lastOffset)
        #expect(last > segment.firstOffset + 4)
        return (segment.firstOffset + last) / 2
    }

    func place(of offset: UInt64) throws -> CommitPlace {
        let place = try LogReader.open(at: path).place(of: offset)
        return try #require(place)
    }

    /// Changes a byte of a frame's header, and corrects the checksum.
    func changeHeader(ofCommit offset: UInt64, at byte: Int, _ body: (UInt8) -> UInt8) throws {
        let place = try place(of: offset)
        let bytes = try RealFileSystem().readAll(place.path, atMost: 1 << 30)
        let salt = try SegmentHeader(decoding: Array(bytes.prefix(LogFormat.segmentHeaderBytes)), path: place.path).salt
        let position = place.range.lowerBound
        var header = Array(bytes[position..<position + LogFormat.frameHeaderBytes])
        header[byte] = body(header[byte])
        let sum = header.withUnsafeBytes { FrameHeader.checksum($0, salt: salt, position: position) }
        for index in 0..<4 { header[60 + index] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * index)) }
        try overwrite(place.path, at: position, with: header)
    }
}
