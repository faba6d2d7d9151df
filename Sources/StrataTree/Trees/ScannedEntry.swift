/// An entry found by a scan, valid as long as its value.
package struct ScannedEntry {
    let leaf: Page
    let index: Int

    /// Calls `body` with the key, which is valid only during the call.
    package func withKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeTemporaryAllocation(byteCount: PageLayout.maximumKeyBytes, alignment: 8) { buffer in
            try body(leaf.copyKey(index, to: buffer))
        }
    }
}

extension Snapshot {
    /// Calls `body` with each entry from `lower` up to, but not including, `upper`, in order, until it returns false.
    /// The bytes are valid only during the call. Faster than a cursor.
    package func scan(
        _ id: TreeID, from lower: UnsafeRawBufferPointer? = nil, to upper: UnsafeRawBufferPointer? = nil,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try core.memory.scan(roots[id], from: lower, to: upper, body)
    }

    /// Like ``scan(_:from:to:_:)``, for callers that need few of the keys.
    package func scanValues(
        _ id: TreeID, from lower: UnsafeRawBufferPointer? = nil, to upper: UnsafeRawBufferPointer? = nil,
        _ body: (_ value: UnsafeRawBufferPointer, _ entry: ScannedEntry) throws -> Bool
    ) throws {
        try core.memory.scanValues(roots[id], from: lower, to: upper, body)
    }
}

extension Fork {
    /// Like ``Snapshot/scan(_:from:to:_:)``; the fork must not be changed while this runs.
    package func scan(
        _ id: TreeID, from lower: UnsafeRawBufferPointer? = nil, to upper: UnsafeRawBufferPointer? = nil,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try requireWhole()
        try core.memory.scan(roots[id], from: lower, to: upper, body)
    }
}
