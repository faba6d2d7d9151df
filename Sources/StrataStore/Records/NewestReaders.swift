import StrataSystem
import StrataTree

/// The zone readers of the newest state: a program that takes a snapshot for each fetch looks a zone up once.
final class NewestReaders: Sendable {
    /// The state is held, so it must be replaced when the next one is published.
    private let newest = Lock<(trees: Snapshot, readers: ZoneReaders)?>(nil)

    /// Returns the readers that all snapshots of the newest state share, or new ones for another state.
    func readers(of trees: Snapshot) -> ZoneReaders {
        newest.withLock { $0?.trees === trees ? $0?.readers : nil } ?? ZoneReaders()
    }

    /// Takes the state that was published.
    func take(_ trees: Snapshot?) {
        let before = newest.withLock { newest in
            defer { newest = trees.map { ($0, ZoneReaders()) } }
            return newest
        }
        // Outside the lock: releasing a state takes the lock of the pages.
        _ = consume before
    }
}
