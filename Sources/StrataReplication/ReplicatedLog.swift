import StrataLog
import StrataModel
import StrataSystem

/// A log that several processes append to, in the order that a ``Sequencer`` gives them.
///
/// Every process keeps all commits in segments of its own, the *copy*. An entry of the sequencer counts if it was
/// decided on the last entry that counted; all others are void, by the same rule for every copy
/// (docs/replication-internals.md §2). So offsets have no gaps and are the same everywhere, whatever the sequencer
/// repeats, delays or reports.
///
/// ```swift
/// let log = try ReplicatedLog.open(at: "Notes.strata", sequencer: sequencer)
/// let appended = try log.append([commit], expecting: try log.confirmEnd())
/// ```
package final class ReplicatedLog: EventLog, ForwardingLog {
    package struct Options: Sendable {
        /// The time after which an append reports that its outcome is unknown.
        package var outcomeMilliseconds: Int
        /// The time in which the home writer answers requests; elections of the log's servers count against it.
        package var answerMilliseconds: Int
        /// The number of entries after which the copy is synced and notes how far it has come.
        package var notedEntries: UInt64
        /// The options of the store that decide how requests are judged, a line with the name and the value for each.
        /// All processes must have the same values of the options that both state.
        package var terms: String
        /// The address of the sequencer, which is noted in the copy's directory; nil if it has none.
        package var address: String?
        /// The directory that all processes share, which has the bases of a trimmed sequencer; nil if there is none.
        package var filesDirectory: String?
        /// True if a trim keeps the entries that this copy has not read.
        package var notesProgress: Bool
        /// True if the first opener of an empty sequencer gives the store its identity; false if that is an error.
        package var givesIdentity: Bool
        /// The number of entries from which a new copy is opened before it has them all; ``awaitOpening()`` must
        /// follow. Meanwhile its commits can be read as they come, and the log must not be used otherwise.
        package var earlyEntries: UInt64

        package init(
            outcomeMilliseconds: Int = 10_000, answerMilliseconds: Int = 12_000, notedEntries: UInt64 = 1_000,
            terms: String = "", address: String? = nil, filesDirectory: String? = nil, notesProgress: Bool = true,
            givesIdentity: Bool = true, earlyEntries: UInt64 = .max
        ) {
            self.outcomeMilliseconds = outcomeMilliseconds
            self.answerMilliseconds = answerMilliseconds
            self.notedEntries = notedEntries
            self.terms = terms
            self.address = address
            self.filesDirectory = filesDirectory
            self.notesProgress = notesProgress
            self.givesIdentity = givesIdentity
            self.earlyEntries = earlyEntries
        }
    }

    enum Opening {
        case running
        case ended(Result<Void, any Error>)
    }

    /// The position in the sequence, and what else changes with it.
    struct State {
        /// The last entry that was read.
        var number: UInt64
        /// The last valid entry, and the end of the log after it.
        var validNumber: UInt64
        var entry: Identifier
        var position: Position
        /// The writers of valid entries with commits, and when the last of each was read.
        var writers: [Identifier: ContinuousClock.Instant] = [:]
        /// True once all entries were read that were there when the log was opened.
        var hasBegun = false
        /// The outcome of getting these entries, if the log was opened before it had them.
        var opening = Opening.ended(.success(()))
        /// True until a fence comes after everything that an earlier opening may have on its way.
        var mustFence = false
        /// The parts of large commits that came after that entry.
        var parts = CollectedParts()
        /// The append that is not settled; its entry was decided on `entry` unless it has an outcome.
        var flight: Flight?
        /// True if an append ended without an outcome, which has not been found out yet.
        var isUnsettled = false
        /// True while a thread reads entries.
        var isReading = false
        var isClosed = false
        /// The reason why entries cannot be read at present.
        var interruption: StrataError?
        /// The reason why no further entry may be read: the sequencer and the copy differ, or the copy failed.
        var failure: StrataError?
        /// The number that was noted last.
        var noted: UInt64
        /// The batches of this opening that were appended.
        var appended: UInt64 = 0
        /// The batches of this opening that came second to another process's batch.
        var lost: UInt64 = 0
        /// The valid entries of publishers that this opening has read.
        var published: Set<Identifier> = []
        /// The valid marks of bases that this opening has read.
        var bases: [BaseMark] = []
        /// The last batches of this opening, by their offsets.
        var own: [ClosedRange<UInt64>] = []
        /// The last note that this opening shared, for trims.
        var shared: CopyNotes.Note?
        var watcher: (@Sendable () -> Void)?
    }

    /// The commits on this machine.
    package let copy: SegmentedLog
    package var source: SegmentedLog { copy }
    let sequencer: any Sequencer
    package let options: Options
    let identity: StoreIdentity
    let paths: StorePaths
    /// Distinguishes the entries of this opening.
    package let writer: Identifier
    /// Distinguishes this copy from others of the store.
    let copyID: Identifier
    let state: Monitor<State>
    /// Held during an append: one entry of a process is on its way at a time.
    let turn = Lock(true)
    /// Held while the mark of the copy is written.
    private let noting = Lock(true)
    private let follower = WorkerHandle()
    private let settler = WorkerHandle()
    /// Gets the entries of a new copy that is opened early.
    private let opener = WorkerHandle()

    private init(
        _ copy: SegmentedLog, _ identity: StoreIdentity, _ sequencer: any Sequencer, at path: String,
        from mark: CopyMark,
        options: Options
    ) {
        self.copy = copy
        self.identity = identity
        self.sequencer = sequencer
        self.options = options
        paths = StorePaths(path)
        writer = copy.platform.random.nextIdentifier()
        copyID = mark.copy
        state = Monitor(
            State(
                number: mark.number, validNumber: mark.number, entry: mark.entry, position: mark.position,
                noted: mark.number))
    }

    deinit {
        // A log that is dropped without being closed is closed here; errors are lost.
        try? close()
    }

    /// Opens the copy in a directory, or creates it, and brings it up to date. The first opener of an empty sequencer
    /// gives the store its identity, unless the options forbid it.
    ///
    /// - Throws: ``StrataError`` if the sequencer cannot be reached, or does not have the entries that the copy lacks.
    package static func open(
        at path: String, sequencer: any Sequencer, options: Options = Options(), log: LogOptions = LogOptions(),
        platform: Platform = Platform(), touches: @escaping TouchFunction = { try Envelope.touches(of: $0) }
    ) throws -> ReplicatedLog {
        let start = try SharedIdentity(at: path, sequencer, options).agree(log, platform)
        let (paths, identity) = (StorePaths(path), start.identity)
        if try log.createsStore && !platform.files.exists(paths.identity) {
            try start.makeCopy(at: path, in: options.filesDirectory, platform)
        }
        let copy = try SegmentedLog.open(
            at: path, copyOf: identity, options: log, platform: platform, touches: touches)
        do {
            let end = copy.end
            if try platform.files.exists(paths.joining) { try platform.files.remove(paths.joining) }
            let known = try CopyMark.read(paths, copy.platform.files, of: copy)
            let wasCopy = try copy.platform.files.exists(paths.replica)
            let noted = known ?? .start(copy.platform.random)
            let isKnown = try known?.isKnown(to: sequencer) == true
            let mark = isKnown ? noted : try start.mark(of: copy, noted.copy)
            // From now on the directory is known to be a copy.
            if known == nil { try noted.write(paths, copy.platform.files, store: identity.storeID) }
            let replicated = ReplicatedLog(copy, identity, sequencer, at: path, from: mark, options: options)
            do {
                replicated.state.withLock { $0.mustFence = known?.isOpen ?? (wasCopy || end != .start) }
                if try end == .start && replicated.isFarBehind() {
                    try replicated.beginEarly(start, from: mark)
                } else {
                    try replicated.begin(start, from: mark)
                }
            } catch {
                // Not closed, because the caller may open the log again on the same sequencer.
                replicated.state.withLock { $0.isClosed = true }
                // An independent store stays independent.
                if !wasCopy, end != .start, copy.end == end { try? copy.platform.files.remove(paths.replica) }
                throw error
            }
            return replicated
        } catch {
            try? copy.close()
            throw error
        }
    }

    /// Reads all entries, and checks that the copy has just their commits and all that it had once.
    private func begin(_ start: SequenceStart, from mark: CopyMark) throws {
        share(mark)
        _ = try confirmEnd()
        let position = state.withLock { $0.position }
        guard position == copy.end else {
            throw StrataError(
                .brokenSequence, "The copy has commits that the sequencer does not have.",
                .init(path: paths.store, expected: "\(copy.end)", found: "\(position)"))
        }
        try checkWitnesses(position)
        if let address = options.address { try CopyAddress.write(address, paths, copy.platform.files) }
        let mustFence = state.withLock { state in
            state.hasBegun = true
            return state.mustFence
        }
        if mustFence {
            try fence()
            state.withLock { $0.mustFence = false }
        }
        if start.isBegin(of: mark, copy) { try require(start) }
        try note(sharesNow: true)
    }

    private func isFarBehind() throws -> Bool {
        guard options.earlyEntries < .max else { return false }
        return try sequencer.last() >= options.earlyEntries + state.withLock { $0.number }
    }

    /// Begins on a thread of its own, and returns once there is a commit to read.
    ///
    /// - Throws: the error that ended it before.
    private func beginEarly(_ start: SequenceStart, from mark: CopyMark) throws {
        state.withLock { $0.opening = .running }
        // The thread keeps the log until it has ended; `close` waits for it.
        try opener.start(name: "strata-opening") { [self] in
            let result = Result { try begin(start, from: mark) }
            state.withLock { $0.opening = .ended(result) }
            state.notifyAll()
        }
        let ended = state.wait { state -> Result<Void, any Error>? in
            if case .ended(let result) = state.opening { return result }
            return state.position == .start ? nil : .success(())
        }
        do { try ended.get() } catch {
            opener.join()
            throw error
        }
    }

    /// Waits until a new copy has all entries that were there when it was opened.
    ///
    /// - Throws: ``StrataError`` if it cannot get them; then the log can only be closed.
    package func awaitOpening() throws {
        _ = try awaitCommits(after: .max)
        opener.join()
    }

    /// Waits until a new copy has commits after `offset`; returns false if it has all that were there when it was
    /// opened.
    func awaitCommits(after offset: UInt64) throws -> Bool {
        try state.wait { state -> Bool? in
            switch state.opening {
            case .ended(let result):
                try result.get()
                return false
            case .running: return state.position.offset > offset ? true : nil
            }
        }
    }

    /// Checks that the sequencer has the mark of the base from which the copy begins.
    private func require(_ start: SequenceStart) throws {
        guard let mark = start.mark, state.withLock({ !$0.bases.contains(mark) }) else { return }
        throw StrataError(
            .brokenSequence,
            "The sequencer lost the mark of its base; 'strata trim --copy' makes another of a copy in use.",
            .init(offset: start.position.offset, path: paths.store, expected: "the mark of base \(mark.base)"))
    }

    private func checkWitnesses(_ position: Position) throws {
        guard let missing = copy.recovery.missingEnd else { return }
        guard missing.offset <= position.offset else {
            throw StrataError(
                .missingSegment, "Commits are missing that neither the copy nor the sequencer has.",
                .init(
                    offset: position.offset + 1, path: paths.log, expected: "commits up to \(missing.offset)",
                    found: "commit \(position.offset) as the last one"))
        }
        guard try missing.offset < copy.floor.offset || copy.has(missing) else {
            throw StrataError(
                .brokenChain, "The sequencer's history differs from the one that the copy had.",
                .init(offset: missing.offset, path: paths.log, expected: "\(missing)"))
        }
    }

    package func follow(_ body: @escaping @Sendable () -> Void) throws {
        state.withLock { $0.watcher = body }
        // The thread keeps the log until it is closed.
        try follower.start(name: "strata-follow") { [self] in
            while followOnce() {}
        }
        try settler.start(name: "strata-settle") { [self] in
            while settleOnce() {}
        }
    }

    package func close() throws {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        if wasClosed { return }
        sequencer.close()
        state.notifyAll()
        opener.join()
        follower.join()
        settler.join()
        // A thread that is reading ends first.
        state.wait { $0.isReading ? nil : () }
        let noting = Result { try note(isOpen: state.withLock { $0.flight != nil || $0.mustFence }, sharesNow: true) }
        try copy.close()
        // The note only saves reading entries again, but a failed sync must be reported.
        try noting.get()
    }

    // MARK: The end

    package var isShared: Bool { true }
    package var segments: SegmentedLog? { copy }
    package var assignsNextOffset: Bool { true }
    package var maximumCommitBytes: Int {
        min(copy.maximumCommitBytes, EntryPieces.maximumPayloadBytes(in: sequencer.maximumEntryBytes))
    }
    /// The end: the sequencer keeps what the copy may still lose.
    package var durableEnd: Position { copy.end }

    package func isOwn(_ offset: UInt64) -> Bool {
        state.withLock { $0.own.last { $0.lowerBound <= offset }?.contains(offset) ?? false }
    }

    package func waitForEnd(past offset: UInt64) async { await copy.waitForEnd(past: offset) }

    /// Makes the copy durable on this machine.
    package func sync() throws { try copy.sync() }

    /// Syncs the copy, then notes how far it has come, so that opening need not read all entries.
    ///
    /// - Parameter sharesNow: true if the progress is shared at once, false if that may be done less often.
    func note(isOpen: Bool = true, sharesNow: Bool = false) throws {
        try noting.withLock { _ in try noteInTurn(isOpen: isOpen, sharesNow: sharesNow) }
    }

    private func noteInTurn(isOpen: Bool, sharesNow: Bool) throws {
        let (mark, number) = state.withLock { state in
            (
                CopyMark(
                    copy: copyID, number: state.validNumber, entry: state.entry, position: state.position,
                    isOpen: isOpen),
                state.number
            )
        }
        // IMPORTANT: Write the mark after the sync. It was read before the sync, so it names only what is now durable.
        try copy.sync()
        try mark.write(paths, copy.platform.files, store: identity.storeID)
        state.withLock { $0.noted = max($0.noted, number) }
        if sharesNow || isSharingDue { share(mark) }
    }

    /// Notes the progress; a failure only means that entries are read again.
    func noteIfPossible() {
        let number = state.withLock { $0.number }
        do { try note() } catch { state.withLock { $0.noted = max($0.noted, number) } }
    }

    // MARK: The copy

    package func read(from offset: UInt64) throws -> any CommitCursor {
        let cursor = try copy.read(from: offset)
        // IMPORTANT: also while a fence is awaited, since commits of others come before it.
        if case .running = state.withLock({ $0.opening }) { return GrowingCursor(cursor, of: self, from: offset) }
        return cursor
    }
    package func trim(to offset: UInt64) throws -> Position { try copy.trim(to: offset) }

    package func rewrite(
        through offset: UInt64, lookup: @escaping NameLookup, _ rewritten: PayloadRewriting
    ) throws {
        try copy.rewrite(through: offset, lookup: lookup, rewritten)
    }
}
