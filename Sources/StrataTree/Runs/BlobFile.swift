import StrataModel
import StrataSystem

/// Writes a blob file: values, each with its checksum.
final class BlobWriter {
    let number: UInt64
    private(set) var valueCount = 0
    private var output: RunOutput

    /// - Parameter file: empty; nothing else writes to it.
    init(_ file: any File, number: UInt64) {
        self.number = number
        output = RunOutput(file)
    }

    var byteCount: Int { output.byteCount }

    func append(_ value: UnsafeRawBufferPointer) throws -> BlobReference {
        guard let count = UInt32(exactly: value.count),
            let place = UInt32(exactly: output.byteCount / RunFormat.blobAlignment)
        else { throw StrataError(.outOfRange, "A value or a blob file is too large.", .init(found: "\(value.count)")) }
        try withUnsafeBytes(of: (count.littleEndian, CRC32C.checksum(value).littleEndian)) { try output.append($0) }
        try output.append(value)
        try output.pad(to: RunFormat.blobAlignment)
        valueCount += 1
        return BlobReference(file: number, place: place, byteCount: count)
    }

    /// Writes the rest. The file is durable once it is synced.
    func finish() throws {
        try output.pad(to: DirectWrites.alignment)
        try output.flush()
    }
}

/// A blob file as a state names it.
struct BlobDescriptor: Sendable {
    var number: UInt64
    var byteCount: Int
}

/// A blob file, mapped.
final class BlobFile: Sendable {
    let number: UInt64
    private let map: RunMap

    /// - Parameter byteCount: the size that the file must have; nil for any.
    init(_ file: any File, number: UInt64, byteCount: Int? = nil) throws {
        self.number = number
        map = try RunMap(file, byteCount: byteCount)
    }

    /// Opens a file that was just written, and checks all its values, as ``Piece/written(_:_:_:)`` does.
    static func written(_ file: any File, number: UInt64, valueCount: Int) throws -> BlobFile {
        try RunMap.checkingWritten {
            let blobs = try BlobFile(file, number: number)
            var place = 0
            for _ in 0..<valueCount { place = try blobs.checkValue(at: place) }
            try blobs.requireReadable()
            return blobs
        }
    }

    /// Checks a value, of which there are none that are empty; returns the place of the next one.
    private func checkValue(at place: Int) throws -> Int {
        let alignment = RunFormat.blobAlignment
        let count = place < byteCount ? Bytes.load(UInt32.self, map.bytes.all, at: place) : 0
        guard count > 0 else { throw map.malformed("no value", at: place) }
        _ = try value(BlobReference(file: number, place: UInt32(clamping: place / alignment), byteCount: count))
        return place + (RunFormat.blobHeaderBytes + Int(count) + alignment - 1) / alignment * alignment
    }

    var byteCount: Int { map.bytes.count }

    /// Returns a value, whose checksum is checked; valid as long as this object, once ``requireReadable()`` has
    /// returned after it was used.
    func value(_ reference: BlobReference) throws -> UnsafeRawBufferPointer {
        let start = Int(reference.place) * RunFormat.blobAlignment
        let end = start + RunFormat.blobHeaderBytes + Int(reference.byteCount)
        guard reference.file == number, end <= map.bytes.count else {
            throw map.malformed("a reference outside of it", at: start)
        }
        let bytes = UnsafeRawBufferPointer(rebasing: map.bytes.all[start..<end])
        let value = bytes.dropping(RunFormat.blobHeaderBytes)
        try map.check(reference.byteCount, is: Bytes.load(UInt32.self, bytes, at: 0), of: "a value", at: start)
        try map.check(CRC32C.checksum(value), is: Bytes.load(UInt32.self, bytes, at: 4), of: "a value", at: start)
        return value
    }

    /// - Throws: ``StrataError`` if bytes that were read until now could not be read.
    func requireReadable() throws { try map.requireReadable() }
}
