import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// Whether a record has gone with its zone: no event of its own tells of that.
struct RecordTimelineEnd {
    private static let pageCount = 1_000

    let zone: UInt64
    let store: StoreAccess
    /// The last offset that counts.
    let last: UInt64

    /// The first event behind a version that deleted the zone, with its commit; nil if the zone is still there.
    ///
    /// - Throws: ``StrataError`` for damage that is met on the way.
    func deletion(behind version: Version) throws -> (version: Version, commit: Commit)? {
        var offset = max(version.offset, store.reader.floor.offset)
        if let known = try knownUpTo(behind: version), known > offset { offset = known }
        while offset < last {
            let page = try store.reader.touches(zone: zone, after: offset, limit: Self.pageCount)
            let found = page.touches.first { $0.kind == .zoneDeleted && $0.offset <= last }
            if let found, let commit = try store.reader.commit(at: found.offset) {
                return (Version(offset: found.offset, eventIndex: found.eventIndex), commit)
            }
            guard page.moreComing else { return nil }
            offset = page.readThrough
        }
        return nil
    }

    /// Up to where the page file knows that the zone was not deleted behind a version, or in front of which commit it
    /// was; nil if it does not know.
    private func knownUpTo(behind version: Version) throws -> UInt64? {
        let known = try? Views.glance(of: store.reader, in: store.path, files: ReadOnlyFiles()) { trees, checkpoint in
            guard case .zone(let database, _, _)? = try trees.name(4, zone),
                let row = try trees.zoneRow(database, zone), checkpoint.position.offset <= last
            else { return nil as UInt64? }
            if row.status == .alive { return row.incarnation < version ? checkpoint.position.offset : nil }
            return row.version > version && row.incarnation < version ? row.version.offset - 1 : nil
        }
        // A page file that cannot be read only costs time.
        return known.flatMap(\.self).flatMap(\.self)
    }
}
