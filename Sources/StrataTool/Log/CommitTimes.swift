import StrataLog
import StrataModel

/// The times of commits, as far as the log still has them.
struct CommitTimes {
    let log: LogReader

    /// Microseconds since 1970; nil for a commit that does not exist or was compacted.
    func time(of offset: UInt64) throws -> Int64? {
        // The base keeps the time of the last compacted commit.
        if offset == log.floor.offset { return try log.readBase()?.time }
        guard offset > log.floor.offset else { return nil }
        do { return try log.commit(at: offset)?.time } catch let error as StrataError where error.code == .outOfRange {
            // Another process has compacted it.
            return nil
        }
    }
}
