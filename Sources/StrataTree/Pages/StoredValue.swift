/// The stored form of a value in a leaf: the value itself, its place outside the leaf, or nothing for a deleted key.
struct StoredValue {
    /// The length of the value, or a mark that says how to read the bytes.
    let lengthMark: UInt16
    let bytes: UnsafeRawBufferPointer

    @inline(__always)
    init(lengthMark: UInt16, bytes: UnsafeRawBufferPointer) {
        assert(bytes.count == Self.byteCount(lengthMark), "the mark determines the length")
        self.lengthMark = lengthMark
        self.bytes = bytes
    }

    static func inline(_ bytes: UnsafeRawBufferPointer) -> StoredValue {
        StoredValue(lengthMark: UInt16(bytes.count), bytes: bytes)
    }

    /// - Parameter bytes: a stored ``ValuePlace``.
    static func outside(_ bytes: UnsafeRawBufferPointer) -> StoredValue {
        StoredValue(lengthMark: PageLayout.outsideMark, bytes: bytes)
    }

    static var deleted: StoredValue {
        StoredValue(lengthMark: PageLayout.deletedMark, bytes: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    @inline(__always)
    var isOutside: Bool { lengthMark == PageLayout.outsideMark }
    @inline(__always)
    var isDeleted: Bool { lengthMark == PageLayout.deletedMark }

    /// The number of bytes that a leaf stores.
    @inline(__always)
    static func byteCount(_ lengthMark: UInt16) -> Int {
        switch lengthMark {
        case PageLayout.outsideMark: ValuePlace.storedBytes
        case PageLayout.deletedMark: 0
        default: Int(lengthMark)
        }
    }

    func store(to target: UnsafeMutableRawPointer) {
        if let start = bytes.baseAddress { target.copyMemory(from: start, byteCount: bytes.count) }
    }
}
