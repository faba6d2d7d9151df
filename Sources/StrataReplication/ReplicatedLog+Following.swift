import StrataLog
import StrataModel

/// Reads the sequencer's entries and adds them to the copy.
extension ReplicatedLog {
    /// The longest wait for an entry in one call of the sequencer.
    private static let waitMilliseconds = 10_000
    /// The time without entries after which the copy is synced.
    private static let quietMilliseconds = 500
    /// The pause after the sequencer or the copy failed.
    private static let pauseMilliseconds = 20
    /// The number of batches of this process that are remembered at least.
    private static let maximumOwnBatches = 4_096

    package func confirmEnd() throws -> Position {
        let last = try checkedLast()
        guard try advance(milliseconds: options.outcomeMilliseconds, until: { $0.number >= last }) else {
            throw StrataError(
                .unreachable, "The sequencer does not show entries that it has; try again.",
                .init(path: paths.store, expected: "entry \(last)", found: "\(state.withLock { $0.number })"),
                cause: state.withLock { $0.interruption })
        }
        return state.withLock { $0.position }
    }

    /// Returns the number of the sequencer's last entry, and notices a sequencer that lost entries.
    func checkedLast() throws -> UInt64 {
        // IMPORTANT: Read this first, because another thread may read further entries at any time.
        let number = state.withLock { $0.number }
        let last = try sequencer.last()
        return try state.withLock { state in
            if state.failure == nil, last < number { state.failure = Self.lostEntries(last, number) }
            if let failure = state.failure { throw failure }
            return last
        }
    }

    private static func lostEntries(_ last: UInt64, _ number: UInt64) -> StrataError {
        StrataError(
            .brokenSequence, "The sequencer has lost entries that this copy has.",
            .init(expected: "entry \(number) or a later one", found: "\(last) as the last one"))
    }

    var closedError: StrataError { StrataError(.closed, "The log has been closed.", .init(path: paths.store)) }

    /// Follows until it is time to sync the copy, or for some seconds; returns false once that is over for good.
    func followOnce() -> Bool {
        let (start, noted) = state.withLock { ($0.number, $0.noted) }
        let milliseconds = start > noted ? Self.quietMilliseconds : Self.waitMilliseconds
        do {
            let limit = noted + options.notedEntries
            // The first entry after a quiet time begins the time in which the copy is synced.
            _ = try advance(milliseconds: milliseconds) { $0.number >= limit || start == noted && $0.number > noted }
            let end = state.withLock { $0.number }
            // Readers in other processes see no more than the copy's files keep.
            if end >= limit || end > noted && end == start || isSharingDue { noteIfPossible() }
        } catch { return false }
        return true
    }

    /// The errors of the copy's files that may be temporary.
    private static let passing: Set<StrataError.Code> = [.noSpace, .inputOutput, .interrupted, .permissionDenied]

    private enum Step {
        case done
        case read(after: UInt64)
    }

    /// Reads entries until `isDone`, but not for more than about `milliseconds`; returns whether it is done. One thread
    /// reads at a time, for all that wait.
    ///
    /// - Throws: ``StrataError`` if the log is closed, or no further entry may be read.
    func advance(milliseconds: Int, until isDone: (State) -> Bool) throws -> Bool {
        let start = ContinuousClock.now
        while true {
            let passed = start.duration(to: .now)
            let left = max(0, milliseconds - Int(passed / .milliseconds(1)))
            let step = try state.wait(milliseconds: left) { state -> Step? in
                if isDone(state) { return .done }
                if let failure = state.failure { throw failure }
                if state.isClosed { throw closedError }
                if state.isReading { return nil }
                state.isReading = true
                return .read(after: state.number)
            }
            guard case .read(let number) = step else { return step != nil }
            let count = read(after: number, milliseconds: min(left, Self.waitMilliseconds))
            let isEarly = count == 0 && start.duration(to: .now) - passed < .milliseconds(left / 2)
            if count == nil || isEarly, left > 0 {
                state.wait(milliseconds: min(left, Self.pauseMilliseconds)) { $0.isClosed ? () : nil }
            } else if left == 0, (count ?? 0) == 0 {
                return state.withLock { isDone($0) }
            }
        }
    }

    /// Reads the next entries, and lets another thread read; returns their number, or nil after a failure. The caller
    /// has set `isReading`.
    private func read(after number: UInt64, milliseconds: Int) -> Int? {
        var (count, failure, hasNews) = (0, nil as StrataError?, false)
        var isFinal = false
        do {
            for bytes in try sequencer.entries(after: number, waitingMilliseconds: milliseconds) {
                isFinal = true
                // This process's own entry, the most frequent one, need not be checked and unpacked. If it came in
                // parts, it is checked like those of others, because late parts may have replaced its own.
                let own = state.withLock { state in
                    state.flight.flatMap { $0.pieces.isOne && $0.bytes == bytes ? $0.entry : nil }
                }
                let entry = try own ?? SequencedEntry(decoding: bytes)
                let isNews = try state.withLock { try take(entry, bytes, number + UInt64(count) + 1, &$0) }
                hasNews = hasNews || isNews
                count += 1
                isFinal = false
            }
        } catch {
            let cause = error as? StrataError ?? StrataError(.inputOutput, "Entries cannot be read.", cause: error)
            isFinal = isFinal ? !Self.passing.contains(cause.code) : cause.code == .outOfRange
            let reason = Self.reason(cause.code, isFinal: isFinal)
            // An error of the log names an offset; one without would be taken for damage of the views.
            let offset = isFinal ? state.withLock { $0.position.offset + 1 } : nil
            failure = StrataError(
                cause.code, reason,
                .init(
                    offset: cause.context.offset ?? offset, path: paths.store,
                    found: "entry \(number + UInt64(count) + 1)"),
                cause: cause)
        }
        let watcher = state.withLock { state in
            state.isReading = false
            state.interruption = failure
            if isFinal { state.failure = state.failure ?? failure }
            return hasNews ? state.watcher : nil
        }
        state.notifyAll()
        watcher?()
        return failure == nil ? count : nil
    }

    private static func reason(_ code: StrataError.Code, isFinal: Bool) -> StaticString {
        switch code {
        case .outOfRange: "The sequencer was trimmed past what the copy has read; make a new copy."
        case .newerFormat where isFinal:
            """
            A later release wrote an entry. This release has stopped following the log and accepting writes: update \
            the program.
            """
        default:
            isFinal
                ? "The copy can no longer follow the sequencer, and accepts no writes."
                : "The copy cannot follow the sequencer at present."
        }
    }

    /// Stops following the log and accepting writes, because this process cannot use the log's next entry.
    package func stop(because error: StrataError) {
        state.withLock { $0.failure = $0.failure ?? error }
        state.notifyAll()
    }

    /// Processes one entry; returns true if it added commits that another process decided.
    private func take(
        _ entry: SequencedEntry, _ bytes: [UInt8], _ number: UInt64, _ state: inout State
    ) throws -> Bool {
        if case .identity = entry.content, state.entry != .zero {
            // Two processes found the sequencer empty, and this entry came second.
            state.number = number
            return false
        }
        guard entry.store == identity.storeID else {
            throw StrataError(
                .foreignSegment, "An entry belongs to another store.",
                .init(expected: "\(identity.storeID)", found: "\(entry.store)"))
        }
        let entry = try state.parts.assembled(entry) ?? entry
        guard isValid(entry, state) else {
            try checkVoid(entry, state)
            try checkPublished(entry, state)
            if case .part(let part) = entry.content { state.parts.add(part, of: entry.writer) }
            state.number = number
            return false
        }
        let isOwn = state.flight?.id == entry.id
        if isOwn, state.flight?.bytes != bytes {
            throw StrataError(
                .brokenSequence, "The sequencer changed an entry of this process.",
                .init(offset: state.position.offset + 1))
        }
        let positions = try add(entry, after: state)
        state.parts.removeAll()
        if !positions.isEmpty { noteWriter(entry.writer, &state) }
        if isOwn, let first = positions.first, let last = positions.last {
            noteOwn(first.offset...last.offset, &state)
        }
        if entry.writer == SequencedEntry.publisher { state.published.insert(entry.id) }
        if case .base(let mark) = entry.content { state.bases.append(mark) }
        (state.number, state.validNumber) = (number, number)
        state.entry = entry.id
        state.position = positions.last ?? state.position
        // Whatever was decided on the entry before is settled: it is this one, or it is void.
        if state.flight != nil, state.flight?.outcome == nil {
            state.flight?.outcome = isOwn ? .appended(positions) : .lost
            if isOwn { state.appended += 1 } else { state.lost += 1 }
        }
        return !isOwn && !positions.isEmpty
    }

    private func noteOwn(_ offsets: ClosedRange<UInt64>, _ state: inout State) {
        if let last = state.own.last, last.upperBound + 1 == offsets.lowerBound {
            state.own[state.own.count - 1] = last.lowerBound...offsets.upperBound
        } else {
            state.own.append(offsets)
            if state.own.count >= 2 * Self.maximumOwnBatches { state.own.removeFirst(Self.maximumOwnBatches) }
        }
    }

    /// Notices a sequencer that lost entries and got their commits back as others (docs/replication-internals.md §8):
    /// whatever this copy decided on the lost ones would be void.
    private func checkPublished(_ entry: SequencedEntry, _ state: State) throws {
        let offset = entry.position.offset + 1
        guard entry.writer == SequencedEntry.publisher, !state.published.contains(entry.id),
            case .commits(let commits) = entry.content, offset > copy.floor.offset,
            offset <= state.position.offset, try copy.commit(at: offset)?.id == commits[0].id
        else { return }
        throw StrataError(
            .brokenSequence, "The sequencer lost entries and was repaired; open the store again.",
            .init(offset: offset))
    }

    /// Returns true if the entry was decided on the last one that is valid.
    private func isValid(_ entry: SequencedEntry, _ state: State) -> Bool {
        guard entry.content.canBeValid, entry.previous == state.entry else { return false }
        if entry.position == state.position { return true }
        // The copy has no chain values of compacted commits.
        return entry.position.offset == state.position.offset && state.position.offset < copy.floor.offset
    }

    /// Checks that a void entry was decided on an earlier state of the same history.
    private func checkVoid(_ entry: SequencedEntry, _ state: State) throws {
        guard entry.position.offset <= state.position.offset else {
            throw StrataError(
                .brokenSequence, "An entry was decided on commits that the sequencer did not give.",
                .init(offset: entry.position.offset, expected: "at most \(state.position)", found: "\(entry.position)"))
        }
        guard entry.position.offset >= copy.floor.offset else { return }
        let chain: UInt32
        do { chain = entry.position.offset == 0 ? 0 : try copy.chain(at: entry.position.offset) } catch {
            // The copy was compacted in the meantime.
            if entry.position.offset < copy.floor.offset { return }
            throw error
        }
        guard chain == entry.position.chain else {
            throw StrataError(
                .brokenChain, "An entry was decided on a history that differs from the copy's.",
                .init(
                    offset: entry.position.offset, expected: hexadecimal(chain),
                    found: hexadecimal(entry.position.chain)))
        }
    }

    /// Adds the commits of a valid entry that the copy lacks, and compares the others; returns the positions of all.
    private func add(_ entry: SequencedEntry, after state: State) throws -> [Position] {
        switch entry.content {
        case .fence, .part, .whole: return []
        case .base(let mark):
            try check(mark, state)
            return []
        case .identity(let other, _):
            guard other == identity else {
                throw StrataError(
                    .malformed, "The sequencer changed the identity of the store.",
                    .init(expected: identity.containerIdentifier, found: other.containerIdentifier))
            }
            return []
        case .commits(let commits):
            guard state.entry != .zero else {
                throw StrataError(.malformed, "The first entry of the sequencer is not the identity of a store.")
            }
            let isKnown = state.position.offset < copy.end.offset
            var positions = isKnown ? try known(commits, after: state.position.offset) : []
            while positions.count < commits.count {
                positions += try copy.appendAll(Array(commits[positions.count...]))
            }
            return positions
        }
    }

    /// Returns the positions of the commits that the copy has already.
    private func known(_ commits: [NewCommit], after offset: UInt64) throws -> [Position] {
        var positions: [Position] = []
        for (index, commit) in commits.enumerated() {
            let place = offset + UInt64(index) + 1
            guard place <= copy.end.offset else { break }
            guard place > copy.floor.offset else {
                positions.append(place == copy.floor.offset ? copy.floor : Position(offset: place, chain: 0))
                continue
            }
            guard let own = try copy.commit(at: place), own.id == commit.id else {
                throw StrataError(
                    .brokenChain, "The copy has another commit than the sequencer.",
                    .init(offset: place, found: "\(commit.id)"))
            }
            positions.append(own.position)
        }
        return positions
    }
}
