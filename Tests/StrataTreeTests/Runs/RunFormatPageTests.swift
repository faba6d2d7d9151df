import StrataModel
import StrataSystem
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

    @Test("§2 Buckets, and the end of a file")
    func buckets() {
        let text = page.section(2).joined()
        #expect(text.contains("buckets of \(RunFormat.bucketBytes) bytes: ten fingerprints (2 each), ten places"))
        #expect(RunFormat.slotsPerBucket == 10 && RunFormat.bucketPlaces == 20 && RunFormat.passedPlace == 60)
        #expect(text.contains("Every \(RunFormat.bucketsPerGroup) buckets") && RunFormat.groupBytes == 4_096)
        #expect(text.contains("divided by \(RunFormat.bucketLoad), rounded up"))
        #expect(text.contains("The last \(RunFormat.tailBytes) bytes: ") && text.contains("multiples of 4."))
        #expect(text.contains("at most 1,024, belong to one tree") && RunFormat.maximumEntries == 1_024)
        #expect(RunFormat.hashedAlignment == 4)
        #expect(text.contains("2⁴² in all") && RunFormat.maximumBlobBytes == 1 << 42)
        #expect(text.contains("`0xFFFF` denotes a mark") && RunFormat.markLength == 0xFFFF)
        #expect(text.contains("`0xFFFE` a reference of \(RunFormat.blobReferenceBytes) bytes"))
        #expect(RunFormat.blobLength == 0xFFFE)
    }

    @Test("§3 Blob files")
    func blobs() throws {
        let trial = try RunTrial(frameBytes: 256)
        for value in [[1, 2, 3], [4]] as [[UInt8]] { _ = try value.withUnsafeBytes { try trial.blobs.append($0) } }
        try trial.blobs.finish()
        func value(_ bytes: [UInt8]) -> [UInt8] {
            var writer = ByteWriter()
            writer.append(UInt32(bytes.count))
            writer.append(bytes.withUnsafeBytes { CRC32C.checksum($0) })
            writer.append(bytes: bytes + [UInt8](repeating: 0, count: 8 - bytes.count % 8))
            return writer.bytes
        }
        let expected = value([1, 2, 3]) + value([4])
        let content = try trial.disk.content(of: "/1000.blob")
        #expect(content == expected + [UInt8](repeating: 0, count: 4_096 - expected.count))
        let text = page.section(3).joined()
        #expect(text.contains("at a multiple of \(RunFormat.blobAlignment): length (4), checksum (4), bytes."))
    }

    /// The numbers in parentheses: the sizes that a cell names.
    private func sizes(in cell: String) -> [Int] {
        cell.split(separator: "(").dropFirst().compactMap { $0.split(separator: ")").first.flatMap { Int($0) } }
    }

    @Test("§5 State files")
    func states() throws {
        let rows = page.table(0, ofSection: 5)
        let fixed = rows.map { $0[0].split(separator: ",").compactMap { Int($0.filter { $0 != " " }) }.reduce(0, +) }
        var state = StateFile(
            sequence: 2, store: RunTrial.owner.store, form: 5, position: Position(offset: 3, chain: 4), time: 5,
            nextNumber: 6, flushedBytes: 7, writtenBytes: 8, opaque: [], trees: [], runs: [], blobs: [])
        let empty = state.encoded()
        #expect(fixed.count == 10 && empty.count == fixed.reduce(0, +))
        #expect(Array(empty[..<12]) == Array(StateFile.magic.utf8) + [1, 0, 5, 0] && StateFile.version == 1)
        // The fields of each row begin where those before it end.
        let starts = fixed.indices.map { fixed[..<$0].reduce(0, +) }
        let places = [starts[1] + 16, starts[2], starts[3], starts[4], starts[4] + 8]
        #expect(places.map { empty[$0] } == [2, 3, 6, 7, 8])
        state.trees = [(RunTrial.sorted, 9)]
        #expect(state.encoded().count == empty.count + sizes(in: rows[6][1]).reduce(0, +))
        state.trees = []
        state.blobs = [BlobDescriptor(number: 1, byteCount: 4_096)]
        #expect(state.encoded().count == empty.count + sizes(in: rows[8][1]).reduce(0, +))
        state.blobs = []
        let trial = try RunTrial(frameBytes: 256)
        state.runs = [RunDescriptor(LeveledRun(run: try trial.run(RunModel()), level: .base))]
        // Both keys are empty.
        #expect(state.encoded().count == empty.count + sizes(in: rows[7][1]).reduce(0, +) + 2 * 4)
        #expect(RunLevel.allCases.map(\.rawValue) == [0, 1, 2])
    }

    @Test("§4 and §7 Sizes of generations and pieces, and many runs")
    func limits() {
        let (layers, merging) = (page.section(4).joined(), page.section(7).joined())
        let options = TreeStoreOptions()
        #expect(layers.contains("when it has \(options.generationBytes >> 20) MiB of pages"))
        #expect(layers.contains("more than \(MergePlan.manyRuns) runs"))
        #expect(merging.contains("pieces of \(options.pieceBytes >> 20) MiB"))
    }
}
