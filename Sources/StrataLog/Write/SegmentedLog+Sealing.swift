import StrataModel
import StrataSystem

extension SegmentedLog {
    /// Rewrites the oldest closed segment that has not been sealed (docs/format.md §25); returns false if there is
    /// none, or if the log is closed while it runs. Neither reads nor appends wait for it.
    ///
    /// - Parameter lookup: returns names that the segment uses but does not introduce.
    @discardableResult
    package func sealNext(lookup: @escaping NameLookup = { _ in nil }) throws -> Bool {
        do { return try sealNext(after: 0, lookup) != nil } catch let error as SealingFailure { throw error.cause }
    }

    /// Seals the oldest such segment that begins after `offset`; returns its first offset, or nil if there is none.
    private func sealNext(after offset: UInt64, _ lookup: NameLookup) throws -> UInt64? {
        try catalog.requireOpen()
        return try sealer.oneAtATime {
            let waiting = catalog.read { state in
                state.unsealed.first { $0 > offset }
                    .map { state.segments[LogCatalog.index(of: $0, in: state.segments)] }
            }
            guard let waiting else { return nil }
            do { return try seal(waiting, lookup) ? waiting.firstOffset : nil } catch {
                throw SealingFailure(firstOffset: waiting.firstOffset, cause: error)
            }
        }
    }

    /// Seals closed segments in the background, until the log is closed: while writers are at rest, or when more wait
    /// than the options allow.
    ///
    /// - Parameter lookup: returns names that a segment uses but does not introduce.
    package func startSealing(lookup: @escaping NameLookup) throws {
        try sealer.start(
            SealingPace(maximumWaiting: options.maximumWaitingSegments),
            waitingCount: { [weak self] in self?.waitingCount ?? 0 },
            { [weak self] in try self?.sealNext(after: $0, lookup) })
    }

    /// The number of segments that are to be sealed.
    package var waitingCount: Int { catalog.read { $0.unsealed.count } }

    /// If more than this many segments wait, closing waits for the segment that is being sealed.
    private static let overdueSegments = 32

    /// Ends the sealing in the background, in the middle of a segment if necessary.
    package func stopSealing() { sealer.stop() }

    /// The first failure of the last round of sealing in the background; nil if there was none.
    package var sealingFailure: StrataError? { sealer.failure }

    private func seal(_ segment: SegmentFile, _ lookup: NameLookup) throws -> Bool {
        let files = platform.files
        let source: any File
        do { source = try catalog.open(segment) } catch let error as StrataError where error.code == .notFound {
            // A trim has discarded it.
            return false
        }
        defer { source.close() }
        let path = catalog.paths.sealing
        if try files.exists(path) { try files.remove(path) }
        let draft = try files.open(path, .create)
        let sealed: SegmentFile
        do {
            // Programs that soon end again would otherwise never seal any.
            let mustEnd = waitingCount > Self.overdueSegments
            let pulse = { [sealer] in if sealer.isStopping, !mustEnd { throw SealingStopped() } }
            sealed = try SegmentSealer(segment, into: draft).seal(
                from: source, touches: catalog.touches, lookup: lookup, pulse: pulse)
            try verifyDraft(sealed, draft, pulse: pulse)
            draft.close()
        } catch {
            draft.close()
            try? files.remove(path)
            if error is SealingStopped { return false }
            throw error
        }
        guard try putInPlace(sealed, of: segment) else {
            try? files.remove(path)
            return false
        }
        return true
    }

    /// Reads the draft as readers will: it replaces the only copy of commits, and must be whole.
    func verifyDraft(_ sealed: SegmentFile, _ draft: any File, pulse: () throws -> Void = {}) throws {
        let copy = try SealedSegment(sealed, draft, BlockCache(), closesFile: false)
        var cursor = try SealedSegment.Cursor(copy, from: sealed.firstOffset, checksChain: true)
        var end = sealed.header.before
        while let commit = try cursor.next() {
            try pulse()
            end = commit.position
        }
        guard end == sealed.seal?.end else {
            throw StrataError(
                .brokenChain, "A segment does not end at the same commit after it was sealed.",
                .init(
                    segment: sealed.firstOffset, path: draft.path, expected: "\(sealed.seal?.end ?? .start)",
                    found: "\(end)"))
        }
    }

    /// Replaces a segment by its sealed form; returns false if the segment is no longer part of the log.
    func putInPlace(_ sealed: SegmentFile, of source: SegmentFile) throws -> Bool {
        // The writing lock keeps the list of segments unchanged.
        let isInPlace = try writer.withLock { writer throws -> Bool in
            // IMPORTANT: once the log is closed, another process may be writing to the store.
            if writer.isClosed { return false }
            let isThere = catalog.read { state in
                state.segments[LogCatalog.index(of: source.firstOffset, in: state.segments)].header == source.header
            }
            guard isThere else { return false }
            // The draft is durable, and the file is whole under either name: a crash leaves one of the two.
            try platform.files.rename(catalog.paths.sealing, to: sealed.path)
            catalog.publish { _ = LogCatalog.replace(with: sealed, in: &$0) }
            catalog.release(of: source)
            return true
        }
        if isInPlace { try platform.files.syncDirectory(catalog.paths.log) }
        return isInPlace
    }
}

/// Thrown in the middle of a segment when sealing ends, so that a log is closed without waiting for the rest.
struct SealingStopped: Error {}
