import StrataModel
import StrataSystem

extension SegmentedLog {
    package func rewrite(
        through offset: UInt64, lookup: @escaping NameLookup, _ rewritten: PayloadRewriting
    ) throws {
        try catalog.requireOpen()
        try closeSegment(upTo: offset)
        // Excludes the sealing thread, which writes to the same draft.
        _ = try sealer.oneAtATime {
            for segment in catalog.read({ $0.segments.dropLast() }) where segment.firstOffset <= offset {
                try rewrite(segment, lookup, rewritten)
            }
            return nil
        }
    }

    /// Begins another segment if the one that grows has commits up to `offset`: only closed segments can be rewritten.
    private func closeSegment(upTo offset: UInt64) throws {
        try writer.withLock { writer throws -> Void in
            if writer.isClosed { throw LogCatalog.closedError(catalog.paths) }
            if let refusal = writer.refusal { throw refusal }
            guard writer.segment.firstOffset <= min(offset, writer.end.offset) else { return }
            do throws(AppendFailure) { try switchSegment(&writer) } catch {
                throw error.cause
                    ?? StrataError(.inputOutput, "The segment being written cannot be closed.", cause: error)
            }
        }
    }

    private func rewrite(
        _ known: SegmentFile, _ lookup: NameLookup, _ rewritten: PayloadRewriting
    ) throws {
        do {
            // The segment may have been sealed since it was listed; no other is sealed while this runs.
            let (source, isChanged) = try catalog.reading(known) { segment in
                (segment, try contains(segment) { try rewritten($0.offset, $0.payload) != nil })
            }
            guard isChanged else { return }
            let draft = try writeDraft(of: source, lookup, rewritten)
            guard try putInPlace(draft, of: source) else {
                try? platform.files.remove(catalog.paths.sealing)
                try catalog.requireOpen()
                return
            }
        } catch let error as StrataError where error.code == .outOfRange && floor.offset >= known.firstOffset {
            // A trim has discarded it, wholly or in part.
            guard let end = known.seal?.end.offset, floor.offset >= end else { throw error }
        }
    }

    private struct Found: Error {}

    private func contains(_ segment: SegmentFile, _ isWanted: (Commit) throws -> Bool) throws -> Bool {
        do {
            try forEachCommit(of: segment) { commit, _ in if try isWanted(commit) { throw Found() } }
        } catch is Found { return true }
        return false
    }

    /// Reads a closed segment and checks everything.
    private func forEachCommit(of segment: SegmentFile, _ body: (Commit, OriginalPayload?) throws -> Void) throws {
        let file = try catalog.open(segment)
        guard segment.header.form == .frames else {
            var cursor = try SealedSegment.Cursor(
                try SealedSegment(segment, file, BlockCache()), from: segment.firstOffset, checksChain: true)
            while let commit = try cursor.next() { try body(commit, cursor.original) }
            return
        }
        defer { file.close() }
        var scanner = SegmentScanner(segment.header, FileWindow(file, limit: try file.size()))
        let found = try SegmentEnd.find(&scanner, isNewest: false) { try body($0.commit, nil) }
        guard found.end == segment.seal?.end else {
            throw StrataError(
                .brokenSequence, "A closed segment does not end at its seal.",
                .init(
                    segment: segment.firstOffset, path: segment.path,
                    expected: "\(segment.seal?.end ?? .start)", found: "\(found.end)"))
        }
    }

    /// Writes the segment with other payloads as a durable draft, which is read back and checked.
    private func writeDraft(
        of source: SegmentFile, _ lookup: NameLookup, _ rewritten: PayloadRewriting
    ) throws -> SegmentFile {
        let (files, path) = (platform.files, catalog.paths.sealing)
        if try files.exists(path) { try files.remove(path) }
        let draft = try files.open(path, .create)
        defer { draft.close() }
        do {
            let sealer = try SegmentSealer(source, into: draft, id: platform.random.nextIdentifier())
            let segment = try sealer.seal(touches: catalog.touches, lookup: lookup) { append in
                try forEachCommit(of: source) { commit, original in
                    var commit = commit
                    guard let payload = try rewritten(commit.offset, commit.payload) else {
                        return try append(commit, original)
                    }
                    let original = original ?? OriginalPayload(of: commit.payload)
                    commit.payload = payload[...]
                    try append(commit, original)
                }
            }
            try verifyDraft(segment, draft)
            return segment
        } catch {
            try? files.remove(path)
            throw error
        }
    }
}

/// The note that an erasure has begun and may be incomplete: commits after an offset describe it (docs/format.md §28).
extension SegmentedLog {
    private enum Tag {
        static let storeID: UInt16 = 1
        static let offset: UInt16 = 2
    }

    /// Returns the offset after which there may be incomplete erasures; nil if there are none.
    package func unfinishedErasures() throws -> UInt64? {
        let path = catalog.paths.erasing
        guard try platform.files.exists(path) else { return nil }
        let bytes = try platform.files.readAll(path, atMost: LogFormat.headerBlockMaximumBytes)
        let block = try HeaderBlock(decoding: bytes, magic: LogFormat.erasingMagic, path: path)
        try block.requireKnown([Tag.storeID, Tag.offset], path: path)
        let storeID = try block.identifier(Tag.storeID, path: path)
        guard storeID == identity.storeID else {
            throw StrataError(
                .foreignSegment, "The file belongs to another store.",
                .init(path: path, expected: "store \(identity.storeID)", found: "store \(storeID)"))
        }
        return try block.number(Tag.offset, as: UInt64.self, path: path)
    }

    /// Notes, durably, that an erasure begins, which the next commits describe.
    ///
    /// - Parameter append: appends the commits that erase. An erasure that ends while this runs does not count as the
    ///   end of theirs.
    package func beginErasure(_ append: () throws -> Void = {}) throws {
        try catalog.requireOpen()
        let watcher = try pendingErasures.withLock { pending in
            if try unfinishedErasures() == nil {
                let block = HeaderBlock(
                    magic: LogFormat.erasingMagic,
                    fields: [.init(Tag.storeID, identity.storeID), .init(Tag.offset, durableEnd.offset)])
                try platform.files.replace(catalog.paths.erasing, in: catalog.paths.log, with: block.encoded())
            }
            pending.begun += 1
            pending.isAny = true
            try append()
            return pending.watcher
        }
        watcher?()
    }

    /// Notes that all erasures so far are complete.
    ///
    /// - Parameter count: ``begunErasures`` when the log was read whose erasures are complete.
    /// - Returns: false if another one has begun since, which leaves the note as it is.
    @discardableResult
    package func endErasures(begun count: Int? = nil) throws -> Bool {
        try catalog.requireOpen()
        return try pendingErasures.withLock { pending in
            if let count, pending.begun != count { return false }
            try platform.files.remove(catalog.paths.erasing)
            try platform.files.syncDirectory(catalog.paths.log)
            pending.isAny = false
            return true
        }
    }

    /// The number of erasures that have begun since the log was opened.
    package var begunErasures: Int { pendingErasures.withLock { $0.begun } }
    /// True while an erasure that has begun since the log was opened is not complete.
    package var isErasing: Bool { pendingErasures.withLock { $0.isAny } }

    /// Sets what is called after an erasure has begun, on any thread.
    package func onErasure(_ body: @escaping @Sendable () -> Void) {
        pendingErasures.withLock { $0.watcher = body }
    }
}

/// The erasures that a log knows of and that are not complete.
struct PendingErasures {
    var begun = 0
    var isAny = false
    var watcher: (@Sendable () -> Void)?
}
