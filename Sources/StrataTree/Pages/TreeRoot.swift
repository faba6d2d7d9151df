import StrataModel

/// Identifies a tree of a store. The numbers are stored on disk.
@usableFromInline
package struct TreeID: RawRepresentable, Hashable, Sendable, Comparable {
    @usableFromInline package let rawValue: UInt16

    @inlinable package init(rawValue: UInt16) { self.rawValue = rawValue }

    @inlinable package static func < (a: TreeID, b: TreeID) -> Bool { a.rawValue < b.rawValue }
}

/// The root of a tree in one generation.
struct TreeRoot: Sendable {
    /// 0 if the generation has no entries of the tree.
    var page: PageNumber = 0
    /// The level of the root page; 0 for a leaf.
    var level = 0
    /// The ranges of keys that this generation deletes in all older layers. Its own entries are not concerned.
    var deleted = DeletedRanges()
    /// The offset up to which the log is folded into the tree.
    var foldedOffset: UInt64 = 0
    /// The epoch of the last change of the tree, in this generation or an older layer.
    var changed: UInt64 = 0

    static let empty = TreeRoot()

    /// True if older layers decide about every key.
    var isTransparent: Bool { page == 0 && deleted.isEmpty }
}

/// Identifies the content of a tree: no two contents of trees of one process have the same. It may be kept longer than
/// the states that have the content.
package struct TreeIdentity: Hashable, Sendable {
    let changed: UInt64
}

/// The roots of all trees, by their ids.
struct TreeRoots: Sendable {
    private(set) var ids: [TreeID] = []
    private var roots: [TreeRoot] = []

    subscript(id: TreeID) -> TreeRoot {
        get {
            let index = index(of: id)
            return index < ids.count && ids[index] == id ? roots[index] : .empty
        }
        set {
            let index = index(of: id)
            if index < ids.count, ids[index] == id {
                roots[index] = newValue
            } else {
                ids.insert(id, at: index)
                roots.insert(newValue, at: index)
            }
        }
    }

    private func index(of id: TreeID) -> Int {
        var low = 0
        var high = ids.count
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// True if the generation has entries or deletes ranges.
    var hasEntries: Bool { roots.contains { !$0.isTransparent } }

    /// The same trees without entries, for a generation that begins on top of this one.
    func emptied() -> TreeRoots {
        var emptied = self
        for index in roots.indices {
            emptied.roots[index] = TreeRoot(foldedOffset: roots[index].foldedOffset, changed: roots[index].changed)
        }
        return emptied
    }
}
