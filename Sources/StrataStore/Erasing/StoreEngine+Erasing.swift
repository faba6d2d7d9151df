import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// Erasure of records from all files of the store (docs/format.md §28).
extension StoreEngine {
    /// Commits an erasure and carries it out; if that fails in between, the next opening completes it.
    func erase(_ commit: () throws -> Void) throws {
        guard !log.isShared else {
            throw StrataError(
                .invalidArgument,
                "A store on several machines cannot erase yet: the other copies would keep the values.",
                .init(path: path))
        }
        try erasures.withLock { count in
            count += 1
            guard try log.floor.offset == 0 || log.base() != nil else {
                throw StrataError(
                    .outOfRange, "The page file could not be rebuilt because the history was compacted without a base.",
                    .init(found: "\(log.floor.offset)"))
            }
            let segmented = log.segments
            do { try segmented?.beginErasure() } catch { throw explained(error, Self.nothingErased) }
            // An earlier erasure that was not carried out is carried out with this one.
            let start = try segmented?.unfinishedErasures() ?? log.durableEnd.offset
            do { try commit() } catch {
                // If the outcome is unknown, the log may still have the commit.
                let isKnown = pipeline.acceptsWrites
                guard isKnown, try erasures(after: start).isEmpty else { throw error }
                try? segmented?.endErasures()
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

    /// Completes erasures whose commits are in the log.
    func finishErasures() throws {
        try erasures.withLock { count in
            guard let offset = try log.segments?.unfinishedErasures() else { return }
            count += 1
            resumedErasure.withLock { $0 = true }
            do { try carryOutErasures(after: offset) } catch { throw explained(error, Self.unfinishedErasure) }
        }
    }

    private func carryOutErasures(after offset: UInt64) throws {
        let found = try erasures(after: offset)
        if !found.isEmpty {
            let eraser = RecordEraser(try found.map { try target($0.record, through: $0.offset) })
            // Up to the end, and with the waiting audits: those of refused requests contain the values that were sent.
            if pipeline.claimTurns() {
                pipeline.writeAudits()
                pipeline.returnTurns()
            }
            try log.rewrite(through: log.end.offset, lookup: { [weak self] in try self?.name(of: $0) }) {
                try eraser.erased($1, at: $0)
            }
            try rewriteBase(eraser)
            pasts.forget()
            try pipeline.renewViews(options.pages)
            _ = try assets.collect()
        }
        try log.segments?.endErasures()
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

    private func erasures(after offset: UInt64) throws -> [(offset: UInt64, record: RecordKey)] {
        var cursor = try log.read(from: max(offset, log.floor.offset) + 1)
        var found: [(offset: UInt64, record: RecordKey)] = []
        while let commit = try cursor.next() {
            for event in try Envelope(decoding: commit.payload).events where event.kind == .recordErased {
                found.append((commit.offset, try RecordErasedEvent(decoding: event.body).record))
            }
        }
        return found
    }

    private func target(_ record: RecordKey, through offset: UInt64) throws -> RecordEraser.Target {
        let names = reader.context.names
        return try reader.context.reading(views.pages.snapshot(), acceptsNewer: true) { trees in
            let (database, zone) = try names.resolver(in: trees).requiredZone(record.zone)
            let owner = database.owner.isEmpty ? 0 : try names.ordinal(of: .user(database.owner), in: trees) ?? 0
            return RecordEraser.Target(
                record, zone: zone, in: database, ownerOrdinal: owner,
                ownerNames: [UserRecord.name(of: database.owner)], through: offset)
        }
    }
}
