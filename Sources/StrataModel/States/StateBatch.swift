/// The encoded states of a few dozen records of one answer, each preceded by the name or key of its record. They share
/// one piece of memory, which lasts as long as any of them is kept.
// @unchecked: bytes are only added, by the one `StateBatches` that made the batch, after those that states refer to.
@usableFromInline
package final class StateBatch: @unchecked Sendable {
    // Valid for as long as the object lives, which every `StoredState` keeps alive.
    @usableFromInline let base: UnsafeMutableRawPointer
    @usableFromInline let capacity: Int
    @usableFromInline var used = 0

    fileprivate init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: max(1, capacity), alignment: 8)
    }

    deinit { base.deallocate() }
}

/// Builds the batches of an answer.
///
/// ```swift
/// var batches = StateBatches(expecting: ids.count)
/// let stored = batches.append(name: name, state: state)
/// ```
package struct StateBatches {
    /// The maximum number of bytes of a batch, except for one that has a single record. A caller that keeps one record
    /// of a long answer keeps no more.
    package static let batchBytes = 16 << 10

    private var current: StateBatch?
    /// The minimum size of the next batch.
    private var nextBytes = 0
    /// The number of records that are still expected.
    private var expected: Int

    /// - Parameter count: the number of records that will probably be appended. Without it, each batch has room for
    ///   twice as many as the one before, so that little room is left over in an answer of few.
    package init(expecting count: Int = 1) { expected = count }

    /// Appends a copy of a record's state.
    ///
    /// - Parameters:
    ///   - name: the name or the key of the record, or its beginning.
    ///   - rest: what follows it.
    package mutating func append(
        name: UnsafeRawBufferPointer, rest: UnsafeRawBufferPointer = .init(start: nil, count: 0),
        state: UnsafeRawBufferPointer
    ) -> StoredState {
        let nameCount = name.count + rest.count
        let size = nameCount + state.count
        let batch: StateBatch
        if let current, current.capacity - current.used >= size {
            batch = current
        } else {
            let wanted = max(nextBytes, size * max(1, min(expected, Self.batchBytes)))
            batch = StateBatch(capacity: max(size, min(Self.batchBytes, wanted)))
            nextBytes = 2 * batch.capacity
            current = batch
        }
        expected -= 1
        let start = batch.used
        let place = batch.base + start
        if let from = name.baseAddress { place.copyMemory(from: from, byteCount: name.count) }
        if let from = rest.baseAddress { (place + name.count).copyMemory(from: from, byteCount: rest.count) }
        if let from = state.baseAddress { (place + nameCount).copyMemory(from: from, byteCount: state.count) }
        batch.used += size
        return StoredState(
            batch: batch, start: UInt32(start), nameCount: UInt32(nameCount), stateCount: UInt32(state.count))
    }
}

/// A copy of a record's encoded state, preceded by the name or key of the record.
@usableFromInline
package struct StoredState: Sendable {
    @usableFromInline let batch: StateBatch
    @usableFromInline var start: UInt32
    @usableFromInline var nameCount: UInt32
    @usableFromInline let stateCount: UInt32

    fileprivate init(batch: StateBatch, start: UInt32, nameCount: UInt32, stateCount: UInt32) {
        self.batch = batch
        self.start = start
        self.nameCount = nameCount
        self.stateCount = stateCount
    }

    /// Copies a state into a batch of its own.
    package init(name: UnsafeRawBufferPointer, state: UnsafeRawBufferPointer) {
        var batches = StateBatches()
        self = batches.append(name: name, state: state)
    }

    /// Calls `body` with the name or key, which is valid only during the call.
    @inlinable
    package func withName<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        defer { withExtendedLifetime(batch) {} }
        return try body(UnsafeRawBufferPointer(start: batch.base + Int(start), count: Int(nameCount)))
    }

    /// Calls `body` with the state, which is valid only during the call.
    @inlinable
    package func withState<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        defer { withExtendedLifetime(batch) {} }
        return try body(
            UnsafeRawBufferPointer(start: batch.base + Int(start) + Int(nameCount), count: Int(stateCount)))
    }

    /// Returns the same state without the first bytes of its key, which leaves the name.
    package func droppingFromKey(_ count: Int) -> StoredState {
        var stored = self
        let count = UInt32(clamping: min(count, Int(nameCount)))
        stored.start += count
        stored.nameCount -= count
        return stored
    }
}
