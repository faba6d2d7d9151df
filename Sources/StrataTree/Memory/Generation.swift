import StrataModel
import StrataSystem

/// The memory of the pages and long values that forks write between two flushes. It ends with the last state that
/// reads it.
///
/// A page that a fork replaces is used again once no state is read that is older than the fork.
// @unchecked: a page or a range of values belongs to the fork that took it until that fork is published, and does not
// change from then on; everything else is in a lock.
final class Generation: @unchecked Sendable {
    private let pages: ReservedMemory
    private let values: ReservedMemory
    /// Their beginnings, which last as long as both, so that reading retains neither.
    private let (pageBase, valueBase): (UnsafeMutableRawPointer, UnsafeMutableRawPointer)

    private struct State {
        var pins = EpochPins()
        var free: [PageNumber] = []
        /// Pages from this number on have not been used. 0 means that a tree is empty.
        var nextPage: PageNumber = 1
        /// Pages that published forks replaced, in the order of their epochs.
        var retired: [(page: PageNumber, epoch: UInt64)] = []
        /// The retired pages before this index are free already.
        var firstRetired = 0
        /// Values from this place on have not been used.
        var nextValue = 0
        /// The bytes of deleted ranges, which are outside of both memories.
        var rangeBytes = 0
        var isFull = false

        var byteCount: Int { (Int(nextPage) - free.count) * PageLayout.pageBytes + nextValue + rangeBytes }
    }

    private let state = Lock(State())
    /// The bytes at which the generation is full.
    private let limit: Int
    private let reservedBytes: Int
    /// The store that the generation belongs to: all generations of one store have the same number.
    let store: UInt64

    /// - Parameter reservedBytes: the address space of the pages, and that of the values.
    init(limit: Int, reserving reservedBytes: Int, store: UInt64 = Epochs.next()) throws {
        self.store = store
        self.reservedBytes = reservedBytes
        let least = min(reservedBytes, Self.leastReservedBytes)
        pages = try ReservedMemory(byteCount: reservedBytes, atLeast: least)
        values = try ReservedMemory(byteCount: reservedBytes, atLeast: least)
        (pageBase, valueBase) = (pages.base, values.base)
        // Where address space is scarce, half of it is left to the changes of the last fork.
        let scarce = min(pages.byteCount, values.byteCount)
        self.limit = scarce < reservedBytes ? min(limit, scarce / 2) : limit
    }

    /// Address space costs nothing; a generation is frozen long before it is used up, unless a single commit is huge.
    private static let leastReservedBytes = 32 << 20

    // MARK: Size

    /// The bytes in use.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// True if the next fork begins another generation.
    var isFull: Bool { state.withLock { $0.isFull || $0.byteCount >= limit } }

    /// An empty generation with the same limit.
    func successor() throws -> Generation { try Generation(limit: limit, reserving: reservedBytes, store: store) }

    /// Makes the next fork begin another generation.
    func fill() { state.withLock { $0.isFull = true } }

    // MARK: Reading

    @inline(__always)
    func page(_ number: PageNumber) -> Page { Page(UnsafeRawPointer(address(number))) }

    @inline(__always)
    func address(_ number: PageNumber) -> UnsafeMutableRawPointer {
        pageBase + Int(number) * PageLayout.pageBytes
    }

    @inline(__always)
    func value(_ place: ValuePlace) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: valueBase + place.start, count: place.byteCount)
    }

    func pin(_ epoch: UInt64) { state.withLock { $0.pins.pin(epoch) } }
    func unpin(_ epoch: UInt64) { state.withLock { $0.pins.unpin(epoch) } }

    // MARK: Writing

    /// Takes pages for a fork, in descending order; at least one.
    func takePages(_ count: Int) throws -> [PageNumber] {
        try state.withLock { state in
            release(&state)
            let known = min(count, state.free.count)
            var taken = Array(state.free.suffix(known))
            state.free.removeLast(known)
            let capacity = pages.byteCount / PageLayout.pageBytes
            let fresh = min(count - known, capacity - Int(state.nextPage))
            guard known + fresh > 0 else { throw noRoom(pages.byteCount) }
            taken = (0..<fresh).reversed().map { state.nextPage + PageNumber($0) } + taken
            state.nextPage += PageNumber(fresh)
            return taken
        }
    }

    /// Frees the retired pages that no state reaches any more.
    private func release(_ state: inout State) {
        let oldest = state.pins.oldest ?? .max
        while state.firstRetired < state.retired.count, state.retired[state.firstRetired].epoch <= oldest {
            state.free.append(state.retired[state.firstRetired].page)
            state.firstRetired += 1
        }
        if state.firstRetired > 1_024, state.firstRetired > state.retired.count / 2 {
            state.retired.removeFirst(state.firstRetired)
            state.firstRetired = 0
        }
    }

    /// Takes back the pages that a fork did not use, or all of its pages if it is dropped.
    func giveBack(_ unused: [PageNumber]) {
        guard !unused.isEmpty else { return }
        state.withLock { $0.free += unused }
    }

    /// Takes over the pages that a published fork has replaced.
    func retire(_ replaced: [PageNumber], by epoch: UInt64) {
        guard !replaced.isEmpty else { return }
        state.withLock { state in
            assert(state.retired.last.map { $0.epoch <= epoch } ?? true, "forks are published in the order of epochs")
            state.retired += replaced.lazy.map { ($0, epoch) }
        }
    }

    /// Takes room for values.
    func takeValues(_ byteCount: Int) throws -> Range<Int> {
        try state.withLock { state in
            guard byteCount <= values.byteCount - state.nextValue else { throw noRoom(values.byteCount) }
            defer { state.nextValue += byteCount }
            return state.nextValue..<state.nextValue + byteCount
        }
    }

    func valueAddress(_ place: Int) -> UnsafeMutableRawPointer { valueBase + place }

    /// Takes back the end of a range, unless another fork has taken values after it.
    func giveBack(values rest: Range<Int>) {
        state.withLock { state in
            if state.nextValue == rest.upperBound { state.nextValue = rest.lowerBound }
        }
    }

    /// Counts a deleted range, with its two arrays.
    func noteRange(_ range: DeletedRange) {
        state.withLock { $0.rangeBytes += 100 + range.lower.count + range.upper.count }
    }

    private func noRoom(_ byteCount: Int) -> StrataError {
        StrataError(
            .noSpace, "The changes since the last flush have used up their memory.",
            .init(expected: "at most \(byteCount) bytes", found: "more"))
    }
}
