/// A list of keys that are stored one after the other, without an allocation for each.
///
/// ```swift
/// var keys = KeyList()
/// keys.append { $0 += row.tie }
/// try snapshot.getEach(records, keys, keys.indices) { index, value in … }
/// ```
@usableFromInline
package struct KeyList: Sendable {
    @usableFromInline var bytes: [UInt8] = []
    /// The end of each key.
    @usableFromInline var ends: [Int] = []

    /// The number of keys that a list has room for from its first one on.
    @usableFromInline static let usualCount = 32

    package init() {}

    package var count: Int { ends.count }
    package var isEmpty: Bool { ends.isEmpty }
    package var indices: Range<Int> { 0..<ends.count }

    @inlinable
    package mutating func append(_ key: some Sequence<UInt8>) { append { $0.append(contentsOf: key) } }

    /// Adds the key that `write` appends to its argument.
    @inlinable
    package mutating func append(_ write: (inout [UInt8]) throws -> Void) rethrows {
        if ends.capacity == 0 {
            bytes.reserveCapacity(32 * Self.usualCount)
            ends.reserveCapacity(Self.usualCount)
        }
        try write(&bytes)
        ends.append(bytes.count)
    }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    package subscript(index: Int) -> [UInt8] { withKey(index) { [UInt8]($0) } }

    /// Calls `body` with a key, which is valid only during the call.
    @inlinable
    package func withKey<Result>(
        _ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let range = range(index)
        return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Calls `body` with the bytes of all keys, in which ``range(_:)`` finds each.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    @inlinable
    func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }
}
