import StrataLog
import StrataModel

/// Reads the commits of a log in batches that are to be appended elsewhere, with the same offsets and chain values.
struct CommitBatches {
    /// A batch ends before it has more bytes, unless it is one commit.
    private let byteLimit: Int
    /// The last commit of the batches.
    private let last: UInt64
    private var cursor: any CommitCursor
    private var waiting: NewCommit?
    /// The last commit that was read.
    private var end: Position

    /// - Throws: `.outOfRange` if the source has compacted commits that the batches should have.
    init(of source: any HistoryLog, after position: Position, through last: UInt64, byteLimit: Int) throws {
        guard position.offset >= source.floor.offset else {
            throw StrataError(
                .outOfRange, "The history was compacted, so its first commits cannot be copied.",
                .init(offset: position.offset + 1, expected: "a commit after \(source.floor.offset)"))
        }
        self.last = last
        self.byteLimit = byteLimit
        end = position
        cursor = try source.read(from: position.offset + 1)
    }

    /// Returns the next batch; an empty one after the last.
    ///
    /// - Throws: `.erased` for a commit whose chain value does not follow from its payload.
    mutating func next() throws -> [NewCommit] {
        var batch: [NewCommit] = []
        var byteCount = 0
        while let commit = try waiting ?? read() {
            byteCount += SequencedEntry.commitHeaderBytes + commit.payload.count
            guard batch.isEmpty || byteCount <= byteLimit else {
                waiting = commit
                break
            }
            waiting = nil
            batch.append(commit)
        }
        return batch
    }

    private mutating func read() throws -> NewCommit? {
        guard end.offset < last, let stored = try cursor.next() else { return nil }
        let commit = NewCommit(id: stored.id, time: stored.time, payload: stored.payload)
        end = end.following(commit)
        guard end == stored.position else {
            throw StrataError(
                .erased, "Data was erased from a commit, so a copy could not have the same chain value.",
                .init(offset: stored.offset, expected: "\(stored.position)", found: "\(end)"))
        }
        return commit
    }
}
