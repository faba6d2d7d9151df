import Synchronization

/// Remembers which parts of a file were found correct. Several threads may check a part at the same time.
// @unchecked: the words are atomic, and the pointer to them never changes.
final class CheckedBits: @unchecked Sendable {
    let words: UnsafeMutableBufferPointer<Atomic<UInt64>>

    init(count: Int) {
        words = .allocate(capacity: (count + 63) / 64)
        for index in words.indices { words.initializeElement(at: index, to: Atomic(0)) }
    }

    deinit {
        words.deinitialize()
        words.deallocate()
    }

    @inline(__always)
    func contains(_ index: Int) -> Bool { words[index >> 6].load(ordering: .relaxed) >> UInt64(index & 63) & 1 == 1 }

    func insert(_ index: Int) {
        words[index >> 6].bitwiseOr(1 << UInt64(index & 63), ordering: .relaxed)
    }
}
