import StrataModel
import StrataSystem

/// The content of an entry whose commits came in parts before it (docs/replication-internals.md §2).
package struct WholeEntry: Sendable {
    package let commitCount: UInt32
    package let partCount: UInt32
    package let byteCount: UInt64
    /// The CRC-32C of the parts' bytes in order.
    package let checksum: UInt32

    package init(commitCount: Int, partCount: Int, of bytes: [UInt8]) {
        self.commitCount = UInt32(commitCount)
        self.partCount = UInt32(partCount)
        byteCount = UInt64(bytes.count)
        checksum = bytes.withUnsafeBytes { CRC32C.checksum($0) }
    }

    init(_ reader: inout ByteReader, commitCount: UInt32) throws {
        self.commitCount = commitCount
        partCount = try reader.read(UInt32.self, "the number of parts")
        byteCount = try reader.read(UInt64.self, "the length of the parts")
        checksum = try reader.read(UInt32.self, "the checksum of the parts")
        guard commitCount > 0, (1...UInt32(EntryPart.maximumCount)).contains(partCount) else {
            throw reader.malformed(
                "an entry in parts", expected: "commits, and 1 to \(EntryPart.maximumCount) parts",
                found: "\(commitCount) and \(partCount)")
        }
    }

    func append(to writer: inout ByteWriter) {
        writer.append(partCount)
        writer.append(byteCount)
        writer.append(checksum)
    }
}
