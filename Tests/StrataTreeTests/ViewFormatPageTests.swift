import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

@Suite("docs/format-views.md says what the code does")
struct ViewFormatPageTests {
    private let page: FormatPage

    init() throws { page = try FormatPage(named: "format-views.md") }

    private func places(_ section: Int) throws -> [Int] {
        try page.table(0, ofSection: section).map { try #require(Int($0[0])) }
    }

    @Test("§2 The header of a page")
    func pages() throws {
        #expect(
            try places(2) == [
                PageLayout.checksum, PageLayout.number, PageLayout.birth, PageLayout.kind, PageLayout.level,
                PageLayout.count, PageLayout.heapStart, PageLayout.prefixBytes, PageLayout.garbageBytes, 26,
            ])
        let rows = page.table(0, ofSection: 2)
        #expect(rows[9][1] == "\(PageLayout.headerBytes - 26)")
        let kinds = [PageKind.leaf, .branch, .overflow, .record].map { "\($0.rawValue) \($0)" }
        #expect(rows[3][2] == "kind: " + kinds.joined(separator: ", "))
        #expect(page.section(1).contains { $0.contains("pages of \(PageLayout.pageBytes) bytes") })
    }

    @Test("§3 and §4 Slots of leaves and branches, §5 overflow")
    func slots() throws {
        func sum(_ section: Int) -> Int { page.table(0, ofSection: section).reduce(0) { $0 + (Int($1[1]) ?? 0) } }
        #expect(sum(3) == PageLayout.leafSlotBytes && sum(4) == PageLayout.branchSlotBytes)
        #expect(page.section(3).first { !$0.isEmpty } == "A slot has \(PageLayout.leafSlotBytes) bytes:")
        #expect(page.section(4).first { !$0.isEmpty } == "A slot has \(PageLayout.branchSlotBytes) bytes:")
        let overflow = page.section(5).joined()
        #expect(overflow.contains("more than \(PageLayout.maximumInlineBytes) bytes"))
        #expect(overflow.contains("\(PageLayout.overflowBytesPerPage) bytes in each"))
    }

    @Test("§6 The header slots")
    func header() throws {
        #expect(
            try places(6) == [
                0, ViewFormat.versionPlace, ViewFormat.pageBytesPlace, ViewFormat.checksumPlace,
                ViewFormat.sequencePlace, ViewFormat.epochPlace, ViewFormat.storePlace, ViewFormat.offsetPlace,
                ViewFormat.chainPlace, ViewFormat.pageCountPlace, ViewFormat.timePlace, ViewFormat.recordFirstPlace,
                ViewFormat.recordPagesPlace, ViewFormat.recordBytesPlace, ViewFormat.recordChecksumPlace,
                ViewFormat.headerEnd,
            ])
        let header = CheckpointHeader(
            sequence: 0x11, epoch: 0x22, store: Identifier(high: 0x33, low: 0x44),
            position: Position(offset: 0x55, chain: 0x66), pageCount: 0x77, time: 0x88,
            record: RecordPlace(run: PageRun(first: 0x20, count: 1), byteCount: 0x99, checksum: 0xAA))
        let bytes = header.encoded()
        #expect(try CheckpointHeader.decode(bytes) == header)
        #expect(String(decoding: bytes[..<8], as: UTF8.self) == ViewFormat.magic)
        let expected: [(Int, UInt8)] = [
            (16, 0x11), (24, 0x22), (39, 0x33), (47, 0x44), (48, 0x55), (56, 0x66), (60, 0x77), (64, 0x88), (72, 0x20),
            (76, 1), (80, 0x99), (84, 0xAA),
        ]
        for (place, value) in expected { #expect(bytes[place] == value, "\(place)") }
        #expect(bytes[ViewFormat.headerEnd...].allSatisfy { $0 == 0 } && bytes.count == PageLayout.pageBytes)
        let rows = page.table(0, ofSection: 6)
        #expect(rows[0][2] == "magic: `\(ViewFormat.magic)`")
        #expect(rows[1][2] == "format version: \(ViewFormat.version)")
    }

    @Test("§7 The lists of a record, §8 the slots of `readers`")
    func records() throws {
        let rows = page.table(0, ofSection: 7)
        #expect(
            rows.map { Int($0[1]) } == [
                ViewFormat.treeBytes, ViewFormat.runBytes, ViewFormat.retiredListBytes, ViewFormat.keptBytes, 1,
            ])
        #expect(rows[2][2].contains("\(ViewFormat.singleBytes) bytes each"))
        #expect(rows[2][2].contains("\(ViewFormat.runBytes) bytes each"))
        #expect(page.table(0, ofSection: 8).reduce(0) { $0 + (Int($1[1]) ?? 0) } == ViewFormat.readerSlotBytes)
        #expect(page.section(8).joined().contains("slots of \(ViewFormat.readerSlotBytes) bytes"))
    }

    @Test("§9 What can be found")
    func findings() throws {
        let named = page.table(0, ofSection: 9).map { row in String(row[0].prefix { $0 != "," && $0 != ":" }) }
        let names = PageFileFinding.allCases.filter { $0 != .whole && $0 != .otherSlot }.map(\.rawValue)
        #expect(named.map { $0 == "in use" ? "inUse" : $0 } == names)
    }

    @Test("§13 Limits, §14 versions")
    func limits() throws {
        let rows = page.table(0, ofSection: 13)
        let limits = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1].filter { $0 != "," }) })
        #expect(limits["key"] == "1…\(PageLayout.maximumKeyBytes) bytes")
        #expect(limits["value"] == "1 GiB (\(PageLayout.maximumValueBytes) bytes)")
        #expect(limits["value inside a leaf"] == "\(PageLayout.maximumInlineBytes) bytes")
        #expect(limits["opaque bytes of a checkpoint"] == "1 MiB (\(ViewFormat.maximumOpaqueBytes) bytes)")
        #expect(limits["level of a root"] == "\(ViewFormat.maximumLevel)")
        #expect(limits["kept checkpoints"] == "\(ViewFormat.maximumKept)")
        #expect(limits["slots of `readers`"] == "\(ViewFormat.readerSlots)")
        #expect(page.table(0, ofSection: 14).map { $0[0] } == (1...ViewFormat.version).map { "\($0)" })
    }
}
