import StrataModel
import StrataSystem

/// A sorted, immutable sequence of entries: one or more pieces that do not overlap, in order.
package final class Run: Sendable {
    package let pieces: [Piece]
    /// The first key that is visible; earlier ones are in an older run already. Nil if all are.
    package let visibleFrom: RunKey?
    /// The ranges of visible keys that older runs do not show.
    package let ranges: DeletedRanges
    private let lastKeys: KeyTable
    /// The trees that have entries or ranges.
    private let trees: [TreeID]
    /// The pieces, which `pieces` keeps, for lookups that would otherwise retain one for each key.
    private let unretained: [Unmanaged<Piece>]

    /// - Parameter pieces: in order; only the last may have no entry.
    package init(_ pieces: [Piece], visibleFrom: RunKey? = nil) throws {
        guard !pieces.isEmpty else { throw StrataError(.malformed, "A run has no piece.") }
        for (left, right) in zip(pieces, pieces.dropFirst()) {
            guard let last = left.descriptor.last, right.descriptor.first.map({ last <= $0 }) ?? (right === pieces.last)
            else {
                throw StrataError(.malformed, "The pieces of a run are out of order.", .init(path: right.map.path))
            }
        }
        self.pieces = pieces
        lastKeys = KeyTable(pieces.compactMap(\.descriptor.last))
        self.visibleFrom = visibleFrom
        ranges = DeletedRanges(pieces.lazy.flatMap { $0.ranges.ranges }).clipped(from: visibleFrom, to: nil)
        trees = Array(Set(pieces.flatMap(\.footer.trees).map(\.id) + ranges.ranges.map(\.tree)))
        unretained = pieces.map(Unmanaged.passUnretained)
    }

    package var byteCount: Int { pieces.reduce(0) { $0 + $1.descriptor.byteCount } }
    /// The bytes of the pieces and of the long values that they refer to.
    var liveBytes: Int { pieces.reduce(byteCount) { $1.blobs.reduce($0) { $0 + $1.byteCount } } }
    /// The number of entries, marks and hidden ones included.
    package var entries: UInt64 { pieces.reduce(0) { $0 + $1.descriptor.entries } }
    package var marks: UInt64 { pieces.reduce(0) { $0 + $1.descriptor.marks } }

    /// Returns false if no entry and no range is of a tree.
    func mayHave(_ tree: TreeID) -> Bool { trees.contains(tree) }

    /// Calls `body` with a piece that it does not retain.
    @inline(__always)
    func withPiece<Result>(_ index: Int, _ body: (Piece) throws -> Result) rethrows -> Result {
        try unretained[index]._withUnsafeGuaranteedRef(body)
    }

    /// The index of the only piece that may have a key; nil if none may.
    @inline(__always)
    func piece(of key: UnsafeRawBufferPointer, _ tree: TreeID) -> Int? {
        if let visibleFrom, visibleFrom.isAfter(tree, key) { return nil }
        let index = lastKeys.first(atOrAfter: key, tree)
        return index < pieces.count ? index : nil
    }

    /// The index of the first piece whose last key is not before a key; the number of pieces that have entries if there
    /// is none.
    func firstPiece(endingAtOrAfter key: UnsafeRawBufferPointer, _ tree: TreeID) -> Int {
        lastKeys.first(atOrAfter: key, tree)
    }

    /// Returns the content of a key; a mark also if a range deletes it, and nil if older runs decide.
    ///
    /// - Parameter hash: of ``RunOwner/keyHash``.
    package func get(_ tree: TreeID, _ key: UnsafeRawBufferPointer, hash: UInt64) throws -> RunContent? {
        if let index = piece(of: key, tree), let found = try pieces[index].get(tree, key, hash: hash) { return found }
        return ranges.cover(tree, key) ? .mark : nil
    }

    /// - Throws: ``StrataError`` if bytes that were read until now could not be read.
    package func requireReadable() throws {
        guard MapGuard.hasMissingBytes else { return }
        for piece in pieces { try piece.requireReadable() }
    }
}

/// Keys in order.
// @unchecked: the memory never changes.
private final class KeyTable: @unchecked Sendable {
    private struct Key {
        var tree: TreeID
        var bytes: UnsafeRawBufferPointer
    }

    private let bytes: UnsafeMutableRawBufferPointer
    private let keys: UnsafeMutableBufferPointer<Key>

    init(_ keys: [RunKey]) {
        bytes = .allocate(byteCount: keys.reduce(0) { $0 + $1.bytes.count }, alignment: 1)
        self.keys = .allocate(capacity: keys.count)
        var end = 0
        for (index, key) in keys.enumerated() {
            let place = UnsafeMutableRawBufferPointer(rebasing: bytes[end..<end + key.bytes.count])
            place.copyBytes(from: key.bytes)
            end += key.bytes.count
            self.keys.initializeElement(at: index, to: Key(tree: key.tree, bytes: UnsafeRawBufferPointer(place)))
        }
    }

    deinit {
        bytes.deallocate()
        keys.deallocate()
    }

    /// The index of the first key that is not before a key; the number of keys if there is none.
    func first(atOrAfter key: UnsafeRawBufferPointer, _ tree: TreeID) -> Int {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            let found = keys[middle]
            let isBefore = found.tree == tree ? Bytes.compare(found.bytes, key) < 0 : found.tree < tree
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
