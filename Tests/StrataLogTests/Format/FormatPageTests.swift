import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("docs/format.md says what the code does: files, headers and frames")
struct FormatPageTests {
    private let page: FormatPage

    init() throws { page = try formatPage() }

    @Test("§2 The prelude of every header block")
    func prelude() {
        let rows = page.table(0, ofSection: 2)
        #expect(
            rows.map { Array($0.prefix(2)) } == [["0", "8"], ["8", "2"], ["10", "2"], ["12", "4"], ["16", ""]])
        for magic in [
            LogFormat.storeMagic, LogFormat.segmentMagic, LogFormat.floorMagic, LogFormat.tailMagic,
            LogFormat.baseMagic, LogFormat.erasingMagic,
        ] {
            #expect(rows[0][2].contains("`\(magic)`") && magic.utf8.count == 8)
        }
        #expect(rows[1][2] == "format version: \(LogFormat.version)")
        #expect(rows[2][2].hasSuffix("\(LogFormat.headerBlockPreludeBytes)…\(LogFormat.headerBlockMaximumBytes)"))
    }

    @Test("§2 The fields of each block")
    func headerFields() throws {
        let store = TinyStore()
        let log = try store.open()
        var sequence = CommitSequence(seed: 1, noise: 1)
        for commit in sequence.next(12, events: 2, bytesPerEvent: 4_000) {
            _ = try log.append([commit], expecting: log.end)
        }
        var payloads: ArraySlice<[UInt8]> = [[1]]
        try log.adopt(try log.writeBase(at: log.end.offset) { payloads.popFirst()?[...] })
        try log.beginErasure()
        let blocks = [
            "ERASING": store.log + "/ERASING", "STORE": store.path + "/STORE", "segment": store.segments[0],
            "FLOOR": store.log + "/FLOOR",
            "base": store.log + "/" + LogFormat.baseName(log.end.offset),
        ]
        var documented: [String: [[UInt64]]] = [:]
        for row in page.table(1, ofSection: 2) {
            let block = row[0].filter { $0 != "`" }
            // A field of variable size has the length of what this store has there.
            let size = row[2].contains("…") ? UInt64(log.identity.containerIdentifier.utf8.count) : UInt64(row[2])
            documented[block, default: []].append([try #require(UInt64(row[1])), try #require(size)])
        }
        var contents = try blocks.mapValues { try store.disk.content(of: $0) }
        // Only real files have one.
        let real = try RealStore()
        try real.open().close()
        contents["tail"] = try real.page()
        #expect(Set(documented.keys) == Set(contents.keys))
        for (block, bytes) in contents { #expect(Self.fields(of: bytes) == documented[block], "\(block)") }
    }

    /// Tags and lengths, read as the page says.
    private static func fields(of bytes: [UInt8]) -> [[UInt64]] {
        var fields: [[UInt64]] = []
        var position = 16
        let size = Int(SeenFrame.number(bytes, at: 10, bytes: 2))
        while position + 4 <= size {
            let tag = SeenFrame.number(bytes, at: position, bytes: 2)
            let length = SeenFrame.number(bytes, at: position + 2, bytes: 2)
            if tag == 0 { break }
            fields.append([tag, length])
            position += 4 + (Int(length) + 3) / 4 * 4
        }
        return fields
    }

    @Test("§4 The fields of a frame's header")
    func frameFields() throws {
        let header = FrameHeader(
            kind: .part, codec: .lz4, offset: 0x1112_1314_1516_1718,
            id: Identifier(high: 0x2122_2324_2526_2728, low: 0x292A_2B2C_2D2E_2F30), time: 0x3132_3334_3536_3738,
            rawLength: 0x4142_4344, storedLength: 0x5152_5354, chain: 0x6162_6364, undurable: 0x7172_7374,
            bodyChecksum: 0x8182_8384)
        var bytes = [UInt8](repeating: 0xFF, count: 64)
        bytes.withUnsafeMutableBytes { header.encode(into: $0, salt: 5, position: 128) }
        let covered = littleEndian(UInt32(5)) + littleEndian(UInt64(128)) + Array(bytes[..<60])
        let expected: [String: [UInt8]] = [
            "magic": Array("StFr".utf8), "kind": [2], "codec": [1], "flags": [0, 0],
            "offset": littleEndian(header.offset), "time": littleEndian(header.time),
            "commit id": Array(0x21...0x30), "raw length": littleEndian(header.rawLength),
            "stored length": littleEndian(header.storedLength), "chain": littleEndian(header.chain),
            "undurable": littleEndian(header.undurable), "body checksum": littleEndian(header.bodyChecksum),
            "header checksum": littleEndian(ReferenceChain.checksum(covered)),
        ]
        let rows = page.table(0, ofSection: 4)
        #expect(rows.count == expected.count)
        var position = 0
        for row in rows {
            let (place, size) = (try #require(Int(row[0])), try #require(Int(row[1])))
            #expect(place == position, "\(row)")
            #expect(Array(bytes[place..<place + size]) == expected[row[2]], "\(row[2])")
            position += size
        }
        #expect(position == LogFormat.frameHeaderBytes)
    }

    @Test("§25 The fields of a block's header, and its kinds")
    func blockFields() throws {
        var header = BlockHeader(kind: .changes)
        header.codec = .lz4
        header.first = 0x1112_1314_1516_1718
        (header.count, header.rawLength, header.storedLength) = (0x2122_2324, 0x0042_4344, 0x0032_3334)
        (header.chain, header.time) = (0x5152_5354, 0x6162_6364_6566_6768)
        header.bodyChecksum = 0x7172_7374
        var bytes = [UInt8](repeating: 0xFF, count: BlockHeader.byteCount)
        bytes.withUnsafeMutableBytes { header.encode(into: $0, salt: 5, position: 128) }
        let covered = littleEndian(UInt32(5)) + littleEndian(UInt64(128)) + Array(bytes[..<44])
        let expected: [String: [UInt8]] = [
            "magic": Array("StBk".utf8), "kind": [2], "codec": [1], "flags": [0, 0],
            "first": littleEndian(header.first), "count": littleEndian(header.count),
            "raw length": littleEndian(header.rawLength), "stored length": littleEndian(header.storedLength),
            "chain": littleEndian(header.chain), "time": littleEndian(header.time),
            "body checksum": littleEndian(header.bodyChecksum),
            "header checksum": littleEndian(ReferenceChain.checksum(covered)),
        ]
        let rows = page.table(0, ofSection: 25)
        #expect(rows.count == expected.count)
        var position = 0
        for row in rows {
            let (place, size) = (try #require(Int(row[0])), try #require(Int(row[1])))
            #expect(place == position, "\(row)")
            #expect(Array(bytes[place..<place + size]) == expected[row[2]], "\(row[2])")
            position += size
        }
        #expect(position == BlockHeader.byteCount)
        let kinds = BlockHeader.Kind.allCases.map { "\($0.rawValue) \($0)" }.joined(separator: ", ")
        #expect(rows[1][3] == kinds)
        let decoded = try bytes.withUnsafeBytes { try BlockHeader(decoding: $0, salt: 5, position: 128) }
        #expect(decoded == header)
    }

    @Test("§4 Kinds and codecs")
    func kinds() {
        let rows = page.table(0, ofSection: 4)
        let kinds = FrameHeader.Kind.allCases.map { "\($0.rawValue) \($0)" }.joined(separator: ", ")
        #expect(rows[1][3] == kinds)
        #expect(FrameHeader.Codec.allCases.map(\.rawValue) == [0, 1])
        #expect(rows[2][3].hasPrefix("0 the body is stored as it is, 1 it is one block of the LZ4 block format"))
    }

    @Test("§3 and §14 Sizes and limits")
    func limits() throws {
        let rows = page.table(0, ofSection: 14)
        let limits = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1].filter { $0 != "," }) })
        #expect(limits["payload of one commit"] == "64 MiB (\(LogFormat.maximumCommitBytes) bytes)")
        #expect(limits["raw bytes in one frame"] == "4 MiB (\(LogFormat.maximumPieceBytes) bytes)")
        let sizes = "64 KiB … 1 GiB (\(LogFormat.maximumSegmentBytes) bytes) 64 MiB by default"
        #expect(limits["segment size, an option"] == sizes)
        #expect(LogFormat.minimumSegmentBytes == 64 << 10 && LogOptions().segmentBytes == 64 << 20)
        #expect(limits["container identifier"] == "\(LogFormat.containerIdentifierMaximumBytes) bytes")
        let segments = page.section(3).joined(separator: "\n")
        #expect(segments.contains("a header block of \(LogFormat.segmentHeaderBytes) bytes"))
        #expect(LogFormat.segmentName(4_711) == "00000000000000004711.seg")
        #expect(page.section(1).contains { $0.contains("log/00000000000000004711.seg") })
    }

    @Test("§26 Where the parts of the hint page are")
    func hintPage() throws {
        let rows = page.table(0, ofSection: 26).map { Array($0.prefix(2)) }
        let place = TailHint.Place.self
        #expect(
            rows == [
                ["0", "at most \(place.block.count)"], ["\(place.news)", "4"], ["\(place.isAwaited)", "4"], ["", ""],
            ])
        #expect(page.section(26).contains { $0.contains("a file of 4,096 bytes") } && SharedPage.byteCount == 4_096)
    }

    @Test("§15 The version")
    func version() throws {
        let rows = page.table(0, ofSection: 15)
        #expect(rows.map { $0[0] } == (1...LogFormat.version).map { "\($0)" })
    }

    @Test("§9 The worked example is what the code writes; STRATA_UPDATE_DOCS=1 puts it there")
    func example() throws {
        let text = try FormatExample().markdown()
        #expect(try FormatExample().markdown() == text)
        let expected = "\(FormatExample.begin)\n\(text)\(FormatExample.end)"
        let files = RealFileSystem()
        let content = String(decoding: try files.readAll(formatPagePath, atMost: 1 << 20), as: UTF8.self)
        if getenv("STRATA_UPDATE_DOCS") != nil {
            let before = content.part(upTo: FormatExample.begin)
            let after = content.part(after: FormatExample.end)
            let updated = before + expected + after
            let folder = String(formatPagePath.dropLast("/format.md".count))
            return try files.replace(formatPagePath, in: folder, with: Array(updated.utf8))
        }
        let between = content.part(after: FormatExample.begin).part(upTo: FormatExample.end)
        #expect(FormatExample.begin + between + FormatExample.end == expected)
    }
}

extension String {
    fileprivate func part(upTo mark: String) -> String {
        self.ranges(of: mark).first.map { String(self[..<$0.lowerBound]) } ?? self
    }

    fileprivate func part(after mark: String) -> String {
        self.ranges(of: mark).first.map { String(self[$0.upperBound...]) } ?? ""
    }
}
