import StrataModel

/// The entries of one tree in a piece.
struct PieceTree: Equatable, Sendable {
    var id: TreeID
    var isHashed: Bool
    var entries: UInt64 = 0
    var marks: UInt64 = 0
    var valueBytes: UInt64 = 0
    var firstFrame: Int
}

/// The values of a piece that are in a blob file.
package struct BlobUse: Equatable, Sendable {
    package var file: UInt64
    package var byteCount: Int
}

/// The footer of a piece (docs/format-runs.md §2).
struct PieceFooter: Equatable, Sendable {
    var trees: [PieceTree] = []
    var ranges = DeletedRanges()
    var blobs: [BlobUse] = []
    /// The first frame after those of the entries.
    var hashFrame = 1
    var fencesFrame = 1

    var entries: UInt64 { trees.reduce(0) { $0 &+ $1.entries } }
    var marks: UInt64 { trees.reduce(0) { $0 &+ $1.marks } }
    var hashedEntries: UInt64 { trees.reduce(0) { $1.isHashed ? $0 &+ $1.entries : $0 } }
    private var buckets: UInt64 { (hashedEntries &+ 7) / UInt64(RunFormat.bucketLoad) }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt32(trees.count))
        for tree in trees {
            writer.append(tree.id.rawValue)
            writer.append(tree.isHashed ? 1 as UInt16 : 0)
            writer.append(tree.entries)
            writer.append(tree.marks)
            writer.append(tree.valueBytes)
            writer.append(UInt32(tree.firstFrame))
        }
        writer.append(UInt32(ranges.ranges.count))
        for range in ranges.ranges {
            RunKey(tree: range.tree, bytes: range.lower).encode(to: &writer)
            RunKey.encode(range.upper, to: &writer)
        }
        writer.append(UInt32(blobs.count))
        for blob in blobs {
            writer.append(blob.file)
            writer.append(UInt64(blob.byteCount))
        }
        writer.append(UInt32(hashFrame))
        writer.append(buckets)
        writer.append(UInt32(fencesFrame))
        return writer.bytes
    }

    init() {}

    init(decoding bytes: UnsafeRawBufferPointer) throws {
        var reader = ByteReader(bytes)
        for _ in 0..<(try reader.read(UInt32.self, "the number of trees")) {
            trees.append(try Self.readTree(&reader))
        }
        var ranges: [DeletedRange] = []
        for _ in 0..<(try reader.read(UInt32.self, "the number of deleted ranges")) {
            let lower = try RunKey(decoding: &reader)
            ranges.append(DeletedRange(tree: lower.tree, lower: lower.bytes, upper: try RunKey.readKey(&reader)))
        }
        self.ranges = DeletedRanges(ranges)
        var blobBytes = 0
        for _ in 0..<(try reader.read(UInt32.self, "the number of blob files")) {
            let file = try reader.read(UInt64.self, "the number of a blob file")
            let byteCount = try RunFormat.readFileBytes(&reader, "the bytes of a blob file")
            blobs.append(BlobUse(file: file, byteCount: byteCount))
            blobBytes += byteCount
            guard blobBytes <= RunFormat.maximumBlobBytes, blobs.count <= entries else {
                throw reader.malformed("the blob files of a piece", expected: "fewer", found: "\(blobs.count)")
            }
        }
        hashFrame = Int(try reader.read(UInt32.self, "the first frame of the hash"))
        let found = try reader.read(UInt64.self, "the number of buckets")
        guard found <= UInt32.max, found == buckets else {
            throw reader.malformed("the number of buckets", expected: "that of the entries", found: "\(found)")
        }
        fencesFrame = Int(try reader.read(UInt32.self, "the first frame of the fences"))
        try reader.expectEnd("the footer of a piece")
        try checkFrames(reader)
    }

    private static func readTree(_ reader: inout ByteReader) throws -> PieceTree {
        let id = TreeID(rawValue: try reader.read(UInt16.self, "a tree"))
        let kind = try reader.read(UInt16.self, "the kind of a tree")
        guard kind <= 1 else { throw reader.malformed("the kind of a tree", expected: "0 or 1", found: "\(kind)") }
        return PieceTree(
            id: id, isHashed: kind == 1, entries: try reader.read(UInt64.self, "the entries of a tree"),
            marks: try reader.read(UInt64.self, "the marks of a tree"),
            valueBytes: try reader.read(UInt64.self, "the bytes of a tree"),
            firstFrame: Int(try reader.read(UInt32.self, "the first frame of a tree")))
    }

    /// Trees are in order, and each has at least one frame, each of which has some entries.
    private func checkFrames(_ reader: ByteReader) throws {
        var (next, end) = (1, trees.first?.firstFrame ?? hashFrame)
        for (index, tree) in trees.enumerated() {
            let start = end
            end = index + 1 < trees.count ? trees[index + 1].firstFrame : hashFrame
            guard start == next, end > start, index == 0 || trees[index - 1].id < tree.id,
                tree.entries >= UInt64(end - start), tree.marks <= tree.entries,
                tree.entries <= UInt64((end - start) * RunFormat.maximumEntries)
            else { throw reader.malformed("the trees of a piece", expected: "in order", found: "\(tree.id.rawValue)") }
            next = end
        }
        guard hashFrame == next, fencesFrame >= hashFrame else {
            throw reader.malformed("the sections of a piece", expected: "in order", found: "\(hashFrame)")
        }
    }
}
