import StrataLog
import StrataModel

/// The commits after a position, and then new ones as they are appended. Ends when the log is closed.
///
/// ```swift
/// for try await commit in log.changes(after: log.end) { print(commit.offset) }
/// ```
package struct CommitStream: AsyncSequence, Sendable {
    package typealias Element = Commit

    let log: any EventLog
    let start: Position

    package func makeAsyncIterator() -> Iterator { Iterator(log: log, seen: start) }

    package struct Iterator: AsyncIteratorProtocol {
        private let log: any EventLog
        private var seen: Position
        private var cursor: (any CommitCursor)?

        init(log: any EventLog, seen: Position) {
            self.log = log
            self.seen = seen
        }

        package mutating func next() async throws -> Commit? {
            if cursor == nil {
                try checkStart()
                cursor = try log.read(from: seen.offset + 1)
            }
            while !Task.isCancelled {
                if let commit = try cursor?.next() {
                    seen = commit.position
                    return commit
                }
                await log.waitForEnd(past: seen.offset)
                // The wait ends without news only if the log was closed or the task canceled.
                if log.end.offset <= seen.offset { return nil }
            }
            return nil
        }

        private func checkStart() throws {
            let chain = try log.chain(at: seen.offset)
            guard chain == seen.chain else {
                throw StrataError(
                    .brokenChain, "The position belongs to a different history than this log.",
                    .init(offset: seen.offset, expected: hexadecimal(seen.chain), found: hexadecimal(chain)))
            }
        }
    }
}

extension EventLog {
    /// Follows the log from a position of its own history.
    package func changes(after position: Position) -> CommitStream { CommitStream(log: self, start: position) }
}
