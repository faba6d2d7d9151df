import StrataModel

/// Identifies a tree of a page file. The numbers are stored on disk.
@usableFromInline
package struct TreeID: RawRepresentable, Hashable, Sendable, Comparable {
    @usableFromInline package let rawValue: UInt16

    @inlinable package init(rawValue: UInt16) { self.rawValue = rawValue }

    @inlinable package static func < (a: TreeID, b: TreeID) -> Bool { a.rawValue < b.rawValue }
}

/// The root of a tree.
struct TreeRoot: Equatable, Sendable {
    /// 0 if the tree is empty.
    var page: PageNumber = 0
    /// The level of the root page; 0 for a leaf.
    var level = 0
    var entryCount: UInt64 = 0
    /// The offset up to which the log is folded into the tree.
    var foldedOffset: UInt64 = 0

    static let empty = TreeRoot()

    /// Subtracts removed entries. The current count came from a file and may be too low.
    mutating func discount(_ count: UInt64) throws {
        guard count <= entryCount else {
            throw StrataError(
                .malformed, "A tree has more entries than its root counts.",
                .init(expected: "\(entryCount)", found: "at least \(count)"))
        }
        entryCount -= count
    }
}

/// Identifies the content of a tree: a change gives the tree another root page, and a page number that is used again
/// comes with a later birth. It may be kept longer than the states that have the content.
package struct TreeIdentity: Hashable, Sendable {
    /// The number of the open page store. An address could be used again.
    let store: UInt64
    let page: PageNumber
    let birth: UInt64
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
}
