import StrataSystem

/// A source of trees that can be read: a snapshot or a fork, which must not be changed while it is read.
package protocol TreeReading: AnyObject {
    /// The layers of the trees as they are now.
    func readableLayers() throws -> ReadableLayers
    /// True if no layer has an entry of a tree, not even a deleted one: most trees of most stores. Costs nothing.
    func isUnused(_ id: TreeID) -> Bool
    func cursor(_ id: TreeID) -> Cursor
    func foldedOffset(_ id: TreeID) -> UInt64
    /// Calls `body` with the value of a key, which is valid only during the call; does not call it if the key does not
    /// exist.
    func read(_ id: TreeID, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws
}

/// The layers of a state that can be read, for ``TreeReading``.
package struct ReadableLayers {
    let stack: LayerStack
}

extension Snapshot: TreeReading {
    package func readableLayers() -> ReadableLayers { ReadableLayers(stack: layers) }
    package func isUnused(_ id: TreeID) -> Bool { layers.isUnused(id) }
    package func cursor(_ id: TreeID) -> Cursor { Cursor(self, id) { 0 } }
    package func read(
        _ id: TreeID, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try withExtendedLifetime(self) { try layers.read(id, key, body) }
    }
}

extension Fork: TreeReading {
    package func readableLayers() throws -> ReadableLayers {
        try requireWhole()
        return ReadableLayers(stack: layers)
    }

    private var layers: LayerStack { LayerStack(generation: generation, roots: roots, below: below) }
    package func isUnused(_ id: TreeID) -> Bool { layers.isUnused(id) }

    package func cursor(_ id: TreeID) -> Cursor { Cursor(self, id) { [unowned self] in changeCount } }
    package func read(
        _ id: TreeID, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try requireWhole()
        try withExtendedLifetime(self) { try layers.read(id, key, body) }
    }
}

extension TreeReading {
    /// Calls `body` with the value of a key, which is valid only during the call; nil if the key does not exist.
    @inlinable
    package func get<Result>(
        _ id: TreeID, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        var result: Result?
        try read(id, key) { result = try body($0) }
        return result
    }

    package func contains(_ id: TreeID, _ key: UnsafeRawBufferPointer) throws -> Bool {
        try get(id, key) { _ in true } ?? false
    }

    /// Returns the number of entries of a tree, which it counts.
    package func entryCount(_ id: TreeID) throws -> UInt64 {
        var count: UInt64 = 0
        try scan(id) { _, _ in
            count += 1
            return true
        }
        return count
    }

    /// Returns true if a tree has no entries.
    package func isEmpty(_ id: TreeID) throws -> Bool {
        if isUnused(id) { return true }
        return try withExtendedLifetime(self) {
            var cursor = MergedCursor(try readableLayers().stack, id)
            try cursor.seek(.first)
            return !cursor.isThere
        }
    }

    /// Calls `body` with each entry from `lower` up to, but not including, `upper`, in order, until it returns false.
    /// The bytes are valid only during the call.
    package func scan(
        _ id: TreeID, from lower: UnsafeRawBufferPointer? = nil, to upper: UnsafeRawBufferPointer? = nil,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try withExtendedLifetime(self) {
            var cursor = MergedCursor(try readableLayers().stack, id)
            try cursor.seek(lower.map { .from($0) } ?? .first)
            while let entry = cursor.entry {
                if let upper, Bytes.compare(entry.key, upper) >= 0 { break }
                guard try body(entry.key, entry.value) else { break }
                try cursor.next()
            }
            try cursor.requireReadable()
        }
    }
}
