import StrataSystem

/// A key that is looked up together with others, from run to run, and its content once one has it.
package struct RunLookup {
    package var key: UnsafeRawBufferPointer
    package var hash: UInt64
    /// Nil until a run has the key or deletes it.
    package var content: RunContent?
    fileprivate var piece: Int32 = -1
    fileprivate var place: Int?

    package init(_ key: UnsafeRawBufferPointer, hash: UInt64) {
        self.key = key
        self.hash = hash
    }
}

extension Run {
    /// The number of keys to look up together.
    package static let keysTogether = 128

    /// Looks up those keys that have no content yet, as ``get(_:_:hash:)`` does.
    ///
    /// Most of a lookup is spent waiting for memory. The next bytes of all keys are therefore prefetched: buckets, then
    /// entries.
    package func find(_ tree: TreeID, _ lookups: UnsafeMutableBufferPointer<RunLookup>) throws {
        for place in lookups.indices where lookups[place].content == nil {
            let piece = piece(of: lookups[place].key, tree)
            lookups[place].piece = Int32(piece ?? -1)
            lookups[place].place = nil
            if let piece { withPiece(piece) { $0.ask(forBucketOf: lookups[place].hash) } }
        }
        try forEachWaiting(lookups) { lookup, piece in
            guard piece.isHashed(tree) else { return }
            var candidates = try piece.candidates(of: lookup.hash)
            guard let place = try piece.next(&candidates) else { return lookup.piece = -1 }
            lookup.place = place
            piece.ask(forEntryAt: place)
        }
        try forEachWaiting(lookups) { lookup, piece in
            if let place = lookup.place {
                lookup.content = try piece.content(at: place, in: piece.frames(of: tree), lookup.key)
            }
            // The tree may not be hashed, or another key have the same fingerprint.
            if lookup.content == nil { lookup.content = try piece.get(tree, lookup.key, hash: lookup.hash) }
        }
        try requireReadable()
        if ranges.isEmpty { return }
        for place in lookups.indices
        where lookups[place].content == nil && ranges.cover(tree, lookups[place].key) { lookups[place].content = .mark }
    }

    @inline(__always)
    private func forEachWaiting(
        _ lookups: UnsafeMutableBufferPointer<RunLookup>, _ body: (inout RunLookup, Piece) throws -> Void
    ) rethrows {
        for place in lookups.indices where lookups[place].content == nil && lookups[place].piece >= 0 {
            try withPiece(Int(lookups[place].piece)) { try body(&lookups[place], $0) }
        }
    }
}
