/// The layers under the trees that a fork changes.
struct Below: Sendable {
    /// Generations that are being written as runs, newest first.
    var frozen: [MemoryLayer] = []
    var levels = Levels.none

    var isEmpty: Bool { frozen.isEmpty && levels.runs.isEmpty }

    /// The layers with a generation on top that takes no more changes, if it has any.
    func adding(_ layer: MemoryLayer) -> Below {
        layer.roots.hasEntries ? Below(frozen: [layer] + frozen, levels: levels) : self
    }

    /// The same content, with a flushed generation or merged runs as the store has them now.
    func with(_ levels: Levels) -> Below {
        Below(frozen: frozen.filter { $0.epoch > levels.flushed }, levels: levels)
    }
}
