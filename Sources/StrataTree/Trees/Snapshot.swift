import StrataModel

/// An immutable state of all trees of a store, as published. Taking it costs nothing.
///
/// ```swift
/// let snapshot = store.snapshot()
/// let bytes = try snapshot.get(records, key) { value in [UInt8](value) }
/// ```
@usableFromInline
package final class Snapshot: Sendable {
    let top: MemoryLayer
    let below: Below

    init(top: MemoryLayer, below: Below) {
        self.top = top
        self.below = below
    }

    var epoch: UInt64 { top.epoch }
    var roots: TreeRoots { top.roots }
    var layers: LayerStack { LayerStack(generation: top.generation, roots: top.roots, below: below) }

    /// The trees that are or have been non-empty.
    package var trees: [TreeID] { roots.ids }
    package func foldedOffset(_ id: TreeID) -> UInt64 { roots[id].foldedOffset }
    /// The identity of a tree's content.
    package func identity(of id: TreeID) -> TreeIdentity { TreeIdentity(changed: roots[id].changed) }
    /// Returns true if a tree is the same in another state.
    package func shares(_ id: TreeID, with other: Snapshot) -> Bool { identity(of: id) == other.identity(of: id) }
}
