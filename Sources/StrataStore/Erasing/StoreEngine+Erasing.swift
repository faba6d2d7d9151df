import StrataLog
import StrataModel
import StrataReplication
import StrataTree
import StrataViews

/// Erasure of records from all files of the store (docs/format.md §28).
extension StoreEngine {
    /// Commits an erasure and carries it out; if that fails in between, the next opening completes it.
    func erase(_ commit: () throws -> Void) throws {
        try erasures.withLock { count in
            count += 1
            guard try log.floor.offset == 0 || log.base() != nil else {
                throw StrataError(
                    .outOfRange, "The views could not be rebuilt because the history was compacted without a base.",
                    .init(found: "\(log.floor.offset)"))
            }
            let segmented = log.segments
            do { try segmented?.beginErasure() } catch { throw explained(error, Self.nothingErased) }
            // An earlier erasure that was not carried out is carried out with this one.
            let start = try segmented?.unfinishedErasures() ?? log.durableEnd.offset
            do { try commit() } catch {
                // If the outcome is unknown, the log may still have the commit. In a shared log, it may come later.
                let (isKnown, begun) = (pipeline.acceptsWrites, segmented?.begunErasures)
                guard isKnown, try erasures(after: start).isEmpty else { throw error }
                _ = try? segmented?.endErasures(begun: begun)
                throw explained(error, Self.nothingErased)
            }
            try log.sync()
            do { try carryOutErasures(after: start) } catch { throw explained(error, Self.unfinishedErasure) }
        }
    }

    private static let nothingErased: StaticString =
        "The disk is full, so nothing was erased; free some space and erase again."
    private static let unfinishedErasure: StaticString =
        "The disk is full, so an erasure is unfinished; free some space and reopen the store to complete it."

    /// Returns the error to throw: for a full disk, one that names the store and the state of the erasure.
    private func explained(_ error: any Error, _ message: StaticString) -> any Error {
        guard let error = error as? StrataError, error.code == .noSpace else { return error }
        return StrataError(
            .noSpace, message, .init(path: path, found: error.context.found, errno: error.context.errno))
    }

    /// Completes erasures whose commits are in the log; returns false if there are none.
    func finishErasures() throws -> Bool {
        try erasures.withLock { count in
            guard let segments = log.segments, let offset = try segments.unfinishedErasures() else { return false }
            count += 1
            // An erasure from an earlier opening has not begun in this one.
            if !segments.isErasing { try segments.beginErasure() }
            do { try carryOutErasures(after: offset) } catch { throw explained(error, Self.unfinishedErasure) }
            return true
        }
    }

    /// Begins to carry out what other processes erase.
    func followErasures() throws {
        guard log.isShared, let segments = log.segments else { return }
        try eraser.start { [weak self] in
            if let self { _ = try finishErasures() }
        }
        segments.onErasure { [eraser] in eraser.wake() }
    }

    /// Carries out all erasures after an offset, including those that arrive while it runs.
    private func carryOutErasures(after offset: UInt64) throws {
        var start = offset
        while true {
            let (begun, end) = (log.segments?.begunErasures, log.end.offset)
            // The erasure may name records that this state does not have yet.
            if log.isShared { try pipeline.apply(through: end) }
            try carryOutErasures(after: start, through: end)
            if try log.segments?.endErasures(begun: begun) ?? true { break }
            start = end
        }
        guard log.isShared else { return }
        (log as? ReplicatedLog)?.noteErasures()
        eraser.announce()
    }

    private func carryOutErasures(after offset: UInt64, through end: UInt64) throws {
        let found = try erasures(after: offset, through: end)
        if found.isEmpty { return }
        let eraser = RecordEraser(try found.map { try target($0.record, through: $0.offset) })
        // The waiting audits of refused requests contain the values that were sent.
        if !log.isShared {
            let start = now
            pipeline.writeAudits()
            // Those that did not reach the log, for example because the disk is full, would bring the values back.
            pipeline.audits.removeRequests(through: start)
        } else if pipeline.claimTurns() {
            pipeline.audits.removeRequests()
            pipeline.returnTurns()
        } else {
            throw StrataError(.unreachable, "An erasure waits until the store takes writes.", .init(path: path))
        }
        try log.rewrite(through: log.end.offset, lookup: { [weak self] in try self?.name(of: $0) }) {
            try eraser.erased($1, at: $0)
        }
        try rewriteBase(eraser)
        pasts.forget()
        try pipeline.renewViews(options.trees)
        // A shared directory is collected again later; this attempt may fail, for example without the sequencer.
        if assets.isShared { assets.collectSoon() } else { _ = try assets.collect() }
    }

    private func rewriteBase(_ eraser: RecordEraser) throws {
        guard let log = log.segments, let erasure = try pipeline.live.rebuilder?.erasedBase(eraser, of: log)
        else {
            return
        }
        var scan = try erasure.scan()
        try log.replaceBase { try scan.next()?[...] }
        reader.context.history.forgetBase()
    }

    private func erasures(
        after offset: UInt64, through end: UInt64 = .max
    ) throws -> [(offset: UInt64, record: RecordKey)] {
        var cursor = try log.read(from: max(offset, log.floor.offset) + 1)
        var found: [(offset: UInt64, record: RecordKey)] = []
        while let commit = try cursor.next(), commit.offset <= end {
            for event in try Envelope(decoding: commit.payload).events where event.kind == .recordErased {
                found.append((commit.offset, try RecordErasedEvent(decoding: event.body).record))
            }
        }
        return found
    }

    private func target(_ record: RecordKey, through offset: UInt64) throws -> RecordEraser.Target {
        let names = reader.context.names
        return try reader.context.reading(views.trees.snapshot(), acceptsNewer: true) { trees in
            let (database, zone) = try names.resolver(in: trees).requiredZone(record.zone)
            let owner = database.owner.isEmpty ? 0 : try names.ordinal(of: .user(database.owner), in: trees) ?? 0
            return RecordEraser.Target(
                record, zone: zone, in: database, ownerOrdinal: owner,
                ownerNames: [try names.recordName(of: database.owner, in: trees)], through: offset)
        }
    }
}
