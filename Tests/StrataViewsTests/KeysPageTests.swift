import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

@Suite("docs/format-keys.md says what the code does")
struct KeysPageTests {
    private let page: FormatPage

    init() throws { page = try FormatPage(named: "format-keys.md") }

    @Test("§3 The numbers of the trees, and the folded ones")
    func trees() {
        let rows = page.table(0, ofSection: 3).compactMap { row in UInt16(row[0]).map { (row[1], $0) } }
        let maintainers = ViewTree.maintainers.sorted { $0.tree.rawValue < $1.tree.rawValue }
        #expect(!rows.isEmpty && rows.map(\.0) == maintainers.map { $0.name })
        #expect(rows.map(\.1) == maintainers.map { $0.tree.rawValue })
        // Indexes catch up by themselves, and the base says how far assets were pruned.
        let others = [ViewTree.index, ViewTree.indexCatalog, ViewTree.prunedAssets]
        #expect(Set(ViewTree.folded) == Set(maintainers.map { $0.tree }).subtracting(others))
    }

    @Test("Each kind of event of format 1 that changes a tree has a maintainer, and no other kind has one")
    func kinds() {
        let folded: Set<EventKind> = [.recordSaved, .recordDeleted, .recordErased, .baseMarker]
        let reserved: Set<EventKind> = [
            .longLivedOperation, .keyChanged, .continuation,
        ]
        for kind in EventKind.known.map(\.kind) {
            let isMaintained = ViewTree.maintainer(applying: kind) != nil
            let isPlainAudit = kind.isAudit && kind != .notificationDelivered
            #expect(isMaintained == !(isPlainAudit || folded.contains(kind) || reserved.contains(kind)), "\(kind)")
        }
    }

    @Test("§3 Kinds of references are those of the keys")
    func referenceKinds() throws {
        let text = page.section(3).joined(separator: "\n")
        #expect(
            text.contains(
                "Kinds of references: 1 parent, 2 a reference that deletes its record with the target, 3 any other"))
    }

    @Test("§4 A zone's row has the parts that the page lists")
    func zoneRow() throws {
        var row = ZoneRow(
            status: .purged, version: Version(packed: 0x1112_1314_1516_1718),
            incarnation: Version(packed: 0x2122_2324_2526_2728), lastChanged: 0x3132_3334_3536_3738)
        row.capabilities = .init(rawValue: 0x41)
        row.encryptionScope = .zone
        (row.recordCount, row.outwardCount, row.usedBytes) = (0x51, 0x61, 0x62)
        row.recordDigests = Digests(state: 0x71, content: 0x72)
        row.ownDigests = Digests(state: 0x73, content: 0x74)
        var writer = ByteWriter()
        row.encode(into: &writer)
        let sizes = page.table(0, ofSection: 4).flatMap { row in row[0].split(separator: ", ").map(String.init) }
        #expect(sizes == ["1", "8", "8", "8", "varint", "1", "varint", "varint", "varint", "16", "16", "16", "16"])
        let starts = sizes.reduce(into: [0]) { $0.append($0[$0.count - 1] + (Int($1) ?? 1)) }
        #expect(starts.last == writer.bytes.count)
        let firsts = starts.dropLast().map { writer.bytes[$0] }
        #expect(firsts == [3, 0x18, 0x28, 0x38, 0x41, 1, 0x51, 0x61, 0x62, 0x71, 0x72, 0x73, 0x74])
        let decoded = try writer.bytes.withUnsafeBytes { try ZoneRow(decoding: $0) }
        #expect(decoded == row)
        #expect(
            page.table(0, ofSection: 4)[0][1].hasPrefix(
                "1 the zone is there, 2 it was deleted, 3 purged, 4 its encrypted"))
    }

    @Test("§4 A row of a zone that is cut off or has any byte changed gives an error or another row, and never traps")
    func damagedRow() throws {
        var writer = ByteWriter()
        ZoneRow(
            status: .alive, version: Version(packed: 7), incarnation: Version(packed: 7), lastChanged: 1
        ).encode(into: &writer)
        for count in 0..<writer.bytes.count {
            #expect(thrownError { _ = try writer.bytes[..<count].withUnsafeBytes { try ZoneRow(decoding: $0) } } != nil)
        }
        for index in writer.bytes.indices {
            for value in UInt8.min...UInt8.max {
                var bytes = writer.bytes
                bytes[index] = value
                _ = try? bytes.withUnsafeBytes { try ZoneRow(decoding: $0) }
            }
        }
    }
}
