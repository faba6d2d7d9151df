import StrataSystem

/// A key that is looked up together with others, from run to run, and its content once one has it.
package struct RunLookup {
    package var key: UnsafeRawBufferPointer
    package var hash: UInt64
    /// Nil until a run has the key or deletes it.
    package var content: RunContent?
    fileprivate var piece: Int32 = -1
    /// True if there is no candidate, since the tree is not hashed.
    fileprivate var isSorted = false
    fileprivate var place: (frame: Int, index: Int)?

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
    /// Most of a lookup is spent waiting for memory. The next bytes of all keys are therefore prefetched: their buckets,
    /// then slots of frames, then entries.
    package func find(_ tree: TreeID, _ lookups: UnsafeMutableBufferPointer<RunLookup>) throws {
        for place in lookups.indices where lookups[place].content == nil {
            let piece = piece(of: lookups[place].key, tree)
            lookups[place].piece = Int32(piece ?? -1)
            lookups[place].place = nil
            if let piece { pieces[piece].ask(forBucketOf: lookups[place].hash) }
        }
        try forEachWaiting(lookups) { lookup, piece in
            lookup.isSorted = piece.tree(tree)?.isHashed != true
            if lookup.isSorted { return }
            var candidates = try piece.candidates(of: lookup.hash)
            lookup.place = try piece.next(&candidates)
            guard let place = lookup.place else { return lookup.piece = -1 }
            let frame = piece.address(ofFrame: place.frame)
            Prefetch.ask(frame, byteCount: 1)
            Prefetch.ask(Frame.slot(frame, place.index), byteCount: 1)
        }
        try forEachWaiting(lookups) { lookup, piece in
            if let place = lookup.place { try piece.ask(for: place) }
        }
        try forEachWaiting(lookups) { lookup, piece in
            if let place = lookup.place { lookup.content = try piece.content(place, tree, lookup.key) }
            // Another key may have the same fingerprint.
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
            try body(&lookups[place], pieces[Int(lookups[place].piece)])
        }
    }
}
