import StrataModel
import StrataViews

/// Writes which records belong to hierarchical shares (docs/rules.md §16).
extension RecordsWriter {
    /// Appends an event for each record that comes under a hierarchical share, changes in it, or leaves it.
    func appendSharedRecords() throws {
        let concerned = try judge.resolved.zones.indices.filter { try judge.concernsHierarchies($0) }
        if concerned.isEmpty { return }
        lazy var saves = Dictionary(grouping: judge.saves.indices) { judge.saves[$0].zoneIndex }
        let saved = Dictionary(grouping: savedEvents) { Int($0.key.zone) }
        let gone = Dictionary(grouping: goneRecords) { Int($0.zone) }
        for zoneIndex in concerned {
            // The records that have a new version, and those that are gone.
            let saved = saved[zoneIndex, default: []].sorted { $0.value < $1.value }.map(\.key.name)
            let gone = gone[zoneIndex, default: []].map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            try appendSharedRecords(
                of: zoneIndex, judge.hierarchy(of: zoneIndex, saves[zoneIndex, default: []]), saved: saved, gone: gone)
        }
    }

    private func appendSharedRecords(
        of zoneIndex: Int, _ hierarchy: consuming Hierarchy, saved: [String], gone: [String]
    ) throws {
        for share in endedShares where Int(share.record.zone) == zoneIndex { try hierarchy.end(share.state.number) }
        for name in gone { hierarchy.delete(name) }
        var names = saved + gone
        if hierarchy.moved.isEmpty, gone.isEmpty {
            for name in names { try appendShare(of: name, zoneIndex, &hierarchy, isChanged: true) }
            return
        }
        let changed = Set(names.map(Hierarchy.key))
        // Those whose share may change, too.
        for name in hierarchy.moved where try mayChangeShare(name, &hierarchy) {
            names += try hierarchy.subtree(of: name).names
            try hierarchy.checkMoves(names.count - changed.count, below: name)
        }
        var known: Set<RecordKey> = []
        for name in names where known.insert(Hierarchy.key(name)).inserted {
            try appendShare(of: name, zoneIndex, &hierarchy, isChanged: changed.contains(Hierarchy.key(name)))
        }
    }

    private func mayChangeShare(_ name: String, _ hierarchy: inout Hierarchy) throws -> Bool {
        try hierarchy.shareBefore(name).map { .stored($0) } != hierarchy.share(of: name)
    }

    private func appendShare(
        of name: String, _ zoneIndex: Int, _ hierarchy: inout Hierarchy, isChanged: Bool
    ) throws {
        let record = RecordKey(zone: zones[zoneIndex].ordinal, name: name)
        let place = RecordKey(zone: UInt64(zoneIndex), name: name)
        let (before, share) = try hierarchy.shares(of: name)
        let after: UInt64? =
            switch share {
            case .stored(let number)?: number
            case .new(let index)?: judge.saves[index].share?.after?.number
            case nil: nil
            }
        if before == nil, after == nil { return }
        guard let type = try savedType(place) ?? judge.view.header(record)?.type else { return }
        if let before, before != after {
            try commit.append(SharedRecordEvent(record, type: type, share: before, isGone: true))
        }
        if let after, isChanged || before != after {
            try commit.append(SharedRecordEvent(record, type: type, share: after))
        }
    }
}
