import StrataLog
import StrataModel
import StrataSystem

/// A log that this process only reads, while another one may write it.
final class FollowedLog: OnlyReadLog {
    private let current: Lock<LogReader>
    private let open: @Sendable () throws -> LogReader
    private let gate = StoreGate()

    /// - Parameter open: makes a reader of the log as it is then.
    init(_ open: @escaping @Sendable () throws -> LogReader) throws {
        self.open = open
        current = Lock(try open())
    }

    private var reader: LogReader { current.withLock { $0 } }

    static var error: StrataError { StrataError(.onlyRead, "The store was opened for reading only.") }

    var storeID: Identifier { reader.identity.storeID }
    var end: Position { reader.end }
    var endTime: Int64? { reader.endTime }
    var floor: Position { reader.floor }

    /// Looks for commits that have come since; returns whether there are any.
    func refresh() throws -> Bool {
        let reader = reader
        do { return try reader.refresh() } catch let error as StrataError where error.code == .outOfRange {
            // What comes next was let go of.
            try reopen()
            return end.offset > reader.end.offset
        }
    }

    /// Folds the log from its beginning, again where its writer let go of a part meanwhile.
    ///
    /// - Parameter first: whether it is known already that the beginning is another one.
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

    /// A writer that compacts again while a state is folded does not do so for ever.
    private static let maximumBeginnings = 8

    /// Goes on with the log as it is now, and with its floor.
    private func reopen() throws {
        let again = try open()
        let before = current.withLock { current in
            defer { current = again }
            return current
        }
        before.stopWaiting()
    }

    func sync() throws { try gate.requireOpen() }

    func commit(at offset: UInt64) throws -> Commit? { try reader.commit(at: offset) }
    func read(from offset: UInt64) throws -> any CommitCursor { try reader.read(from: offset) }
    func chain(at offset: UInt64) throws -> UInt32 { try reader.chain(at: offset) }
    func firstOffset(notBefore time: Int64) throws -> UInt64? { try reader.firstOffset(notBefore: time) }
    func touches(zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        try reader.touches(zone: zone, after: offset, limit: limit)
    }
    func touches(record name: [UInt8], in zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        try reader.touches(record: name, in: zone, after: offset, limit: limit)
    }
    func lastTouches(
        record name: [UInt8], in zone: UInt64, through last: UInt64, limit: Int
    ) throws -> LastTouches {
        try reader.lastTouches(record: name, in: zone, through: last, limit: limit)
    }
    func base() throws -> Position? { try reader.base() }
    func readBase() throws -> BaseReader? { try reader.readBase() }
    func storedSegments() throws -> [StoredSegment] { try reader.storedSegments() }

    func waitForEnd(past offset: UInt64) async {
        while end.offset <= offset, !gate.isClosed, !Task.isCancelled {
            do { try await reader.waitForEnd(past: offset) } catch let error as StrataError
                where error.code == .directoryGone
            {
                // No more commits follow; the next refresh throws the error.
                return
            } catch {
                // What cannot be read now may be somebody at work.
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    func close() throws {
        gate.close()
        reader.stopWaiting()
    }
}
