import StrataModel
import StrataSystem

/// A log in memory that behaves as badly as any log may: a store that works on it works on all of them.
///
/// Without hostility it is a plain log that leaves nothing behind.
///
/// ```swift
/// let log = MemoryLog(hostility: .everything, seed: 7)
/// ```
public final class MemoryLog: EventLog {
    /// How often, of a thousand appends, the log does what the protocol allows and a caller would rather not see.
    public struct Hostility: Sendable {
        /// Some offsets are left out in front of a commit.
        public var gaps: Int
        /// Only a prefix is accepted.
        public var partialAcceptance: Int
        /// Somebody else's commit came first.
        public var conflicts: Int
        /// Nothing is written, and the log says so.
        public var refusals: Int
        /// All, some or nothing is written, and the log does not say which. It takes no writes until ``reopen()``.
        public var unknownOutcomes: Int

        public init(
            gaps: Int = 0, partialAcceptance: Int = 0, conflicts: Int = 0, refusals: Int = 0, unknownOutcomes: Int = 0
        ) {
            self.gaps = gaps
            self.partialAcceptance = partialAcceptance
            self.conflicts = conflicts
            self.refusals = refusals
            self.unknownOutcomes = unknownOutcomes
        }

        public static let none = Hostility()
        public static let everything = Hostility(
            gaps: 200, partialAcceptance: 200, conflicts: 100, refusals: 100, unknownOutcomes: 50)
    }

    private struct State {
        /// In order of offset.
        var commits: [Commit] = []
        var touches: [[Touch]] = []
        var floor = Position.start
        var durableOffset: UInt64 = 0
        var refusal: StrataError?
        var isClosed = false
        var endTime: Int64?

        var end: Position { commits.last?.position ?? floor }
    }

    public let maximumCommitBytes: Int
    public var assignsNextOffset: Bool { hostility.gaps == 0 }
    private let hostility: Hostility
    private let random: SeededRandom
    private let touchFunction: TouchFunction
    // What somebody else appends in a conflict; it must be a payload that the log's owner understands.
    private let foreignPayload: @Sendable (UInt64) -> ArraySlice<UInt8>
    private let state = Lock(State())
    private let waiters = EndWaiters()

    /// - Parameter foreignPayload: makes what somebody else appends when there is a conflict, from a random number.
    public init(
        hostility: Hostility = .none, seed: UInt64 = 0, maximumCommitBytes: Int = LogFormat.maximumCommitBytes,
        touches: @escaping TouchFunction = { try Envelope.touches(of: $0) },
        foreignPayload: @escaping @Sendable (UInt64) -> ArraySlice<UInt8> = { _ in
            Envelope(events: [Event(.consoleActed, body: [])]).encoded()[...]
        }
    ) {
        self.hostility = hostility
        self.maximumCommitBytes = maximumCommitBytes
        self.foreignPayload = foreignPayload
        random = SeededRandom(seed: seed)
        touchFunction = touches
    }

    public var end: Position { state.withLock { $0.end } }
    public var endTime: Int64? { state.withLock { $0.endTime } }
    public var floor: Position { state.withLock { $0.floor } }

    public var durableEnd: Position {
        state.withLock { state in state.commits.last { $0.offset <= state.durableOffset }?.position ?? state.floor }
    }

    /// Takes writes again after an unknown outcome, and any use after it was closed, as a log on disk does that is
    /// opened anew.
    public func reopen() { state.withLock { ($0.refusal, $0.isClosed) = (nil, false) } }

    private func happens(_ perThousand: Int) -> Bool {
        perThousand > 0 && random.next(below: 1_000) < UInt64(perThousand)
    }

    private static var closedError: StrataError { StrataError(.closed, "The log has been closed.") }

    // MARK: Writing

    public func prepare(_ commit: inout NewCommit) throws {
        guard commit.payload.count <= maximumCommitBytes else {
            throw AppendFailure.tooLarge(limit: maximumCommitBytes)
        }
        // For its errors: a payload that is none must fail here, and not together with others that wait.
        _ = try commit.payload.withUnsafeBytes { try touchFunction($0) }
    }

    public func append(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        if commits.isEmpty { return Appended(positions: []) }
        guard commits.allSatisfy({ $0.payload.count <= maximumCommitBytes }) else {
            throw .tooLarge(limit: maximumCommitBytes)
        }
        let touches: [[Touch]]
        do { touches = try commits.map { try $0.payload.withUnsafeBytes { try touchFunction($0) } } } catch {
            throw .notWritten(
                error as? StrataError
                    ?? StrataError(.invalidArgument, "What the payload touches cannot be told.", cause: error))
        }
        let result = state.withLock { append(commits, touches, expecting, &$0) }
        wakeWaiters()
        return try result.get()
    }

    /// Memory is as durable as it gets.
    public func appendLazily(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        try append(commits, expecting: expecting)
    }

    private func append(
        _ commits: [NewCommit], _ touches: [[Touch]], _ expecting: Position, _ state: inout State
    ) -> Result<Appended, AppendFailure> {
        if state.isClosed { return .failure(.notWritten(Self.closedError)) }
        if let refusal = state.refusal { return .failure(.unknown(refusal)) }
        if expecting != state.end { return appendBehindKnown(commits, touches, expecting, &state) }
        if let failure = orderFailure(commits, state) { return .failure(failure) }
        if happens(hostility.refusals) {
            return .failure(.notWritten(StrataError(.inputOutput, "The log refused, as it was told to.")))
        }
        if happens(hostility.conflicts) {
            let number = random.next()
            insert(
                NewCommit(
                    id: random.nextIdentifier(), time: max(commits[0].time, state.endTime ?? Int64.min),
                    payload: foreignPayload(number)), nil, &state)
            return .failure(.conflict(state.end))
        }
        var accepted = commits.count
        if happens(hostility.partialAcceptance) { accepted = 1 + Int(random.next(below: UInt64(commits.count))) }
        let isUnknown = happens(hostility.unknownOutcomes)
        if isUnknown { accepted = Int(random.next(below: UInt64(commits.count) + 1)) }
        let positions = (0..<accepted).map { insert(commits[$0], touches[$0], &state) }
        if isUnknown {
            let refusal = StrataError(.outcomeUnknown, "The log does not say what it wrote, as it was told to.")
            state.refusal = refusal
            return .failure(.unknown(refusal))
        }
        return .success(Appended(positions: positions))
    }

    private func orderFailure(_ commits: [NewCommit], _ state: State) -> AppendFailure? {
        var time = state.endTime ?? Int64.min
        for commit in commits {
            guard commit.time >= time else {
                return .notWritten(
                    StrataError(
                        .invalidArgument, "Times never fall from one commit to the next.",
                        .init(expected: "\(time) or later", found: "\(commit.time)")))
            }
            time = commit.time
        }
        return nil
    }

    private func appendBehindKnown(
        _ commits: [NewCommit], _ touches: [[Touch]], _ expecting: Position, _ state: inout State
    ) -> Result<Appended, AppendFailure> {
        let start =
            expecting == state.floor
            ? 0 : state.commits.firstIndex { $0.position == expecting }.map { $0 + 1 }
        guard let start else { return .failure(.conflict(state.end)) }
        let known = zip(commits, state.commits[start...]).prefix { $0.id == $1.id }.map { $1.position }
        guard let last = known.last else { return .failure(.conflict(state.end)) }
        if known.count == commits.count || last != state.end { return .success(Appended(positions: known)) }
        let rest = Array(commits[known.count...])
        switch append(rest, Array(touches[known.count...]), state.end, &state) {
        case .success(let more): return .success(Appended(positions: known + more.positions))
        case .failure(.unknown(let error)): return .failure(.unknown(error))
        case .failure: return .success(Appended(positions: known))
        }
    }

    @discardableResult
    private func insert(_ commit: NewCommit, _ touches: [Touch]?, _ state: inout State) -> Position {
        let gap = happens(hostility.gaps) ? random.next(below: 5) : 0
        let end = state.end
        let offset = end.offset + 1 + gap
        let chain = commit.payload.withUnsafeBytes {
            Chain.value(after: end.chain, offset: offset, time: commit.time, payload: $0)
        }
        state.commits.append(
            Commit(offset: offset, id: commit.id, time: commit.time, chain: chain, payload: commit.payload))
        let found = touches ?? (try? commit.payload.withUnsafeBytes { try touchFunction($0) }) ?? []
        state.touches.append(found)
        state.endTime = commit.time
        state.durableOffset = offset
        return Position(offset: offset, chain: chain)
    }

    public func sync() throws {
        try state.withLock { state in
            if state.isClosed { throw Self.closedError }
            if let refusal = state.refusal { throw refusal }
        }
    }

    public func trim(to offset: UInt64) throws -> Position {
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

    public func rewrite(
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

    public func close() throws {
        state.withLock { $0.isClosed = true }
        wakeWaiters()
    }

    // MARK: Reading

    /// Index of the first commit at or behind an offset.
    private static func index(of offset: UInt64, in commits: [Commit]) -> Int {
        var low = 0
        var high = commits.count
        while low < high {
            let middle = (low + high) / 2
            if commits[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func readable<Result: Sendable>(
        from offset: UInt64, _ body: (State) throws -> Result
    ) throws -> Result {
        try state.withLock { state in
            if state.isClosed { throw Self.closedError }
            guard offset > state.floor.offset else {
                throw StrataError(
                    .outOfRange, "The history up to the floor has been let go.",
                    .init(expected: "an offset behind \(state.floor.offset)", found: "\(offset)"))
            }
            return try body(state)
        }
    }

    public func commit(at offset: UInt64) throws -> Commit? {
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

    public func read(from offset: UInt64) throws -> any CommitCursor {
        let start = max(offset, 1)
        try readable(from: start) { _ in }
        return MemoryCursor(log: self, nextOffset: start)
    }

    public func chain(at offset: UInt64) throws -> UInt32 {
        let floor = state.withLock { $0.floor }
        if offset == floor.offset { return floor.chain }
        guard let commit = try commit(at: offset) else {
            throw StrataError(.outOfRange, "There is no commit at this offset.", .init(offset: offset))
        }
        return commit.chain
    }

    public func firstOffset(notBefore time: Int64) throws -> UInt64? {
        try state.withLock { state in
            if state.isClosed { throw Self.closedError }
            var low = 0
            var high = state.commits.count
            while low < high {
                let middle = (low + high) / 2
                if state.commits[middle].time < time { low = middle + 1 } else { high = middle }
            }
            return low < state.commits.count ? state.commits[low].offset : nil
        }
    }

    public func base() throws -> Position? { nil }

    public func touches(zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        guard limit > 0 else {
            throw StrataError(.invalidArgument, "A page of touches has at least one.", .init(found: "\(limit)"))
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

    public func waitForEnd(past offset: UInt64) async {
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
    /// With the key's bytes instead of their place.
    fileprivate func resolved(in commit: Commit) -> ZoneTouch {
        let start = commit.payload.startIndex
        return ZoneTouch(
            offset: commit.offset, eventIndex: eventIndex, kind: kind, type: type,
            key: Array(commit.payload[start + key.lowerBound..<start + key.upperBound]))
    }
}
