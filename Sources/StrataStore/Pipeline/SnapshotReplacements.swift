import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// Rebuilt copies of states, for readers that met a damaged page (docs/architecture.md §5).
final class SnapshotReplacements: Sendable {
    private struct Replacement {
        /// The state that is replaced, as long as a reader holds it.
        weak var broken: Snapshot?
        var state: Snapshot
    }

    typealias SoundViews = @Sendable (_ broken: Snapshot, StrataError) throws -> Views

    private let rebuilder: ViewsRebuilder
    /// Returns the newest views, folded again if a state is one of theirs and damaged. Set while the store is open.
    private let soundViews: Lock<SoundViews?> = Lock(nil)
    private let replacements: Lock<[Replacement]> = Lock([])
    /// Held while a state is folded.
    private let folding = Lock(0)

    init(_ rebuilder: ViewsRebuilder) { self.rebuilder = rebuilder }

    func begin(_ soundViews: @escaping SoundViews) { self.soundViews.withLock { $0 = soundViews } }

    func end() {
        soundViews.withLock { $0 = nil }
        replacements.withLock { $0 = [] }
    }

    /// Releases the replacements of states that no reader holds.
    func forgetUnused() {
        let unused = replacements.withLock { all -> [Replacement] in
            if all.isEmpty { return [] }
            defer { all.removeAll { $0.broken == nil } }
            return all.filter { $0.broken == nil }
        }
        // Outside the lock: releasing a state may run deinitializers.
        _ = unused
    }

    /// Returns a state that can be read in place of `broken`: the same state, or the newest if that is acceptable.
    ///
    /// - Throws: ``StrataError`` if the views or that state cannot be folded again.
    func replacement(for broken: Snapshot, because damage: StrataError, acceptsNewer: Bool) throws -> Snapshot {
        guard let soundViews = soundViews.withLock({ $0 }) else { throw StoreGate.error }
        forgetUnused()
        let newest = try soundViews(broken, damage).pages.snapshot()
        if acceptsNewer { return newest }
        // One at a time, so that readers that ask for the same state fold it once.
        return try folding.withLock { _ in
            if let known = replacements.withLock({ all in all.first { $0.broken === broken }?.state }) { return known }
            let offset = broken.foldedOffset(ViewTree.records)
            let state = newest.foldedOffset(ViewTree.records) == offset ? newest : try rebuilder.state(at: offset)
            keep(state, for: broken)
            return state
        }
    }

    private func keep(_ state: Snapshot, for broken: Snapshot) {
        replacements.withLock { all in
            // The broken state may itself be a replacement.
            for index in all.indices where all[index].state === broken { all[index].state = state }
            all.append(Replacement(broken: broken, state: state))
        }
    }
}
