import StrataLog
import StrataModel
import StrataSystem

/// Reads the history in the entries of a sequencer, without a copy, and writes nothing anywhere.
///
/// ```swift
/// var history = try SequencedHistory(sequencer)
/// let last = try sequencer.last()
/// while let commits = try history.next(through: last) { print(commits.count) }
/// ```
package struct SequencedHistory {
    package enum Step {
        /// No entry came.
        case none
        /// An entry that counts, with its commits.
        case valid([Commit])
        case void
    }

    /// The time after which an entry that the sequencer names is given up.
    private static let patienceMilliseconds = 10_000

    package let identity: StoreIdentity
    /// The last entry that was read.
    package private(set) var number: UInt64
    /// The first entry that can be read.
    package let first: UInt64
    /// The last valid entry.
    package private(set) var entry: Identifier
    package private(set) var end = Position.start
    /// The time of the last commit; nil if there is none.
    package private(set) var endTime: Int64?
    /// The last commit that erases records, among those that were read, and the end of its entry; nil if there is none.
    private(set) var lastErasure: (offset: UInt64, entryEnd: UInt64)?
    /// The options that the first entry stated.
    let terms: String
    private let sequencer: any Sequencer
    private var parts = CollectedParts()
    private var page: ArraySlice<[UInt8]>

    /// Reads the identity of the store. The history of a trimmed sequencer begins after its base.
    ///
    /// - Parameter filesDirectory: the directory that all processes share, which has the bases; nil if there is none.
    /// - Throws: `.notFound` if the sequencer has no entries, `.outOfRange` if it was trimmed and no base is left.
    package init(
        _ sequencer: any Sequencer, in filesDirectory: String? = nil, _ files: any FileSystem = RealFileSystem()
    ) throws {
        guard try sequencer.last() > 0 else {
            throw StrataError(.notFound, "The sequencer has no store; 'strata create' gives it one.")
        }
        self.sequencer = sequencer
        do { page = try sequencer.entries(after: 0, waitingMilliseconds: Self.patienceMilliseconds)[...] } catch let
            error as StrataError where error.code == .outOfRange
        {
            let start = try SequenceStart.base(of: sequencer, in: filesDirectory, files, checksFile: false)
            (identity, terms, page) = (start.identity, start.terms ?? "", [])
            (number, first, entry, end) = (start.number, start.number + 1, start.entry, start.position)
            endTime = start.mark?.time
            return
        }
        guard let first = page.popFirst() else { throw Self.hiddenEntry(1) }
        let entry = try SequencedEntry(decoding: first)
        guard case .identity(let identity, let terms) = entry.content else {
            throw StrataError(.malformed, "The first entry of the sequencer is not the identity of a store.")
        }
        (self.identity, self.terms, self.entry) = (identity, terms, entry.id)
        (number, self.first) = (1, 1)
    }

    private static func hiddenEntry(_ number: UInt64) -> StrataError {
        StrataError(
            .outcomeUnknown, "The sequencer does not show an entry that it has; try again.",
            .init(expected: "entry \(number)"))
    }

    /// Returns the commits of the next valid entry that has some; nil if none is left up to the entry `last`.
    package mutating func next(through last: UInt64) throws -> [Commit]? {
        while number < last {
            switch try step(waitingMilliseconds: Self.patienceMilliseconds) {
            case .none: throw Self.hiddenEntry(number + 1)
            case .valid(let commits) where !commits.isEmpty: return commits
            case .valid, .void: continue
            }
        }
        return nil
    }

    /// Reads one entry, for which it waits if there is none yet.
    package mutating func step(waitingMilliseconds: Int) throws -> Step {
        if page.isEmpty {
            page = try sequencer.entries(after: number, waitingMilliseconds: waitingMilliseconds)[...]
        }
        guard let bytes = page.popFirst() else { return .none }
        let read = try SequencedEntry(decoding: bytes)
        let entry = try parts.assembled(read) ?? read
        number += 1
        // A second identity is void, whatever its store.
        if case .identity = entry.content { return .void }
        guard entry.store == identity.storeID else {
            throw StrataError(
                .foreignSegment, "An entry belongs to another store.",
                .init(expected: "\(identity.storeID)", found: "\(entry.store) in entry \(number)"))
        }
        guard isValid(entry) else {
            guard entry.position.offset <= end.offset else {
                throw StrataError(
                    .brokenSequence, "An entry was decided on commits that the sequencer did not give.",
                    .init(offset: entry.position.offset, expected: "at most \(end)", found: "entry \(number)"))
            }
            if case .part(let part) = entry.content { parts.add(part, of: entry.writer) }
            return .void
        }
        self.entry = entry.id
        parts.removeAll()
        guard case .commits(let content) = entry.content else { return .valid([]) }
        let commits = content.map { take($0) }
        if let last = commits.last(where: { Envelope.erases($0.payload) }) { lastErasure = (last.offset, end.offset) }
        return .valid(commits)
    }

    private func isValid(_ entry: SequencedEntry) -> Bool {
        entry.content.canBeValid && entry.previous == self.entry && entry.position == end
    }

    /// Returns the number of parts of a publisher's entry that were read.
    func partCount(of entry: Identifier) -> Int { parts.count(of: entry, by: SequencedEntry.publisher) }

    private mutating func take(_ commit: NewCommit) -> Commit {
        end = end.following(commit)
        endTime = commit.time
        return Commit(
            offset: end.offset, id: commit.id, time: commit.time, chain: end.chain, payload: commit.payload)
    }
}

extension Position {
    /// Returns the position of a commit that follows this one.
    func following(_ commit: NewCommit) -> Position {
        commit.payload.withUnsafeBytes { payload in
            Position(
                offset: offset + 1,
                chain: Chain.value(after: chain, offset: offset + 1, time: commit.time, payload: payload))
        }
    }
}
