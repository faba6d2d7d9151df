import StrataLog
import StrataModel

/// Sends batches to the sequencer, and finds out what became of them.
extension ReplicatedLog {
    private static let firstPauseMilliseconds = 20
    private static let longestPauseMilliseconds = 2_000
    /// The time for one attempt to find out what became of an append, and the shortest pause before the next one.
    private static let settlingMilliseconds = 500
    private static let shortestRest = 100
    /// The time after which a sequencer is asked what it has, because it names an entry that cannot be read.
    private static let doubtMilliseconds = 500

    package func append(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        if commits.isEmpty { return Appended(positions: []) }
        let limit = maximumCommitBytes
        guard commits.allSatisfy({ $0.payload.count <= limit }) else { throw .tooLarge(limit: limit) }
        // With their touches, which the copy needs when it reads the entry.
        let commits = try copy.validated(commits)
        if state.withLock({ $0.isClosed }) { throw .notWritten(closedError) }
        return try turn.withLock { (_) throws(AppendFailure) -> Appended in
            try finishFlight(milliseconds: options.outcomeMilliseconds)
            return try appendInTurn(commits, expecting: expecting)
        }
    }

    /// Appends as if durably: the sequencer keeps what it accepts.
    package func appendLazily(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        try append(commits, expecting: expecting)
    }

    package var isUnsettled: Bool { state.withLock { $0.isUnsettled } }

    /// Waits for an append that ended without an outcome, and finds out what became of it; returns false once the log
    /// is closed.
    package func settleOnce() -> Bool {
        let isOpen = state.wait { $0.isClosed ? false : $0.isUnsettled ? true : nil }
        guard isOpen else { return false }
        let start = ContinuousClock.now
        if (try? settle(milliseconds: Self.settlingMilliseconds)) != nil { return true }
        let left = Self.settlingMilliseconds - Int(start.duration(to: .now) / .milliseconds(1))
        state.wait(milliseconds: max(Self.shortestRest, left)) { $0.isClosed ? () : nil }
        return true
    }

    /// Finds out what became of an append whose outcome is unknown, and returns the end. After that, its commits follow
    /// the position that it expected, or they never will.
    ///
    /// - Throws: ``AppendFailure/unknown(_:)`` if that is still unknown after `milliseconds`, or until the log is
    ///   opened again.
    package func settle(milliseconds: Int) throws(AppendFailure) -> Position {
        try turn.withLock { (_) throws(AppendFailure) -> Position in
            try finishFlight(milliseconds: milliseconds)
            return state.withLock { $0.position }
        }
    }

    /// Settles the previous append, if it is not settled yet.
    func finishFlight(milliseconds: Int) throws(AppendFailure) {
        guard state.withLock({ $0.flight != nil }) else { return }
        _ = try outcome(milliseconds: milliseconds)
    }

    private func appendInTurn(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        let (position, time, previous, refusal) = state.withLock { state in
            (state.position, copy.endTime, state.entry, state.isClosed ? closedError : state.failure)
        }
        if let refusal { throw .notWritten(refusal) }
        guard expecting.offset <= position.offset || copy.end.offset == position.offset else {
            // The copy has a part of an entry, for example because its disk is full.
            throw .notWritten(
                StrataError(
                    .inputOutput, "An entry could not be added to the copy as a whole; it is tried again.",
                    .init(offset: position.offset, path: paths.store), cause: state.withLock { $0.interruption }))
        }
        guard expecting == position else { return try appendedBefore(commits, expecting: expecting, end: position) }
        try commits[...].checkOrder(after: position, time: time ?? .min, path: paths.log)
        let room = SequencedEntry.count(of: commits, fittingIn: sequencer.maximumEntryBytes)
        // A commit that is too long for an entry goes in parts.
        let flight = flight(.commits(Array(commits.prefix(max(1, room)))), after: previous, position)
        let conflict = state.withLock { state -> Position? in
            guard state.entry == previous else { return state.position }
            state.flight = flight
            return nil
        }
        if let conflict { throw .conflict(conflict) }
        switch try outcome(milliseconds: options.outcomeMilliseconds) {
        case .appended(let positions): return Appended(positions: positions)
        case .lost: throw .conflict(state.withLock { $0.position })
        }
    }

    func flight(_ content: SequencedEntry.Content, after previous: Identifier, _ end: Position) -> Flight {
        let random = copy.platform.random
        let entry = SequencedEntry(
            store: identity.storeID, id: random.nextIdentifier(), writer: writer, previous: previous, position: end,
            content: content)
        return Flight(
            entry: entry,
            pieces: EntryPieces(of: entry, maximumBytes: sequencer.maximumEntryBytes, random: random))
    }

    /// Makes void the entries that an earlier opening of this copy may still have on their way.
    func fence() throws {
        do throws(AppendFailure) {
            try turn.withLock { (_) throws(AppendFailure) in
                let (previous, position) = state.withLock { ($0.entry, $0.position) }
                state.withLock { $0.flight = flight(.fence, after: previous, position) }
                // If another entry was valid first, that one has done it.
                _ = try outcome(milliseconds: options.outcomeMilliseconds)
            }
        } catch {
            throw StrataError(
                .unreachable,
                "It is unknown whether an entry sent when this copy was last open was accepted; reopen the store.",
                .init(path: paths.store), cause: error)
        }
    }

    /// Counts commits that the log has already as appended.
    private func appendedBefore(
        _ commits: [NewCommit], expecting: Position, end: Position
    ) throws(AppendFailure) -> Appended {
        let known: [Position]
        do { known = try copy.positions(of: commits, after: expecting) } catch {
            throw .notWritten(error as? StrataError ?? StrataError(.inputOutput, "Reading failed.", cause: error))
        }
        if known.isEmpty { throw .conflict(end) }
        return Appended(positions: known)
    }

    // MARK: The outcome

    /// Sends the entry of the flight until the next valid entry is read, which is this one or makes it void.
    ///
    /// - Throws: `.notWritten` if the entry never left; `.unknown` after `milliseconds`, or if no entry can be read any
    ///   more. The flight then continues.
    func outcome(milliseconds: Int) throws(AppendFailure) -> Flight.Outcome {
        defer { noteSettling() }
        return try nextOutcome(milliseconds: milliseconds)
    }

    private func noteSettling() {
        let (isNews, watcher) = state.withLock { state in
            let isUnsettled = state.flight != nil
            defer { state.isUnsettled = isUnsettled }
            return (isUnsettled != state.isUnsettled, isUnsettled ? nil : state.watcher)
        }
        guard isNews else { return }
        state.notifyAll()
        watcher?()
    }

    private func nextOutcome(milliseconds: Int) throws(AppendFailure) -> Flight.Outcome {
        var (start, partsBefore) = (ContinuousClock.now, 0)
        var pause = Self.firstPauseMilliseconds
        var reason: StrataError?
        while true {
            let (flight, number, parts, end) = state.withLock { state in
                (
                    state.flight, state.number, state.flight.map { state.parts.count(of: $0.id, by: writer) } ?? 0,
                    state.isClosed ? closedError : state.failure
                )
            }
            guard let flight else { return .lost }
            if let outcome = flight.outcome {
                state.withLock { $0.flight = nil }
                return outcome
            }
            if let end {
                if flight.mayBeIn { throw .unknown(unsettled(because: end)) }
                state.withLock { $0.flight = nil }
                throw .notWritten(end)
            }
            // Each part may take as long as an entry.
            if parts > partsBefore { (start, partsBefore) = (.now, parts) }
            let left = milliseconds - Int(start.duration(to: .now) / .milliseconds(1))
            if left <= 0 {
                if flight.mayBeIn { throw .unknown(unsettled(because: reason)) }
                state.withLock { $0.flight = nil }
                throw .notWritten(unsettled(because: reason))
            }
            var wait = min(left, pause)
            let piece = flight.pieces.next(afterParts: parts)
            switch sequencer.append(piece.bytes, id: piece.id, expecting: number) {
            case .accepted: wait = left
            case .taken: wait = min(left, Self.doubtMilliseconds)
            case .unknown(let error): reason = error
            case .refused(let error):
                guard flight.mayBeIn || parts > 0 else {
                    state.withLock { $0.flight = nil }
                    throw .notWritten(error)
                }
                reason = error
            }
            // Parts change nothing without the entry that they belong to.
            if flight.pieces.isLast(afterParts: parts) { state.withLock { $0.flight?.mayBeIn = true } }
            let hasNews = try awaitEntry(after: number, milliseconds: wait)
            if !hasNews { try checkForLoss() }
            pause = hasNews ? Self.firstPauseMilliseconds : min(2 * pause, Self.longestPauseMilliseconds)
        }
    }

    /// Returns false if no entry after `number` came.
    private func awaitEntry(after number: UInt64, milliseconds: Int) throws(AppendFailure) -> Bool {
        do {
            return try advance(milliseconds: milliseconds) { $0.number > number || $0.flight?.outcome != nil }
        } catch { throw .unknown(unsettled(because: error as? StrataError)) }
    }

    /// Notices a sequencer that lost entries: it refuses every expectation of a copy that read them.
    private func checkForLoss() throws(AppendFailure) {
        _ = try? checkedLast()
        if let failure = state.withLock({ $0.failure }) { throw .unknown(unsettled(because: failure)) }
    }

    private func unsettled(because reason: StrataError?) -> StrataError {
        StrataError(
            .outcomeUnknown, "It is not known whether the sequencer has the entry; that is being found out.",
            .init(path: paths.store), cause: reason ?? state.withLock { $0.interruption })
    }
}
