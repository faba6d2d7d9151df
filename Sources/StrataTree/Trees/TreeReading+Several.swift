extension Snapshot {
    /// The maximum number of keys that are looked up together.
    package static let keysTogether = Run.keysTogether
}

extension TreeReading {
    /// Calls `body` with the value of each key, or nil for a missing key, in order, until it returns false; then
    /// returns false. The bytes are valid only during the call.
    ///
    /// The keys may be anywhere in the tree, and most of a lookup is spent waiting for memory. The next bytes are
    /// therefore prefetched for all keys while others are processed.
    @discardableResult
    package func getEach(
        _ id: TreeID, _ keys: KeyList, in range: Range<Int>,
        _ body: (_ index: Int, _ value: UnsafeRawBufferPointer?) throws -> Bool
    ) throws -> Bool {
        try withExtendedLifetime(self) {
            let layers = try readableLayers().stack
            for start in stride(from: range.lowerBound, to: range.upperBound, by: Snapshot.keysTogether) {
                let together = start..<min(range.upperBound, start + Snapshot.keysTogether)
                guard try layers.getTogether(id, keys, in: together, body) else { return false }
            }
            return true
        }
    }

    /// Calls `body` with the value of the first entry whose key begins with each prefix, in order; nil if there is
    /// none.
    package func forEachFirst(
        _ id: TreeID, _ prefixes: KeyList, _ body: (_ index: Int, _ value: UnsafeRawBufferPointer?) throws -> Void
    ) throws {
        try withExtendedLifetime(self) {
            var cursor = MergedCursor(try readableLayers().stack, id)
            for index in prefixes.indices {
                try prefixes.withKey(index) { prefix in
                    try cursor.seek(.from(prefix))
                    guard let entry = cursor.entry, entry.key.starts(with: prefix) else { return try body(index, nil) }
                    try body(index, entry.value)
                }
            }
            try cursor.requireReadable()
        }
    }
}

extension LayerStack {
    fileprivate func getTogether(
        _ id: TreeID, _ keys: KeyList, in range: Range<Int>, _ body: (Int, UnsafeRawBufferPointer?) throws -> Bool
    ) throws -> Bool {
        try keys.withBytes { bytes in
            try withUnsafeTemporaryAllocation(of: RunLookup.self, capacity: range.count) { lookups in
                let levels = below.levels
                // The keys are not moved, and no element needs to be destroyed.
                for (place, index) in range.enumerated() {
                    let key = UnsafeRawBufferPointer(rebasing: bytes[keys.range(index)])
                    lookups.initializeElement(at: place, to: RunLookup(key, hash: levels.hash(id, key)))
                }
                generation.find(id, lookups, in: roots[id])
                for layer in below.frozen { layer.generation.find(id, lookups, in: layer.roots[id]) }
                try levels.find(id, lookups)
                var isWhole = true
                for (place, index) in range.enumerated() where isWhole {
                    isWhole = try body(index, try lookups[place].content.flatMap { try levels.value($0) })
                }
                try levels.requireReadable()
                return isWhole
            }
        }
    }
}
