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

    /// Ends all waits in ``waitForEnd(past:)``, present and future. Reading remains possible.
    ///
    /// ```swift
    /// reader.stopWaiting()
    /// ```
    package func stopWaiting() { watch.stop() }
}
