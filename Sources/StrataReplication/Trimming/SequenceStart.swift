import StrataLog
import StrataModel
import StrataSystem

/// The place from which all readable entries of a sequencer follow: its beginning, or the end of a base.
struct SequenceStart {
    let identity: StoreIdentity
    /// The options on which all processes agree; nil if they are not known.
    let terms: String?
    /// The last entry that is not read, and the end of the log after it.
    let number: UInt64
    let entry: Identifier
    let position: Position
    /// The mark of the base that has the state there; nil at the beginning.
    let mark: BaseMark?

    /// The beginning of a sequencer that has its first entry, or of which nothing else is known.
    init(_ identity: StoreIdentity, terms: String?) {
        (self.identity, self.terms) = (identity, terms)
        (number, entry, position, mark) = (0, .zero, .start, nil)
    }

    private init(_ mark: BaseMark) {
        (identity, terms, number) = (mark.identity, mark.terms, mark.number)
        (entry, position) = (mark.entry, mark.horizon)
        self.mark = mark
    }

    /// Finds the newest base that a trimmed sequencer still continues.
    ///
    /// - Parameters:
    ///   - filesDirectory: the directory that all processes share; nil if there is none.
    ///   - checksFile: false if only the mark is needed.
    /// - Throws: `.outOfRange` if there is none; the reason why one cannot be used if all others are too old.
    static func base(
        of sequencer: any Sequencer, in filesDirectory: String?, _ files: any FileSystem, checksFile: Bool = true,
        milliseconds: Int = 10_000
    ) throws -> SequenceStart {
        guard let filesDirectory else {
            throw StrataError(
                .outOfRange, "The sequencer was trimmed; specify the directory of assets and keys, which has its base.")
        }
        let bases = SharedBases(in: filesDirectory, files)
        var failure: StrataError?
        // A sequencer that lost entries and was repaired may not have reached the number of an old base again.
        let last = try sequencer.last()
        for name in try bases.marks() where name.number < last {
            guard let next = try entry(after: name.number, of: sequencer, milliseconds) else { break }
            do {
                let (entry, mark) = try bases.entry(name)
                guard entry.store == next.store else {
                    throw StrataError(
                        .foreignSegment, "A base belongs to another store than the sequencer.",
                        .init(path: bases.path(of: mark), expected: "\(next.store)", found: "\(entry.store)"))
                }
                if checksFile { _ = try bases.open(mark) }
                return SequenceStart(mark)
            } catch let error as StrataError { failure = failure ?? error }
        }
        // The sequencer has the marks, too; the files only spare the search.
        for mark in try SequencedMarks.all(in: sequencer).reversed() {
            do {
                if checksFile { _ = try bases.open(mark) }
                return SequenceStart(mark)
            } catch let error as StrataError { failure = failure ?? error }
        }
        throw StrataError(
            failure?.code ?? .outOfRange,
            "The sequencer was trimmed, and no base is left; 'strata trim --copy' makes one from a copy in use.",
            .init(path: bases.directory), cause: failure)
    }

    /// Returns the entry after a number; nil if it was trimmed.
    private static func entry(
        after number: UInt64, of sequencer: any Sequencer, _ milliseconds: Int
    ) throws -> SequencedEntry? {
        do {
            let bytes = try sequencer.entries(after: number, waitingMilliseconds: milliseconds).first
            return try bytes.map { try SequencedEntry(decoding: $0) }
        } catch let error as StrataError where error.code == .outOfRange { return nil }
    }

    /// Makes the copy of a store whose first entries were trimmed.
    func makeCopy(at path: String, in filesDirectory: String?, _ platform: Platform) throws {
        guard let mark, let filesDirectory else { return }
        let (paths, files) = (StorePaths(path), platform.files)
        try SegmentedLog.makeCopy(
            at: path, of: identity, from: SharedBases(in: filesDirectory, files).open(mark), platform: platform
        ) {
            // Closed: nothing of this copy can be on its way to the sequencer.
            try CopyMark(
                copy: platform.random.nextIdentifier(), number: number, entry: entry, position: position, isOpen: false
            ).write(paths, files, store: identity.storeID)
        }
    }

    /// Returns where a copy that does not know how far it has read begins to compare.
    ///
    /// - Throws: `.outOfRange` if the copy ends before that, `.brokenChain` if it has another history.
    func mark(of copy: SegmentedLog, _ id: Identifier) throws -> CopyMark {
        guard position.offset <= copy.end.offset else { throw Self.isTooOld(copy) }
        guard try position.offset < copy.floor.offset || copy.has(position) else {
            throw StrataError(
                .brokenChain, "The copy's history differs from the sequencer's base.",
                .init(offset: position.offset, expected: "\(position)"))
        }
        return CopyMark(copy: id, number: number, entry: entry, position: position, isOpen: true)
    }

    private static func isTooOld(_ copy: SegmentedLog) -> StrataError {
        StrataError(
            .outOfRange, "The sequencer was trimmed past what the copy has read; make a new copy.",
            .init(offset: copy.end.offset + 1))
    }

    /// Returns true if a copy has read nothing since it was made from the base.
    func isBegin(of mark: CopyMark, _ copy: SegmentedLog) -> Bool {
        self.mark != nil && mark.number == number && mark.entry == entry && mark.position == copy.floor
    }
}
