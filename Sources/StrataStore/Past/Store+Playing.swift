import StrataLog
import StrataModel

/// A past that comes again, commit by commit (StrataReplay's `Playback`).
extension Store {
    /// The store as it was when a commit was its last, for whom ``play(through:)`` brings again what came later.
    /// Devices can listen, and are told as they were then; nothing can be written.
    ///
    /// - Parameter last: the last commit that will be played; it will be there for whoever reads the files.
    /// - Throws: ``StrataError`` `outOfRange` for an offset behind the end, and for one whose history was let go.
    package func played(from offset: UInt64, through last: UInt64) throws -> Store {
        let past = try asOf(offset)
        if log.durableEnd.offset < last { try log.sync() }
        past.engine.notifier.beginPlaying(at: past.views.pages.snapshot())
        return past
    }

    /// Moves such a store on to a later commit, and returns when the devices that listen have been told.
    package func play(through offset: UInt64) throws {
        try advance(to: offset)
        awaitNotifications()
    }

    /// Returns when the devices that listen have been told of all that the store shows.
    package func awaitNotifications() { engine.notifier.awaitSight(of: offset) }

    /// What came later than what such a store shows.
    package func laterCommits() throws -> any CommitCursor {
        try gate.requireOpen()
        guard let past = log as? PastLog else { return try log.read(from: offset + 1) }
        return try past.readLater()
    }

    /// Returns once there is something later, or the task is cancelled.
    package func waitForLaterCommits() async { await (log as? PastLog)?.waitForLater() }
}
