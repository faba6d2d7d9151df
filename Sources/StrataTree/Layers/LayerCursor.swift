/// A position in the entries of a tree in one layer, with its key.
struct LayerCursor {
    private let tree: TreeID
    // One of both. Optionals are changed in place; the cases of an enumeration would be copied.
    private var memory: MemoryCursor?
    private var run: RunCursor?
    /// The ranges of the tree that this layer deletes in older ones.
    let deleted: DeletedRanges
    /// The memory of a key of a generation.
    private let buffer: KeyBuffer?
    /// The key of the current entry, valid until the cursor moves; nil without an entry.
    private(set) var key: UnsafeRawBufferPointer?

    init(_ generation: Generation, _ id: TreeID, _ root: TreeRoot) {
        tree = id
        memory = MemoryCursor(generation, root)
        deleted = root.deleted
        buffer = KeyBuffer()
    }

    init(_ run: Run, _ id: TreeID) {
        tree = id
        self.run = RunCursor(run)
        deleted = run.ranges.isEmpty ? run.ranges : run.ranges.of(id)
        buffer = nil
    }

    /// The content of the current entry, valid as long as the layer.
    private(set) var content = RunContent.mark

    enum Target {
        case first
        case last
        /// The first entry at or after a key.
        case from(UnsafeRawBufferPointer)
        /// The last entry before a key.
        case before(UnsafeRawBufferPointer)
    }

    mutating func seek(_ target: Target) throws {
        switch target {
        case .first:
            memory?.seekFirst()
            _ = try run?.seek(tree, nil)
        case .last:
            memory?.seekLast()
            _ = try run?.seekBefore(tree, nil)
        case .from(let key):
            memory?.seek(key)
            _ = try run?.seek(tree, key)
        case .before(let key):
            memory?.seekBefore(key)
            _ = try run?.seekBefore(tree, key)
        }
        readKey()
    }

    @inline(__always)
    mutating func move(forward: Bool) throws {
        if forward {
            memory?.next()
            _ = try run?.next()
        } else {
            memory?.previous()
            _ = try run?.previous()
        }
        readKey()
    }

    /// Moves past the keys of a range.
    ///
    /// - Throws: ``StrataError`` if that is a step back, since the keys of a run are out of order: a caller that skips
    ///   what is deleted would go in circles.
    mutating func skip(_ range: DeletedRange, forward: Bool) throws {
        if forward, range.upper.isEmpty { return key = nil }
        let before = run?.place
        if forward {
            try range.upper.withUnsafeBytes { try seek(.from($0)) }
        } else {
            try range.lower.withUnsafeBytes { try seek(.before($0)) }
        }
        guard let run, let before, key != nil, forward ? run.place <= before : run.place >= before else { return }
        throw run.outOfOrder
    }

    @inline(__always)
    private mutating func readKey() {
        if let buffer, let entry = memory?.read(buffer.bytes) {
            (key, content) = entry
        } else if let entry = run?.read() {
            (key, content) = entry
        } else {
            key = nil
        }
    }
}
