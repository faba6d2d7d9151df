import StrataModel

/// A piece of the commits of an entry that is longer than the sequencer accepts.
package struct EntryPart: Sendable {
    /// The number of pieces that an entry may have.
    static let maximumCount = 1_024
    private static let headerBytes = 20

    /// The entry that the piece belongs to.
    package let whole: Identifier
    /// The number of pieces before this one.
    package let index: UInt32
    package let bytes: [UInt8]

    /// Returns the maximum length of a piece in an entry of `entryBytes`.
    static func maximumBytes(in entryBytes: Int) -> Int {
        max(0, SequencedEntry.maximumContentBytes(in: entryBytes) - headerBytes)
    }

    package init(of whole: Identifier, index: UInt32, bytes: [UInt8]) {
        self.whole = whole
        self.index = index
        self.bytes = bytes
    }

    init(_ reader: inout ByteReader, of entry: UnsafeRawBufferPointer) throws {
        whole = try reader.readIdentifier("the entry of a part")
        index = try reader.read(UInt32.self, "the number of a part")
        bytes = Array(entry[try reader.readRange(count: UInt64(reader.remaining), "a part")])
        guard index < Self.maximumCount, !bytes.isEmpty else {
            throw reader.malformed("a part of an entry", expected: "bytes, and a number below \(Self.maximumCount)")
        }
    }

    func append(to writer: inout ByteWriter) {
        writer.append(whole)
        writer.append(index)
        writer.append(bytes: bytes)
    }
}
