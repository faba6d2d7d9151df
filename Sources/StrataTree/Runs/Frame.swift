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
        guard count > 0, prefixBytes <= RunFormat.maximumKeyBytes,
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

    /// The address of a slot; `index` need not exist.
    @inline(__always)
    static func slot(_ base: UnsafeRawPointer, _ index: Int) -> UnsafeRawPointer {
        base + RunFormat.frameHeaderBytes + index * RunFormat.slotBytes
    }

    @inline(__always)
    private func place(_ index: Int) throws -> (start: Int, suffixEnd: Int) {
        assert(index >= 0 && index < count)
        let slot = base.loadUnaligned(fromByteOffset: slots + index * RunFormat.slotBytes, as: UInt16.self)
        let start = Int(UInt16(littleEndian: slot)) + RunFormat.entryHeaderBytes
        guard start <= byteCount else { throw Self.damaged }
        let end = start + number(at: start - 4)
        guard end <= byteCount, prefixBytes + end - start <= RunFormat.maximumKeyBytes else { throw Self.damaged }
        return (start, end)
    }

    @inline(__always)
    private func number(at place: Int) -> Int {
        Int(UInt16(littleEndian: base.loadUnaligned(fromByteOffset: place, as: UInt16.self)))
    }

    /// The address of an entry, after its header.
    @inline(__always)
    func address(ofEntry index: Int) throws -> UnsafeRawPointer { base + (try place(index)).start }

    /// The key without the prefix.
    @inline(__always)
    func suffix(_ index: Int) throws -> UnsafeRawBufferPointer {
        let place = try place(index)
        return UnsafeRawBufferPointer(start: base + place.start, count: place.suffixEnd - place.start)
    }

    @inline(__always)
    func entry(_ index: Int) throws -> (suffix: UnsafeRawBufferPointer, content: RunContent) {
        let (start, end) = try place(index)
        let suffix = UnsafeRawBufferPointer(start: base + start, count: end - start)
        let length = number(at: start - 2)
        if length <= RunFormat.maximumValueBytes {
            guard end + length <= byteCount else { throw Self.damaged }
            return (suffix, .value(UnsafeRawBufferPointer(start: base + end, count: length)))
        }
        if length == RunFormat.markLength { return (suffix, .mark) }
        guard length == RunFormat.blobLength, end + RunFormat.blobReferenceBytes <= byteCount else {
            throw Self.damaged
        }
        let bytes = UnsafeRawBufferPointer(start: base + end, count: RunFormat.blobReferenceBytes)
        let reference = BlobReference(
            file: Bytes.load(UInt64.self, bytes, at: 0), place: Bytes.load(UInt32.self, bytes, at: 8),
            byteCount: Bytes.load(UInt32.self, bytes, at: 12))
        return (suffix, .blob(reference))
    }

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
