import StrataModel

/// A frame of entries in a mapped piece. Each access is checked against the frame's size, since a page of a file that
/// is truncated meanwhile reads as zeros.
struct Frame {
    let base: UnsafeRawPointer
    let byteCount: Int
    let count: Int
    let prefixBytes: Int
    let tree: TreeID

    /// Reads the header of a frame whose checksum was found correct.
    @inline(__always)
    init(_ base: UnsafeRawPointer, byteCount: Int) throws {
        (self.base, self.byteCount) = (base, byteCount)
        count = Int(UInt16(littleEndian: base.load(fromByteOffset: RunFormat.countPlace, as: UInt16.self)))
        prefixBytes = Int(UInt16(littleEndian: base.load(fromByteOffset: RunFormat.prefixBytesPlace, as: UInt16.self)))
        tree = TreeID(
            rawValue: UInt16(littleEndian: base.load(fromByteOffset: RunFormat.treePlace, as: UInt16.self)))
        guard count > 0, count <= RunFormat.maximumEntries, prefixBytes <= RunFormat.maximumKeyBytes,
            slots + count * RunFormat.slotBytes <= byteCount
        else { throw Self.damaged }
    }

    /// The place of the slots.
    @inline(__always)
    private var slots: Int { RunFormat.frameHeaderBytes + prefixBytes }

    @inline(__always)
    var prefix: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + RunFormat.frameHeaderBytes, count: prefixBytes)
    }

    /// The bytes of the frame from an entry on.
    @inline(__always)
    private func rest(_ index: Int) throws -> UnsafeRawBufferPointer {
        assert(index >= 0 && index < count)
        let slot = base.loadUnaligned(fromByteOffset: slots + index * RunFormat.slotBytes, as: UInt16.self)
        let start = Int(UInt16(littleEndian: slot))
        guard start <= byteCount else { throw Self.damaged }
        return UnsafeRawBufferPointer(start: base + start, count: byteCount - start)
    }

    /// The key without the prefix.
    @inline(__always)
    func suffix(_ index: Int) throws -> UnsafeRawBufferPointer {
        try Self.suffix(try rest(index), after: prefixBytes)
    }

    @inline(__always)
    func entry(_ index: Int) throws -> (suffix: UnsafeRawBufferPointer, content: RunContent) {
        try Self.entry(try rest(index), after: prefixBytes)
    }

    @inline(__always)
    private static func suffix(
        _ bytes: UnsafeRawBufferPointer, after prefixBytes: Int
    ) throws -> UnsafeRawBufferPointer {
        guard bytes.count >= RunFormat.entryHeaderBytes else { throw damaged }
        let count = Int(Bytes.load(UInt16.self, bytes, at: 0))
        guard RunFormat.entryHeaderBytes + count <= bytes.count, prefixBytes + count <= RunFormat.maximumKeyBytes
        else { throw damaged }
        return UnsafeRawBufferPointer(rebasing: bytes[RunFormat.entryHeaderBytes..<RunFormat.entryHeaderBytes + count])
    }

    /// Returns the entry at the beginning of some bytes of a frame.
    @inline(__always)
    static func entry(
        _ bytes: UnsafeRawBufferPointer, after prefixBytes: Int
    ) throws -> (suffix: UnsafeRawBufferPointer, content: RunContent) {
        let suffix = try suffix(bytes, after: prefixBytes)
        let rest = bytes.dropping(RunFormat.entryHeaderBytes + suffix.count)
        let length = Bytes.load(UInt16.self, bytes, at: 2)
        if length <= RunFormat.maximumValueBytes {
            guard length <= rest.count else { throw damaged }
            return (suffix, .value(rest.keeping(Int(length))))
        }
        if length == RunFormat.markLength { return (suffix, .mark) }
        guard length == RunFormat.blobLength, rest.count >= RunFormat.blobReferenceBytes else { throw damaged }
        let reference = BlobReference(
            file: Bytes.load(UInt64.self, rest, at: 0), place: Bytes.load(UInt32.self, rest, at: 8),
            byteCount: Bytes.load(UInt32.self, rest, at: 12))
        return (suffix, .blob(reference))
    }

    var lastKey: [UInt8] { get throws { try [UInt8](prefix) + suffix(count - 1) } }

    /// Returns the index of the first entry at or after a key; ``count`` if there is none.
    func search(_ key: UnsafeRawBufferPointer) throws -> Int {
        let common = Bytes.commonPrefix(prefix, key)
        if common < prefixBytes {
            let isBefore = common == key.count || key[common] < prefix[common]
            return isBefore ? 0 : count
        }
        let rest = key.dropping(prefixBytes)
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if Bytes.compare(try suffix(middle), rest) < 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the content of a key; nil if the frame does not have it.
    func find(_ key: UnsafeRawBufferPointer) throws -> RunContent? {
        let index = try search(key)
        guard index < count else { return nil }
        let (suffix, content) = try entry(index)
        guard suffix.count == key.count - prefixBytes, Bytes.compare(suffix, key.dropping(prefixBytes)) == 0 else {
            return nil
        }
        return content
    }

    static var damaged: StrataError {
        StrataError(.malformed, "A frame of a run has a place or length outside of the frame.", .init(page: 0))
    }
}
