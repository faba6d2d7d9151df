import StrataModel

extension LogReader {
    /// Waits on the calling thread until there is a commit after `offset`, at most for the given time and at most for a
    /// day. Returns true if there is one. With a live writer this does not poll: the writer wakes the reader.
    ///
    /// ```swift
    /// while try !reader.wait(past: seen, milliseconds: 1_000) { print("nothing new") }
    /// ```
    package func wait(past offset: UInt64, milliseconds: Int) throws -> Bool {
        let deadline = ContinuousClock.now + .milliseconds(min(milliseconds, 86_400_000))
        while true {
            let outlook = try look().outlook
            if end.offset > offset { return true }
            let rest = ContinuousClock.now.duration(to: deadline)
            if rest <= .zero { return false }
            tail.wait(after: outlook, milliseconds: Int(rest / .milliseconds(1)) + 1)
        }
    }

    /// Returns once there is a commit after `offset`, ``stopWaiting()`` was called, or the task is canceled. The
    /// waiting is done on a thread of the reader's own.
    ///
    /// ```swift
    /// try await reader.waitForEnd(past: reader.end.offset)
    /// ```
    /// - Throws: the error that keeps the log from being read further.
    package func waitForEnd(past offset: UInt64) async throws {
        if end.offset <= offset {
            try await watch.wait(past: offset, end: { [self] in end.offset }) { [weak self] milliseconds in
                // Held only during a look, so that the thread does not keep the reader alive.
                guard let self else { return false }
                _ = try wait(past: end.offset, milliseconds: milliseconds)
                return true
            }
        }
    }

    /// Ends all waits in ``waitForEnd(past:)``, present and future, and with them the followers. Reading remains
    /// possible.
    ///
    /// ```swift
    /// reader.stopWaiting()
    /// ```
    package func stopWaiting() { watch.stop() }

    /// Returns the commits from `offset` on, and then new ones as they are appended, regardless of what happens to the
    /// writer.
    ///
    /// ```swift
    /// for try await commit in reader.follow(from: 1) { print(commit.offset) }
    /// ```
    package func follow(from offset: UInt64) -> LogFollower { LogFollower(reader: self, first: max(offset, 1)) }
}

/// The commits of a log that another process may be writing, as they are appended. Ends when its task is canceled or
/// the reader stops waiting.
///
/// It continues by offset, because segments may be closed, sealed and discarded while it waits.
///
/// ```swift
/// let reader = try LogReader.open(at: "Notes.strata")
/// for try await commit in reader.follow(from: reader.end.offset + 1) { print(commit.offset) }
/// ```
package struct LogFollower: AsyncSequence, Sendable {
    package typealias Element = Commit

    let reader: LogReader
    let first: UInt64

    package func makeAsyncIterator() -> Iterator { Iterator(reader: reader, nextOffset: first) }

    package struct Iterator: AsyncIteratorProtocol {
        private let reader: LogReader
        private var nextOffset: UInt64
        private var cursor: (any CommitCursor)?

        init(reader: LogReader, nextOffset: UInt64) {
            self.reader = reader
            self.nextOffset = nextOffset
        }

        /// - Throws: `.outOfRange` if the history at the next offset has been discarded, or the error that keeps the
        ///   log from being read.
        package mutating func next() async throws -> Commit? {
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
