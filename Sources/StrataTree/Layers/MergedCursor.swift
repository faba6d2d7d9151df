/// A position in the order of the keys of a tree, in all layers of a state. The newest layer that has a key decides
/// about it, unless a range that a newer one deletes covers the key.
struct MergedCursor {
    /// The cursors of the layers, newest first.
    private var layers: [LayerCursor]
    private let tree: TreeID
    private let levels: Levels
    /// True if any layer deletes ranges.
    private let hasRanges: Bool
    private var isForward = true
    /// The layer of the current entry; nil without an entry.
    private var first: Int?
    /// The layer whose key follows next among the others, so that a step usually compares once.
    private var second: Int?
    private var value = UnsafeRawBufferPointer(start: nil, count: 0)

    /// - Parameter state: stays readable as long as the cursor is used.
    init(_ state: LayerStack, _ id: TreeID) {
        tree = id
        levels = state.below.levels
        var layers: [LayerCursor] = []
        layers.reserveCapacity(1 + state.below.frozen.count + levels.runs.count)
        if !state.roots[id].isTransparent { layers.append(LayerCursor(state.generation, id, state.roots[id])) }
        for layer in state.below.frozen where !layer.roots[id].isTransparent {
            layers.append(LayerCursor(layer.generation, id, layer.roots[id]))
        }
        for run in levels.runs where run.run.mayHave(id) { layers.append(LayerCursor(run.run, id)) }
        self.layers = layers
        hasRanges = layers.contains { !$0.deleted.isEmpty }
    }

    // MARK: Reading

    var isThere: Bool { first != nil }

    /// The key and the value of the current entry; the key is valid until the cursor moves.
    var entry: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        guard let first, let key = layers[first].key else { return nil }
        return (key, value)
    }

    /// Called after entries were used.
    ///
    /// - Throws: ``StrataError`` if some of them could not be read.
    func requireReadable() throws { try levels.requireReadable() }

    // MARK: Moving

    /// Moves to an entry; to none if there is none on that side.
    mutating func seek(_ target: LayerCursor.Target) throws {
        switch target {
        case .first, .from: isForward = true
        case .last, .before: isForward = false
        }
        for index in layers.indices { try layers[index].seek(target) }
        choose()
        try settle()
    }

    mutating func next() throws { try move(forward: true) }
    mutating func previous() throws { try move(forward: false) }

    private mutating func move(forward: Bool) throws {
        guard let first else { return }
        if forward != isForward {
            guard let key = layers[first].key else { return }
            // The keys of the other cursors are on the other side.
            try withUnsafeTemporaryAllocation(byteCount: PageLayout.maximumKeyBytes, alignment: 8) { copy in
                copy.copyMemory(from: key)
                let key = UnsafeRawBufferPointer(rebasing: copy[..<key.count])
                if !forward { return try seek(.before(key)) }
                isForward = true
                for index in layers.indices { try layers[index].seek(.from(key)) }
                choose()
                try step()
            }
        } else {
            try step()
        }
        try settle()
    }

    /// Skips the entries that do not exist.
    private mutating func settle() throws {
        while let first {
            if hasRanges, try skipRange(around: first) { continue }
            if let value = try levels.value(layers[first].content) {
                self.value = value
                return
            }
            try step()
        }
    }

    /// Moves all cursors that are at the current key.
    private mutating func step() throws {
        guard let first else { return }
        if let second, order(first, second) == 0 {
            // An older layer has the same key. Its cursor moves while the key is still there.
            for index in layers.indices where index != first && order(first, index) == 0 {
                try layers[index].move(forward: isForward)
            }
            try layers[first].move(forward: isForward)
            choose()
            return
        }
        try layers[first].move(forward: isForward)
        guard let second else {
            if layers[first].key == nil { self.first = nil }
            return
        }
        // The same layer is the first as long as its keys come before those of all others.
        if layers[first].key != nil, order(first, second) < 0 { return }
        choose()
    }

    /// Moves the layer's cursor past a range that a newer layer deletes; returns false if none covers its key.
    private mutating func skipRange(around index: Int) throws -> Bool {
        guard index > 0, let key = layers[index].key else { return false }
        for newer in layers[..<index] where !newer.deleted.isEmpty {
            guard let range = newer.deleted.range(around: key, in: tree) else { continue }
            try layers[index].skip(range, forward: isForward)
            choose()
            return true
        }
        return false
    }

    /// Compares the keys of two layers in the direction of the cursor; a layer without an entry comes last.
    @inline(__always)
    private func order(_ left: Int, _ right: Int) -> Int {
        guard let a = layers[left].key else { return layers[right].key == nil ? 0 : 1 }
        guard let b = layers[right].key else { return -1 }
        return isForward ? Bytes.compare(a, b) : Bytes.compare(b, a)
    }

    /// Determines the layers with the first two keys. Of equal keys, that of the newest layer is the first.
    private mutating func choose() {
        (first, second) = (nil, nil)
        for index in layers.indices where layers[index].key != nil {
            guard let known = first else {
                first = index
                continue
            }
            if order(index, known) < 0 {
                (first, second) = (index, known)
            } else if let other = second {
                if order(index, other) < 0 { second = index }
            } else {
                second = index
            }
        }
    }
}
