/// Memory that grows and is freed with the object; its content is whatever was written last.
// @unchecked: one thread at a time uses a buffer; the types that hold one are not shared while they work.
final class RawBuffer: @unchecked Sendable {
    private var memory: UnsafeMutableRawBufferPointer
    private let alignment: Int

    init(count: Int = 0, alignment: Int = 16) {
        self.alignment = alignment
        memory = .allocate(byteCount: count, alignment: alignment)
    }

    deinit { memory.deallocate() }

    var count: Int { memory.count }

    /// Valid until the next `ensure` or `shrink`, and as long as the object lives.
    var bytes: UnsafeMutableRawBufferPointer { memory }

    /// Makes room for `count` bytes and keeps the first `kept` of the present ones.
    func ensure(_ count: Int, keeping kept: Int = 0) {
        precondition(kept <= memory.count, "only existing bytes can be kept")
        guard memory.count < count else { return }
        reallocate(max(count, memory.count * 2), keeping: kept)
    }

    /// Frees memory that a rare large use left allocated, and keeps the first `kept` bytes.
    func shrink(to count: Int, keeping kept: Int) {
        precondition(kept <= count, "only bytes that have room can be kept")
        guard memory.count > count else { return }
        reallocate(count, keeping: kept)
    }

    private func reallocate(_ count: Int, keeping kept: Int) {
        let other = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: alignment)
        if kept > 0 { other.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<kept])) }
        memory.deallocate()
        memory = other
    }
}
