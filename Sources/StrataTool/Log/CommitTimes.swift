import StrataLog
import StrataModel

/// When commits were made, as far as a log still says it.
struct CommitTimes {
    let log: LogReader

    /// Microseconds since 1970; nil for a commit that is not there, or was let go.
    func time(of offset: UInt64) throws -> Int64? {
        // Of what was let go the base has the last commit's time.
        if offset == log.floor.offset { return try log.readBase()?.time }
        guard offset > log.floor.offset else { return nil }
        do { return try log.commit(at: offset)?.time } catch let error as StrataError where error.code == .outOfRange {
            // Another program let go of it meanwhile.
            return nil
        }
    }
}
