/// The trees of one state within a generation, which stay readable as long as this exists.
final class MemoryLayer: Sendable {
    let generation: Generation
    let epoch: UInt64
    let roots: TreeRoots

    init(_ generation: Generation, epoch: UInt64, roots: TreeRoots) {
        self.generation = generation
        self.epoch = epoch
        self.roots = roots
        generation.pin(epoch)
    }

    deinit { generation.unpin(epoch) }
}
