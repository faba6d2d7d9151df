/// The place of a value in the memory of a generation.
struct ValuePlace: Equatable {
    /// A multiple of ``grainBytes``.
    var start: Int
    var byteCount: Int

    static let grainBytes = 8
    /// The fields of a place in a leaf: start in grains (4), bytes (4).
    static let storedBytes = 8

    init(start: Int, byteCount: Int) {
        assert(start % Self.grainBytes == 0, "values are aligned")
        self.start = start
        self.byteCount = byteCount
    }

    /// - Parameter bytes: the bytes that a leaf stores.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        start = Int(Bytes.load(UInt32.self, bytes, at: 0)) * Self.grainBytes
        byteCount = Int(Bytes.load(UInt32.self, bytes, at: 4))
    }

    func store(to target: UnsafeMutableRawPointer) {
        target.storeBytes(of: UInt32(start / Self.grainBytes).littleEndian, as: UInt32.self)
        target.storeBytes(of: UInt32(byteCount).littleEndian, toByteOffset: 4, as: UInt32.self)
    }
}
