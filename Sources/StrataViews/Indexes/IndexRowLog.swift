import StrataTree

/// The changes of index rows between two states of the records, as they were collected while records were folded.
package struct IndexRowPart: Sendable {
    let changes: IndexRowChanges
    /// The indexes whose rows were collected, in order.
    let indexes: [IndexID]
    /// The records before and after the changes.
    let start: TreeIdentity
    let end: TreeIdentity

    /// The size, with that of the part itself: many parts may have no changes.
    var byteCount: Int { changes.byteCount + 128 }
}

/// The changes of index rows that the newest published states brought, without a gap. A catch-up that finds all of its
/// changes here compares no states.
package struct IndexRowLog: Sendable {
    /// The maximum size. It is exceeded only if catching up does not keep pace, and comparing states serves then.
    private static let maximumBytes = 32 << 20

    private(set) var parts: [IndexRowPart] = []
    private var byteCount = 0

    package init() {}

    package mutating func removeAll() { self = IndexRowLog() }

    /// Adds the changes of a state that is to be published next; nil if they were not collected.
    package mutating func append(_ part: IndexRowPart?) {
        guard let part, part.start != part.end else { return }
        if let last = parts.last, last.end != part.start || byteCount > Self.maximumBytes { removeAll() }
        parts.append(part)
        byteCount += part.byteCount
    }

    /// Removes the changes up to a state that a catch-up has taken.
    package mutating func forget(through state: TreeIdentity) {
        if parts.first?.start == state { return }
        // After a gap, none of the changes can serve the next catch-up.
        guard let index = parts.firstIndex(where: { $0.end == state }) else { return removeAll() }
        byteCount -= parts[...index].reduce(0) { $0 + $1.byteCount }
        parts.removeFirst(index + 1)
    }

    /// Returns all changes of the rows of some indexes between two states; nil if not all of them are here.
    func changes(from start: TreeIdentity, to end: TreeIdentity, of indexes: [IndexID]) -> [IndexRowChanges]? {
        guard let first = parts.firstIndex(where: { $0.start == start }),
            let last = parts.firstIndex(where: { $0.end == end }), first <= last,
            parts[first...last].allSatisfy({ $0.indexes == indexes })
        else { return nil }
        return parts[first...last].map(\.changes)
    }
}
