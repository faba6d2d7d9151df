import StrataModel
import StrataSystem

/// All layers of one state, newest first. It does not keep them readable.
struct LayerStack {
    let generation: Generation
    let roots: TreeRoots
    let below: Below

    /// True if no layer has an entry of a tree.
    func isUnused(_ id: TreeID) -> Bool {
        roots[id].page == 0 && below.frozen.allSatisfy { $0.roots[id].page == 0 }
            && below.levels.runs.allSatisfy { !$0.run.mayHave(id) }
    }

    /// The value of a key, valid as long as the layers; nil if the key does not exist.
    func find(_ id: TreeID, _ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        if let content = generation.find(id, key, in: roots[id]) { return content.bytes }
        return try below.find(id, key)
    }

    /// Calls `body` with the value of a key, unless the key does not exist.
    ///
    /// - Throws: ``StrataError`` also if the bytes turn out to be unreadable while they are used.
    func read(
        _ id: TreeID, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        if let value = try find(id, key) { try body(value) }
        try below.levels.requireReadable()
    }
}

extension Below {
    /// The value of a key in these layers, valid as long as they are; nil if the key does not exist.
    func find(_ id: TreeID, _ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        for layer in frozen {
            if let content = layer.generation.find(id, key, in: layer.roots[id]) { return content.bytes }
        }
        return try levels.find(id, key).flatMap { try levels.value($0) }
    }
}

extension Generation {
    /// The content of a key, a mark also if a range deletes it; nil if older layers decide.
    @inline(__always)
    func find(_ id: TreeID, _ key: UnsafeRawBufferPointer, in root: TreeRoot) -> RunContent? {
        if let stored = find(key, in: root) { return content(stored) }
        return root.deleted.cover(id, key) ? .mark : nil
    }
}

extension RunContent {
    /// The value of an entry in memory, which is never in a blob file; nil for a deleted key.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer? {
        if case .value(let value) = self { return value }
        return nil
    }
}
