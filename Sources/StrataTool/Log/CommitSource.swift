import StrataLog
import StrataModel

/// A source of commits in sequence.
protocol CommitSupply {
    /// Returns the next commit; nil after the last one, or before ``damage``.
    mutating func next() throws -> Commit?
    /// The damage that ended the supply early; nil if none was found.
    var damage: StrataError? { get }
}

/// Gives the commits of a store in order, up to its end or the first damage.
struct CommitSource: CommitSupply {
    private(set) var store: StoreAccess
    private var cursor: any CommitCursor
    private(set) var nextOffset: UInt64
    var damage: StrataError? { store.damage }

    init(_ store: StoreAccess, from offset: UInt64) throws {
        self.store = store
        nextOffset = max(offset, store.reader.floor.offset + 1)
        cursor = try store.reader.read(from: nextOffset)
    }

    /// Returns the next commit; nil at the end, where ``wait(milliseconds:)`` may find more, or before
    /// ``StoreAccess/damage``.
    mutating func next() throws -> Commit? {
        while true {
            do {
                guard let commit = try cursor.next() else { return nil }
                nextOffset = commit.offset + 1
                Progress.note(commit.offset, of: store.reader.end.offset)
                return commit
            } catch let error as StrataError {
                // A damaged segment is read once more, up to the damage.
                guard let narrowed = store.narrowed(by: error) else { throw error }
                store = narrowed
                cursor = try store.reader.read(from: nextOffset)
            }
        }
    }

    /// Waits for new commits until the timeout.
    func wait(milliseconds: Int) throws {
        if let damage = store.damage { throw damage }
        _ = try store.reader.wait(past: nextOffset - 1, milliseconds: milliseconds)
    }
}

extension LogReader {
    /// Returns the time of a commit in microseconds since 1970; nil if it does not exist or was compacted.
    func timeIfKept(of offset: UInt64) throws -> Int64? {
        // The base keeps the time of the last compacted commit.
        if offset == floor.offset { return try readBase()?.time }
        guard offset > floor.offset else { return nil }
        do { return try commit(at: offset)?.time } catch let error as StrataError where error.code == .outOfRange {
            // Another process compacted it meanwhile.
            return nil
        }
    }
}
