import StrataLog
import StrataModel
import StrataStore

extension HistoryLog {
    /// - Throws: ``StrataError`` `outOfRange` for an offset without a commit.
    package func requiredCommit(at offset: UInt64) throws -> Commit {
        if let commit = try commit(at: offset) { return commit }
        throw StrataError(.outOfRange, "The log has no commit at this offset.", .init(offset: offset))
    }

    /// Returns the event that made a version, with its commit; nil if the log does not have it.
    func event(at version: Version) throws -> (event: Event, commit: Commit, header: EnvelopeHeader)? {
        guard let commit = try commit(at: version.offset) else { return nil }
        let envelope = try Envelope(decoding: commit.payload)
        guard Int(version.eventIndex) < envelope.events.count else { return nil }
        return (envelope.events[Int(version.eventIndex)], commit, envelope.header)
    }
}

extension EventLog {
    /// Calls `body` with the commits after an offset and up to another one, in batches for a copy of the log. A batch
    /// has at most 512 commits, and ends with the one that makes it 4 MiB long.
    func forEachBatch(after first: UInt64, through last: UInt64, _ body: ([NewCommit]) throws -> Void) throws {
        var cursor = try read(from: first + 1)
        var (batch, byteCount): ([NewCommit], Int) = ([], 0)
        while let commit = try cursor.next(), commit.offset <= last {
            batch.append(NewCommit(id: commit.id, time: commit.time, payload: commit.payload))
            byteCount += commit.payload.count
            if commit.offset == last { break }
            guard batch.count >= 512 || byteCount >= 4 << 20 else { continue }
            try body(batch)
            (batch, byteCount) = ([], 0)
        }
        try body(batch)
    }
}

/// Reads change lists to their end, page by page.
extension HistoryLog {
    /// Calls `body` with the entries of a zone after an offset and up to another one, in order.
    package func forEachTouch(
        ofZone zone: UInt64, after first: UInt64, through last: UInt64, _ body: (ZoneTouch) throws -> Void
    ) throws {
        try forEachTouch(after: first, through: last, body) { try touches(zone: zone, after: $0, limit: 4_096) }
    }

    /// Calls `body` with the entries of a record after an offset and up to another one, in order.
    func forEachTouch(
        of record: RecordKey, after first: UInt64, through last: UInt64, _ body: (ZoneTouch) throws -> Void
    ) throws {
        let name = Array(record.name.utf8)
        try forEachTouch(after: first, through: last, body) {
            try touches(record: name, in: record.zone, after: $0, limit: 1_000)
        }
    }

    private func forEachTouch(
        after first: UInt64, through last: UInt64, _ body: (ZoneTouch) throws -> Void,
        page: (_ offset: UInt64) throws -> TouchPage
    ) throws {
        var offset = first
        while offset < last {
            let next = try page(offset)
            for touch in next.touches where touch.offset <= last { try body(touch) }
            guard next.moreComing else { return }
            offset = next.readThrough
        }
    }
}

extension FeedToken {
    /// Returns how many changes of a zone's records the token lacks, up to an offset, and how many commits have them.
    package func changesBehind(
        of zone: UInt64, through end: UInt64, in log: some HistoryLog
    ) throws -> (commits: UInt64, changes: UInt64) {
        var (offset, seen) = (position.offset, UInt64.max)
        // Of its own commit the client may have only the beginning.
        if case .within(let event) = progress, offset > 0 { (offset, seen) = (offset - 1, event) }
        var (commits, changes, last): (UInt64, UInt64, UInt64) = (0, 0, 0)
        try log.forEachTouch(ofZone: zone, after: offset, through: end) { touch in
            guard touch.kind == .recordSaved || touch.kind == .recordDeleted else { return }
            if touch.offset == position.offset, UInt64(touch.eventIndex) <= seen { return }
            changes += 1
            if touch.offset != last { commits += 1 }
            last = touch.offset
        }
        return (commits, changes)
    }
}
