import StrataModel
import StrataSystem

/// A log in memory.
///
/// ```swift
/// let store = try Store(on: MemoryLog())
/// ```
package final class MemoryLog: EventLog {
    private struct State {
        /// In the order of their offsets.
        var commits: [Commit] = []
        var touches: [[Touch]] = []
        var floor = Position.start
        var durableOffset: UInt64 = 0
        var isClosed = false
        var endTime: Int64?

        var end: Position { commits.last?.position ?? floor }
    }

    package let maximumCommitBytes: Int
    package var assignsNextOffset: Bool { gap == nil }
    private let gap: (@Sendable () -> UInt64)?
    private let touchFunction: TouchFunction
    private let state = Lock(State())
    private let waiters = EndWaiters()

    /// - Parameter gap: returns the number of offsets to skip before each commit; nil for none.
    package init(
        maximumCommitBytes: Int = LogFormat.maximumCommitBytes, gap: (@Sendable () -> UInt64)? = nil,
        touches: @escaping TouchFunction = { try Envelope.touches(of: $0) }
    ) {
        self.maximumCommitBytes = maximumCommitBytes
        self.gap = gap
        touchFunction = touches
    }

    package var end: Position { state.withLock { $0.end } }
    package var endTime: Int64? { state.withLock { $0.endTime } }
    package var floor: Position { state.withLock { $0.floor } }

    package var durableEnd: Position {
        state.withLock { state in state.commits.last { $0.offset <= state.durableOffset }?.position ?? state.floor }
    }

    /// Reopens a closed log.
    package func reopen() { state.withLock { $0.isClosed = false } }

    private static var closedError: StrataError { StrataError(.closed, "The log has been closed.") }

    // MARK: Writing

    package func append(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        if commits.isEmpty { return Appended(positions: []) }
        guard commits.allSatisfy({ $0.payload.count <= maximumCommitBytes }) else {
            throw .tooLarge(limit: maximumCommitBytes)
        }
        let touches: [[Touch]]
        do { touches = try commits.map { try $0.touches ?? $0.payload.withUnsafeBytes(touchFunction) } } catch {
            throw .notWritten(
                error as? StrataError
                    ?? StrataError(.invalidArgument, "The touches of the payload cannot be determined.", cause: error))
        }
        let result = state.withLock { append(commits, touches, expecting: expecting, to: &$0) }
        wakeWaiters()
        return try result.get()
    }

    /// Appends durably: memory has no other durability.
    package func appendLazily(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        try append(commits, expecting: expecting)
    }

    private func append(
        _ commits: [NewCommit], _ touches: [[Touch]], expecting: Position, to state: inout State
    ) -> Result<Appended, AppendFailure> {
        if state.isClosed { return .failure(.notWritten(Self.closedError)) }
        if expecting != state.end { return appendAfterKnown(commits, touches, expecting: expecting, to: &state) }
        do throws(AppendFailure) { try commits[...].checkOrder(after: state.end, time: state.endTime ?? .min) } catch {
            return .failure(error)
        }
        return .success(Appended(positions: zip(commits, touches).map { insert($0, $1, &state) }))
    }

    private func appendAfterKnown(
        _ commits: [NewCommit], _ touches: [[Touch]], expecting: Position, to state: inout State
    ) -> Result<Appended, AppendFailure> {
        let start =
            expecting == state.floor
            ? 0 : state.commits.firstIndex { $0.position == expecting }.map { $0 + 1 }
        guard let start else { return .failure(.conflict(state.end)) }
        let known = zip(commits, state.commits[start...]).prefix { $0.id == $1.id }.map { $1.position }
        guard let last = known.last else { return .failure(.conflict(state.end)) }
        if known.count == commits.count || last != state.end { return .success(Appended(positions: known)) }
        let rest = Array(commits[known.count...])
        switch append(rest, Array(touches[known.count...]), expecting: state.end, to: &state) {
        case .success(let more): return .success(Appended(positions: known + more.positions))
        case .failure: return .success(Appended(positions: known))
        }
    }

    private func insert(_ commit: NewCommit, _ touches: [Touch], _ state: inout State) -> Position {
        let end = state.end
        let offset = end.offset + 1 + (gap?() ?? 0)
        let chain = commit.payload.withUnsafeBytes {
            Chain.value(after: end.chain, offset: offset, time: commit.time, payload: $0)
        }
        state.commits.append(
            Commit(offset: offset, id: commit.id, time: commit.time, chain: chain, payload: commit.payload))
        state.touches.append(touches)
        state.endTime = commit.time
        state.durableOffset = offset
        return Position(offset: offset, chain: chain)
    }

    package func sync() throws {
        if state.withLock({ $0.isClosed }) { throw Self.closedError }
    }

    package func trim(to offset: UInt64) throws -> Position {
        try state.withLock { state in
            if state.isClosed { throw Self.closedError }
            let count = state.commits.prefix { $0.offset <= offset }.count
            if count > 0 {
                state.floor = state.commits[count - 1].position
                state.commits.removeFirst(count)
                state.touches.removeFirst(count)
            }
            return state.floor
        }
    }

    package func rewrite(
        through offset: UInt64, lookup: @escaping NameLookup, _ rewritten: PayloadRewriting
    ) throws {
        try state.withLock { state in
            if state.isClosed { throw Self.closedError }
            for index in state.commits.indices where state.commits[index].offset <= offset {
                guard let payload = try rewritten(state.commits[index].offset, state.commits[index].payload) else {
                    continue
                }
                state.touches[index] = try payload.withUnsafeBytes { try touchFunction($0) }
                state.commits[index].payload = payload[...]
            }
        }
    }

    package func close() throws {
        state.withLock { $0.isClosed = true }
        wakeWaiters()
    }

    // MARK: Reading

    /// Returns the index of the first commit at or after an offset.
    private static func index(of offset: UInt64, in commits: [Commit]) -> Int {
        commits.endOfPrefix { $0.offset < offset }
    }

    private func readable<Result: Sendable>(
        from offset: UInt64, _ body: (State) throws -> Result
    ) throws -> Result {
        try state.withLock { state in
            if state.isClosed { throw Self.closedError }
            guard offset > state.floor.offset else {
                throw StrataError(
                    .outOfRange, "The history up to the floor has been compacted.",
                    .init(expected: "an offset after \(state.floor.offset)", found: "\(offset)"))
            }
            return try body(state)
        }
    }

    package func commit(at offset: UInt64) throws -> Commit? {
        if offset == 0 { return nil }
        return try readable(from: offset) { state in
            let index = Self.index(of: offset, in: state.commits)
            return index < state.commits.count && state.commits[index].offset == offset ? state.commits[index] : nil
        }
    }

    fileprivate func firstCommit(from offset: UInt64) throws -> Commit? {
        try readable(from: offset) { state in
            let index = Self.index(of: offset, in: state.commits)
            return index < state.commits.count ? state.commits[index] : nil
        }
    }

    package func read(from offset: UInt64) throws -> any CommitCursor {
        let start = max(offset, 1)
        try readable(from: start) { _ in }
        return MemoryCursor(log: self, nextOffset: start)
    }

    package func chain(at offset: UInt64) throws -> UInt32 {
        let floor = state.withLock { $0.floor }
        if offset == floor.offset { return floor.chain }
        guard let commit = try commit(at: offset) else {
            throw StrataError(.outOfRange, "The log has no commit at this offset.", .init(offset: offset))
        }
        return commit.chain
    }

    package func firstOffset(notBefore time: Int64) throws -> UInt64? {
        try state.withLock { state in
            if state.isClosed { throw Self.closedError }
            let index = state.commits.endOfPrefix { $0.time < time }
            return index < state.commits.count ? state.commits[index].offset : nil
        }
    }

    package func base() throws -> Position? { nil }
    package func readBase() throws -> BaseReader? { nil }

    package func touches(zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        guard limit > 0 else {
            throw StrataError(
                .invalidArgument, "A page of touches must have room for at least one.", .init(found: "\(limit)"))
        }
        if offset == UInt64.max { return TouchPage(touches: [], readThrough: offset, moreComing: false) }
        return try readable(from: offset + 1) { state in
            var page = TouchPage(touches: [], readThrough: max(offset, state.end.offset), moreComing: false)
            for index in Self.index(of: offset + 1, in: state.commits)..<state.commits.count {
                let commit = state.commits[index]
                let found = state.touches[index].filter { $0.zone == zone }
                if !found.isEmpty, page.touches.count >= limit {
                    page.moreComing = true
                    page.readThrough = page.touches.last?.offset ?? offset
                    return page
                }
                page.touches += found.map { $0.resolved(in: commit) }
            }
            return page
        }
    }

    /// Filters all touches of the zone.
    package func touches(
        record name: [UInt8], in zone: UInt64, after offset: UInt64, limit: Int
    ) throws -> TouchPage {
        var page = TouchPage(touches: [], readThrough: offset, moreComing: true)
        while page.moreComing, page.touches.count < limit {
            let next = try touches(zone: zone, after: page.readThrough, limit: max(limit, TouchPage.pieceCount))
            page.touches += next.touches.filter { $0.isOf(record: name) }
            (page.readThrough, page.moreComing) = (next.readThrough, next.moreComing)
        }
        return page
    }

    /// Reads from the beginning, since the lists are in memory.
    package func lastTouches(
        record name: [UInt8], in zone: UInt64, through last: UInt64, limit: Int
    ) throws -> LastTouches {
        var commits: [(offset: UInt64, count: Int)] = []
        var (offset, moreComing) = (floor.offset, true)
        while moreComing {
            let page = try touches(record: name, in: zone, after: offset, limit: TouchPage.pieceCount)
            for touch in page.touches where touch.offset <= last {
                if commits.last?.offset == touch.offset {
                    commits[commits.count - 1].count += 1
                } else {
                    commits.append((touch.offset, 1))
                }
            }
            (offset, moreComing) = (page.readThrough, page.moreComing && page.readThrough < last)
        }
        var found = LastTouches(first: min(last, end.offset) + 1, count: 0)
        while found.count < limit, let commit = commits.popLast() {
            found = LastTouches(first: commit.offset, count: found.count + commit.count)
        }
        return found
    }

    package func waitForEnd(past offset: UInt64) async {
        await waiters.wait(past: offset) { state.withLock { $0.isClosed || $0.end.offset > offset } }
    }

    private func wakeWaiters() {
        let (end, isClosed) = state.withLock { ($0.end.offset, $0.isClosed) }
        waiters.wake(end: end, isClosed: isClosed)
    }
}

private struct MemoryCursor: CommitCursor {
    let log: MemoryLog
    var nextOffset: UInt64

    mutating func next() throws -> Commit? {
        guard let commit = try log.firstCommit(from: nextOffset) else { return nil }
        nextOffset = commit.offset + 1
        return commit
    }
}

extension Touch {
    /// Returns the touch with the key's bytes instead of their place.
    fileprivate func resolved(in commit: Commit) -> ZoneTouch {
        let start = commit.payload.startIndex
        return ZoneTouch(
            offset: commit.offset, eventIndex: eventIndex, kind: kind, type: type,
            key: Array(commit.payload[start + key.lowerBound..<start + key.upperBound]))
    }
}
