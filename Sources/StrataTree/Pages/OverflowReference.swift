/// The place of a value that is too long for a leaf: its byte count and the first of its consecutive pages.
struct OverflowReference: Equatable {
    var first: PageNumber
    var byteCount: Int

    var run: PageRun { PageRun(first: first, count: pageCount) }
    var pageCount: Int { PageLayout.overflowPages(byteCount) }

    func store(to target: UnsafeMutableRawPointer) {
        target.storeBytes(of: first.littleEndian, as: UInt32.self)
        target.storeBytes(of: UInt32(byteCount).littleEndian, toByteOffset: 4, as: UInt32.self)
    }
}

extension OverflowReference {
    /// - Parameter bytes: the eight bytes that a leaf stores.
    init(_ bytes: UnsafeRawBufferPointer) {
        first = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
        byteCount = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
    }
}
