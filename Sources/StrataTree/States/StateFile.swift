import StrataModel
import StrataSystem

/// A durable state of all trees, as a file names it (docs/format-runs.md §5).
struct StateFile: Sendable {
    var sequence: UInt64
    var store: Identifier
    /// The form of the keys and rows.
    var form: UInt16
    var position: Position
    var time: Int64
    /// The number that the next file of the store gets.
    var nextNumber: UInt64
    /// The bytes of all files that the store's flushes have written, and of those that merges have written, too.
    var (flushedBytes, writtenBytes): (UInt64, UInt64)
    /// The caller's bytes.
    var opaque: [UInt8]
    var trees: [(id: TreeID, foldedOffset: UInt64)]
    /// The runs of the state, newest first.
    var runs: [RunDescriptor]
    /// The blob files that the runs refer to.
    var blobs: [BlobDescriptor]

    static let magic = "StrataSt"
    static let version: UInt16 = 1
    static let maximumOpaqueBytes = 1 << 20
    /// A state of 100 million records has fewer pieces than this.
    static let maximumBytes = 64 << 20

    func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: 1_024)
        writer.append(bytes: Self.magic.utf8)
        writer.append(Self.version)
        writer.append(form)
        writer.append(store)
        writer.append(sequence)
        writer.append(position.offset)
        writer.append(position.chain)
        writer.append(time)
        writer.append(nextNumber)
        writer.append(flushedBytes)
        writer.append(writtenBytes)
        writer.append(UInt32(opaque.count))
        writer.append(bytes: opaque)
        writer.append(UInt32(trees.count))
        for tree in trees {
            writer.append(tree.id.rawValue)
            writer.append(tree.foldedOffset)
        }
        writer.append(UInt32(runs.count))
        for run in runs { run.encode(to: &writer) }
        writer.append(UInt32(blobs.count))
        for blob in blobs {
            writer.append(blob.number)
            writer.append(UInt64(blob.byteCount))
        }
        return ChecksummedBytes.seal(writer)
    }

    /// - Throws: ``StrataError`` if the bytes are not a state, are damaged, or have another version.
    static func decode(_ bytes: [UInt8]) throws -> StateFile {
        guard bytes.starts(with: magic.utf8) else {
            throw StrataError(.wrongMagic, "A state of the views has the wrong first bytes.", .init(expected: magic))
        }
        return try ChecksummedBytes.open(bytes, "a state of the views", atMost: maximumBytes) { reader, _ in
            _ = try reader.read(UInt64.self, "magic")
            let version = try reader.read(UInt16.self, "version")
            guard version == Self.version else {
                throw StrataError(
                    .newerFormat, "A state of the views has a version unknown to this release.",
                    .init(expected: "\(Self.version)", found: "\(version)"))
            }
            return try StateFile(form: try reader.read(UInt16.self, "form"), decoding: &reader)
        }
    }
}

extension StateFile {
    private init(form: UInt16, decoding reader: inout ByteReader) throws {
        self.form = form
        store = try reader.readIdentifier("store id")
        sequence = try reader.read(UInt64.self, "sequence")
        position = Position(
            offset: try reader.read(UInt64.self, "offset"), chain: try reader.read(UInt32.self, "chain value"))
        time = try reader.read(Int64.self, "time")
        nextNumber = try reader.read(UInt64.self, "next number")
        flushedBytes = try reader.read(UInt64.self, "flushed bytes")
        writtenBytes = try reader.read(UInt64.self, "written bytes")
        let opaqueBytes = try reader.read(UInt32.self, "opaque bytes")
        guard opaqueBytes <= Self.maximumOpaqueBytes else {
            throw reader.malformed("opaque bytes", expected: "at most \(Self.maximumOpaqueBytes)")
        }
        opaque = try reader.readBytes(count: UInt64(opaqueBytes), "opaque bytes")
        trees = []
        for _ in 0..<(try reader.read(UInt32.self, "trees")) {
            let id = TreeID(rawValue: try reader.read(UInt16.self, "tree"))
            if let last = trees.last, last.id >= id { throw reader.malformed("tree", expected: "in ascending order") }
            trees.append((id, try reader.read(UInt64.self, "folded offset")))
        }
        runs = []
        for _ in 0..<(try reader.read(UInt32.self, "runs")) { runs.append(try RunDescriptor(decoding: &reader)) }
        blobs = []
        for _ in 0..<(try reader.read(UInt32.self, "blob files")) {
            let number = try reader.read(UInt64.self, "a blob file")
            let byteCount = try RunFormat.readFileBytes(&reader, "the bytes of a blob file")
            blobs.append(BlobDescriptor(number: number, byteCount: byteCount))
        }
        guard nextNumber < .max / 2, sequence < .max / 2 else { throw reader.malformed("number", expected: "smaller") }
        guard byteCounts.values.reduce(0, +) <= RunFormat.maximumStateBytes else {
            throw reader.malformed("the bytes of all files", expected: "fewer")
        }
    }
}
