/// Memory that grows and is freed with the object; its content is whatever was written last.
// @unchecked: one thread at a time uses a buffer; the types that hold one are not shared while they work.
final class RawBuffer: @unchecked Sendable {
    private var memory: UnsafeMutableRawBufferPointer

    init(count: Int = 0) { memory = .allocate(byteCount: count, alignment: 16) }

    deinit { memory.deallocate() }

    var count: Int { memory.count }

    /// Valid until the next `ensure` or `shrink`, and as long as the object lives.
    var bytes: UnsafeMutableRawBufferPointer { memory }

    /// Makes room for `count` bytes and keeps the first `kept` of the present ones.
    func ensure(_ count: Int, keeping kept: Int = 0) {
        precondition(kept <= memory.count, "only existing bytes can be kept")
        guard memory.count < count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, memory.count * 2), alignment: 16)
        if kept > 0 { larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<kept])) }
        memory.deallocate()
        memory = larger
    }

    /// Frees memory that a rare large use left allocated.
    func shrink(to count: Int) {
        guard memory.count > count else { return }
        memory.deallocate()
        memory = .allocate(byteCount: count, alignment: 16)
    }
}
