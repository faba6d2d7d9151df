import StrataModel

extension LogReader {
    /// Waits on the calling thread until there is a commit behind `offset`, or for so long, a day at most. Beside a
    /// living writer this is not polling: the writer wakes it.
    ///
    /// ```swift
    /// while try !reader.wait(past: seen, milliseconds: 1_000) { print("nothing new") }
    /// ```
    /// - Returns: whether there is one.
    public func wait(past offset: UInt64, milliseconds: Int) throws -> Bool {
        let deadline = ContinuousClock.now + .milliseconds(min(milliseconds, 86_400_000))
        while true {
            let outlook = try look().outlook
            if end.offset > offset { return true }
            let rest = ContinuousClock.now.duration(to: deadline)
            if rest <= .zero { return false }
            tail.wait(behind: outlook, milliseconds: Int(rest / .milliseconds(1)) + 1)
        }
    }

    /// Returns once there is a commit behind `offset`, or ``stopWaiting()`` was called, or the task is cancelled. A
    /// thread of the reader's own waits for it.
    ///
    /// ```swift
    /// try await reader.waitForEnd(past: reader.end.offset)
    /// ```
    /// - Throws: what keeps the log from being read on.
    public func waitForEnd(past offset: UInt64) async throws {
        if end.offset <= offset { try await watch.wait(past: offset, of: self) }
    }

    /// Nobody waits for this reader's log in ``waitForEnd(past:)`` any more: followers end. Reading goes on.
    ///
    /// ```swift
    /// reader.stopWaiting()
    /// ```
    public func stopWaiting() { watch.stop() }

    /// The commits from `offset` on, and then those that are appended, as they come, through whatever becomes of the
    /// writer.
    ///
    /// ```swift
    /// for try await commit in reader.follow(from: 1) { print(commit.offset) }
    /// ```
    public func follow(from offset: UInt64) -> LogFollower { LogFollower(reader: self, first: max(offset, 1)) }
}

/// The commits of a log that another process may write, as they come; it ends when its task is cancelled or the
/// reader stops waiting.
///
/// It goes by offset: segments may be closed, sealed, and let go behind it.
///
/// ```swift
/// let reader = try LogReader.open(at: "Notes.strata")
/// for try await commit in reader.follow(from: reader.end.offset + 1) { print(commit.offset) }
/// ```
public struct LogFollower: AsyncSequence, Sendable {
    public typealias Element = Commit

    let reader: LogReader
    let first: UInt64

    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader, nextOffset: first) }

    public struct Iterator: AsyncIteratorProtocol {
        private let reader: LogReader
        private var nextOffset: UInt64
        private var cursor: (any CommitCursor)?

        init(reader: LogReader, nextOffset: UInt64) {
            self.reader = reader
            self.nextOffset = nextOffset
        }

        /// - Throws: `.outOfRange` if the history at the next offset has been let go; what else keeps the log from
        ///   being read.
        public mutating func next() async throws -> Commit? {
            if cursor == nil { cursor = try reader.read(from: nextOffset) }
            while !Task.isCancelled {
                if let commit = try cursor?.next() {
                    nextOffset = commit.offset + 1
                    return commit
                }
                try await reader.waitForEnd(past: nextOffset - 1)
                if reader.end.offset < nextOffset { return nil }
            }
            return nil
        }
    }
}
