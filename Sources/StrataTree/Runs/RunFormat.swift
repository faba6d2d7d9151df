import StrataModel

/// The layout of runs (docs/format-runs.md). All numbers are little-endian.
package enum RunFormat {
    static let magic = "StrataRn"
    static let version: UInt16 = 1
    /// The size of a frame; tests use smaller ones, to reach every boundary with few entries.
    package static let frameBytes = 16_384
    /// The powers of two that a reader accepts. A place in a frame has two bytes.
    static let frameSizes = 256...32_768
    package static let maximumKeyBytes = PageLayout.maximumKeyBytes
    /// Longer values are stored in blob files.
    package static let maximumValueBytes = 1_024

    // No sum of what the states of a store name is too large for a number.
    private static let maximumFileBytes = 1 << 40
    /// The long values of a piece, of which a state names less than two million.
    static let maximumBlobBytes = 1 << 42
    static let maximumStateBytes = 1 << 56

    /// Reads the size of a file.
    static func readFileBytes(_ reader: inout ByteReader, _ part: StaticString) throws -> Int {
        let byteCount = try reader.read(UInt64.self, part)
        guard byteCount <= maximumFileBytes else {
            throw reader.malformed(part, expected: "a size of a file", found: "\(byteCount)")
        }
        return Int(byteCount)
    }

    // The header.
    static let versionPlace = 8
    static let formPlace = 10
    static let checksumPlace = 12
    static let storePlace = 16
    static let frameBytesPlace = 40
    static let headerEnd = 44

    // Frames of entries.
    static let countPlace = 4
    static let prefixBytesPlace = 6
    static let treePlace = 8
    static let frameHeaderBytes = 12
    static let slotBytes = 2
    static let entryHeaderBytes = 4
    static let maximumEntries = 1_024
    /// Entries of hashed trees begin at multiples of this, in which the hash counts.
    static let hashedAlignment = 4
    /// The end of the entries, so that each place fits in the hash.
    static let maximumEntriesEnd = hashedAlignment << 32
    static let markLength: UInt16 = 0xFFFF
    static let blobLength: UInt16 = 0xFFFE
    static let blobReferenceBytes = 16

    // The hash.
    static let bucketBytes = 64
    static let slotsPerBucket = 10
    static let bucketPlaces = 20
    static let passedPlace = 60
    static let bucketsPerGroup = 63
    static let groupBytes = 4_096
    /// The average number of entries of a bucket.
    static let bucketLoad = 8

    // The end of the file.
    static let tailBytes = 32
    static let tailMagicPlace = 24
    /// Files of runs are written in buffers of this size.
    static let bufferBytes = 1 << 20

    // Blob files.
    static let blobAlignment = 8
    static let blobHeaderBytes = 8
}
