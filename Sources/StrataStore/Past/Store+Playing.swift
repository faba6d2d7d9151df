import StrataLog
import StrataModel

/// A past that is played back, commit by commit (``Playback``).
extension Store {
    /// Returns the store as of a commit, to which ``play(_:)`` adds the later commits again. Devices can listen,
    /// and are notified as they were then; nothing can be written.
    ///
    /// - Parameter last: the last commit that will be played; it is made durable, so that readers of the files find it.
    /// - Throws: ``StrataError`` `outOfRange` for an offset past the end, and for one whose history was removed.
    package func played(from offset: UInt64, through last: UInt64) throws -> Store {
        let past = try asOf(offset)
        if (log.segments?.durableEnd ?? log.durableEnd).offset < last { try log.sync() }
        past.engine.notifier.beginPlaying(at: past.views.trees.snapshot())
        return past
    }

    /// Adds the commits that come next to such a store, and returns when the listening devices have been notified.
    package func play(_ commits: [Commit]) throws {
        try gate.requireOpen()
        try engine.advance(over: commits)
        awaitNotifications()
    }

    /// Returns when the listening devices have been notified of everything that the store shows.
    package func awaitNotifications() { engine.notifier.awaitSight(of: offset) }

    /// Returns a cursor for the commits after those that such a store shows.
    package func laterCommits() throws -> any CommitCursor {
        try gate.requireOpen()
        guard let past = log as? HistoricalLog else { return try log.read(from: offset + 1) }
        return try past.readLater()
    }

    /// Returns once there is a later commit, or the task is canceled.
    package func waitForLaterCommits() async { await (log as? HistoricalLog)?.waitForLater() }
}
