import StrataLog
import StrataModel
import StrataSystem

/// Gives a sequencer the commits of a log that it lacks, at the same offsets and with the same times, ids and chain
/// values.
///
/// ```swift
/// var publisher = try HistoryPublisher(of: reader, reader.identity, to: sequencer)
/// try publisher.compare()
/// try publisher.publish()
/// ```
package struct HistoryPublisher {
    private static let firstPauseMilliseconds = 20
    private static let longestPauseMilliseconds = 2_000
    /// Longer entries would only need more memory.
    private static let usualEntryBytes = 8 << 20

    private let source: any HistoryLog
    private let sequencer: any Sequencer
    private let platform: Platform
    private let outcomeMilliseconds: Int
    private var history: SequencedHistory

    /// The end of what the sequencer has, as far as it was read.
    package var end: Position { history.end }
    /// The number of commits that the sequencer has and the source does not.
    package var surplus: UInt64 { history.end.offset - min(history.end.offset, source.end.offset) }
    /// The number of commits that the source has and the sequencer does not.
    package var missing: UInt64 { source.end.offset - min(history.end.offset, source.end.offset) }

    /// - Parameter filesDirectory: the directory that all processes share; nil if there is none.
    /// - Throws: `.notFound` if the sequencer has no store, and `.invalidArgument` if it has another one.
    package init(
        of source: any HistoryLog, _ identity: StoreIdentity, to sequencer: any Sequencer,
        in filesDirectory: String? = nil, platform: Platform = Platform(), outcomeMilliseconds: Int = 10_000
    ) throws {
        self.source = source
        self.sequencer = sequencer
        self.platform = platform
        self.outcomeMilliseconds = outcomeMilliseconds
        history = try SequencedHistory(sequencer, in: filesDirectory, platform.files)
        guard history.identity.storeID == identity.storeID else {
            throw StrataError(
                .invalidArgument, "The sequencer has another store than the directory.",
                .init(expected: "\(identity.storeID)", found: "\(history.identity.storeID)"))
        }
    }

    /// Reads all entries of the sequencer, and compares them with the source as far as both go.
    ///
    /// - Throws: ``PartedHistories`` at the first commit that differs.
    package mutating func compare() throws {
        let last = try sequencer.last()
        while let commits = try history.next(through: last) { try compare(commits) }
    }

    private func compare(_ commits: [Commit]) throws {
        let known = commits.filter { (source.floor.offset...source.end.offset).contains($0.offset) }
        // The last chain value covers the commits before it.
        guard let last = known.last, try !source.has(last.position) else { return }
        let other = try known.first { try !source.has($0.position) } ?? last
        throw PartedHistories(offset: other.offset, reason: "the sequencer has another one there")
    }

    /// Sends the commits after the last one that the sequencer has, and returns their number. All of them are checked
    /// before the first one is sent.
    ///
    /// - Throws: ``PartedHistories`` if another process appends to the sequencer at the same time; `.erased` and
    ///   `.tooLarge` for a commit that cannot be sent.
    @discardableResult
    package mutating func publish() throws -> UInt64 {
        let (begin, last) = (history.end, source.end.offset)
        guard begin.offset < last else { return 0 }
        try Self.check(source, after: begin, through: last, for: sequencer)
        var batches = try Self.batches(of: source, after: begin, through: last, for: sequencer)
        while case let batch = try batches.next(), !batch.isEmpty { try send(batch) }
        return history.end.offset - begin.offset
    }

    private static func batches(
        of source: any HistoryLog, after position: Position, through last: UInt64, for sequencer: any Sequencer
    ) throws -> CommitBatches {
        let room = min(sequencer.maximumEntryBytes, usualEntryBytes)
        return try CommitBatches(
            of: source, after: position, through: last,
            byteLimit: SequencedEntry.maximumContentBytes(in: room))
    }

    /// Checks that a sequencer can have the commits of a log.
    static func check(
        _ source: any HistoryLog, after position: Position, through last: UInt64, for sequencer: any Sequencer
    ) throws {
        let limit = EntryPieces.maximumPayloadBytes(in: sequencer.maximumEntryBytes)
        var batches = try batches(of: source, after: position, through: last, for: sequencer)
        var offset = position.offset
        while case let batch = try batches.next(), !batch.isEmpty {
            for commit in batch {
                offset += 1
                guard commit.payload.count > limit else { continue }
                throw StrataError(
                    .tooLarge, "A commit is longer than the entries of the sequencer allow.",
                    .init(offset: offset, expected: "at most \(limit) bytes", found: "\(commit.payload.count)"))
            }
        }
    }

    // MARK: Sending

    private mutating func send(_ batch: [NewCommit]) throws {
        let position = history.end
        while true {
            let entry = SequencedEntry(
                store: history.identity.storeID, id: platform.random.nextIdentifier(),
                writer: SequencedEntry.publisher, previous: history.entry, position: position,
                content: .commits(batch))
            try settle(entry)
            if history.entry == entry.id { return }
            // After a fence the same commits can be sent again.
            guard history.end == position else {
                throw PartedHistories(
                    offset: position.offset + 1, reason: "another process appended to the sequencer")
            }
        }
    }

    /// Sends an entry until a valid entry is read, which is this one or makes it void.
    private mutating func settle(_ entry: SequencedEntry) throws {
        let pieces = EntryPieces(
            of: entry, maximumBytes: sequencer.maximumEntryBytes, random: platform.random)
        var start = ContinuousClock.now
        var pause = Self.firstPauseMilliseconds
        var reason: StrataError?
        var mayBeIn = false
        repeat {
            let parts = history.partCount(of: entry.id)
            let piece = pieces.next(afterParts: parts)
            switch sequencer.append(piece.bytes, id: piece.id, expecting: history.number) {
            case .accepted, .taken: break
            case .unknown(let error): reason = error
            case .refused(let error):
                guard mayBeIn else { throw error }
                reason = error
            }
            mayBeIn = mayBeIn || pieces.isLast(afterParts: parts)
            var step = try history.step(waitingMilliseconds: pause)
            while case .void = step { step = try history.step(waitingMilliseconds: 0) }
            if case .valid = step { return }
            let isProgress = history.partCount(of: entry.id) > parts
            if isProgress { start = .now }
            pause = isProgress ? Self.firstPauseMilliseconds : min(2 * pause, Self.longestPauseMilliseconds)
        } while start.duration(to: .now) < .milliseconds(outcomeMilliseconds)
        throw StrataError(
            .outcomeUnknown, "It is not known whether the sequencer has the entry; run the command again.",
            .init(offset: entry.position.offset + 1), cause: reason)
    }
}
