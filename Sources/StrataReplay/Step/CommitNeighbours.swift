import StrataLog

/// Finds the commits next to an offset; a log may leave offsets out.
struct CommitNeighbours {
    let log: any EventLog
    let floor: UInt64
    /// The last commit that counts; the log may continue after it.
    let end: UInt64

    /// Returns the next commit; nil after the last one.
    func next(after offset: UInt64) throws -> Commit? {
        guard offset < end else { return nil }
        var cursor = try log.read(from: offset + 1)
        guard let commit = try cursor.next(), commit.offset <= end else { return nil }
        return commit
    }

    /// Returns the previous commit; nil before the first one.
    func previous(before offset: UInt64) throws -> Commit? {
        var upper = min(offset, end + 1)
        guard upper > floor + 1 else { return nil }
        if let commit = try log.commit(at: upper - 1) { return commit }
        // In a gap, ever wider steps back find a commit, and halving finds the last one before the offset.
        var (lower, width): (UInt64, UInt64) = (upper, 1)
        var found: Commit?
        while found == nil, lower > floor + 1 {
            upper = lower
            lower -= min(width, lower - floor - 1)
            width *= 2
            found = try next(after: lower - 1).flatMap { $0.offset < upper ? $0 : nil }
        }
        while let commit = found, upper - commit.offset > 1 {
            let middle = commit.offset + (upper - commit.offset) / 2
            if let later = try next(after: middle - 1), later.offset < upper {
                found = later
            } else {
                upper = middle
            }
        }
        return found
    }
}
