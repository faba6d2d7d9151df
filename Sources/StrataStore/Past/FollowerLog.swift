import StrataLog
import StrataModel
import StrataSystem

/// A log that this process only reads, while another process may write it.
final class FollowerLog: ReadOnlyLog, ForwardingLog {
    private let current: Lock<LogReader>
    private let open: @Sendable () throws -> LogReader
    private let gate = StoreGate()

    /// - Parameter open: opens a reader of the log in its current state.
    init(_ open: @escaping @Sendable () throws -> LogReader) throws {
        self.open = open
        current = Lock(try open())
    }

    /// The reader of the log as it was last opened.
    var source: LogReader { current.withLock { $0 } }

    var storeID: Identifier { source.identity.storeID }

    /// Looks for new commits; returns true if there are any.
    func refresh() throws -> Bool {
        let reader = source
        do { return try reader.refresh() } catch let error as StrataError where error.code == .outOfRange {
            // The next commits were removed.
            try reopen()
            return end.offset > reader.end.offset
        }
    }

    /// Folds the log from its beginning, and again if its writer removes a part while this reads.
    ///
    /// - Parameter first: true if it is already known that the beginning has changed.
    func beginningAnew<Result>(first isKnown: Bool, _ fold: () throws -> Result) throws -> Result {
        if isKnown { try reopen() }
        for _ in 0..<Self.maximumBeginnings {
            let before = floor.offset
            do { return try fold() } catch let error as StrataError where error.code == .outOfRange {
                try reopen()
                guard floor.offset > before else { throw error }
            }
        }
        return try fold()
    }

    /// The maximum number of retries, since a writer does not keep compacting while a state is folded.
    private static let maximumBeginnings = 8

    /// Opens the log again, in its current state and with its current floor.
    private func reopen() throws {
        let again = try open()
        let before = current.withLock { current in
            defer { current = again }
            return current
        }
        before.stopWaiting()
    }

    func sync() throws { try gate.requireOpen() }

    func storedSegments() throws -> [StoredSegment] { try source.storedSegments() }

    func waitForEnd(past offset: UInt64) async {
        while end.offset <= offset, !gate.isClosed, !Task.isCancelled {
            do { try await source.waitForEnd(past: offset) } catch let error as StrataError
                where error.code == .directoryGone
            {
                // No more commits follow; the next refresh throws the error.
                return
            } catch {
                // The log may be unreadable only while a writer is at work.
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    func close() throws {
        gate.close()
        source.stopWaiting()
    }
}
