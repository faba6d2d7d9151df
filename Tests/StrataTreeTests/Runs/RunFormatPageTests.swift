import StrataModel
import TestSupport
import Testing

@testable import StrataTree

@Suite("docs/format-runs.md says what the code does")
struct RunFormatPageTests {
    private let page: FormatPage

    init() throws { page = try FormatPage(named: "format-runs.md") }

    private func rows(_ table: Int) throws -> [[Int?]] {
        page.table(table, ofSection: 2).map { $0.prefix(2).map { Int($0) } }
    }

    @Test("§1 Sizes of keys and values")
    func sizes() {
        let text = page.section(1).joined()
        #expect(text.contains("1…\(RunFormat.maximumKeyBytes) bytes"))
        #expect(RunFormat.maximumValueBytes == 1_024 && text.contains("at most 1,024 bytes"))
    }

    @Test("§2 The header")
    func header() throws {
        let places = [
            0, RunFormat.versionPlace, RunFormat.formPlace, RunFormat.checksumPlace, RunFormat.storePlace,
            RunFormat.storePlace + 16, RunFormat.frameBytesPlace,
        ]
        let sizes = zip(places.dropFirst() + [RunFormat.headerEnd], places).map { $0 - $1 }
        #expect(try rows(0) == zip(places, sizes).map { [$0, $1] })
        #expect(page.section(2).joined().contains("`\(RunFormat.magic)`"))
        #expect(RunFormat.frameBytes == 16_384 && RunFormat.version == 1)

        let trial = try RunTrial(frameBytes: 256)
        let descriptor = try trial.run(RunModel()).pieces[0].descriptor
        let bytes = try trial.disk.content(of: trial.path(descriptor.number))
        #expect(Array(bytes[..<12]) == Array(RunFormat.magic.utf8) + [1, 0, 5, 0])
        #expect(
            Array(bytes[16..<44]) == [0, 0, 0, 0, 0, 0, 0x12, 0x34, 0, 0, 0, 0, 0, 0, 0x56, 0x78]
                + [1, 0, 0, 0, 0, 0, 0, 0] + [0, 1, 0, 0])
        #expect(bytes.count % 4_096 == 0 && Array(bytes.suffix(8)) == Array(RunFormat.magic.utf8))
    }

    @Test("§2 Frames of entries")
    func frames() throws {
        let places = [0, RunFormat.countPlace, RunFormat.prefixBytesPlace, RunFormat.treePlace, 10]
        let sizes = zip(places.dropFirst() + [RunFormat.frameHeaderBytes], places).map { $0 - $1 }
        #expect(try rows(1).dropLast() == zip(places, sizes).map { [$0, $1] }[...])
        #expect(try rows(1).last == [RunFormat.frameHeaderBytes, nil])
        let trial = try RunTrial(frameBytes: 256)
        var model = RunModel()
        model.entries[RunKey(tree: RunTrial.sorted, bytes: [7, 8, 9])] = .value([1, 2])
        model.entries[RunKey(tree: RunTrial.sorted, bytes: [7, 8, 10])] = .mark
        let descriptor = try trial.run(model).pieces[0].descriptor
        let bytes = try trial.disk.content(of: trial.path(descriptor.number))[256..<512]
        let entries: [UInt8] = [1, 0, 2, 0, 9, 1, 2] + [1, 0, 0xFF, 0xFF, 10]
        let expected = [2, 0, 2, 0, 3, 0, 0, 0] + [7, 8] + [18, 0, 25, 0] + entries
        #expect(Array(bytes.dropFirst(4).prefix(expected.count)) == expected)
        #expect(bytes.dropFirst(4 + expected.count).allSatisfy { $0 == 0 })
    }

    @Test("§2 The hash of a key, and its bucket")
    func hash() throws {
        let key: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
        let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
        let numbers: [UInt64] = [7 << 32 | 10, 0x0807_0605_0403_0201, 0x0A09, factor]
        let expected = numbers.reduce(0x1234 as UInt64) { hash, number in
            let product = (hash ^ number).multipliedFullWidth(by: factor)
            return product.high ^ product.low
        }
        let found = key.withUnsafeBytes { RunTrial.owner.keyHash.hash(TreeID(rawValue: 7), $0) }
        #expect(found == expected)
        let layout = HashLayout(entries: 8 * 64)
        #expect(layout.buckets == 64 && layout.groups == 2 && layout.byteCount == 8_192)
        #expect(layout.bucket(of: .max) == 63 && layout.bucket(of: 1 << 58) == 1)
        #expect(HashLayout.place(of: 62) == 62 * 64 && HashLayout.place(of: 63) == 4_096)
        #expect(page.section(2).joined().contains("`0x\(String(factor, radix: 16, uppercase: true))`"))
    }
}
