import StrataLog
import StrataModel

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

extension LogReader {
    /// Returns the commits from `offset` on, and then new ones as they are appended, regardless of what happens to the
    /// writer.
    ///
    /// ```swift
    /// for try await commit in reader.follow(from: 1) { print(commit.offset) }
    /// ```
    package func follow(from offset: UInt64) -> LogFollower { LogFollower(reader: self, first: max(offset, 1)) }
}
