import StrataModel
import StrataViews

/// Writes which records belong to hierarchical shares (docs/rules.md §16).
extension RecordsWriter {
    /// Appends an event for each record that comes under a hierarchical share, changes in it, or leaves it.
    func appendSharedRecords() throws {
        for zoneIndex in judge.resolved.zones.indices where try judge.concernsHierarchies(zoneIndex) {
            try appendSharedRecords(of: zoneIndex)
        }
    }

    private func appendSharedRecords(of zoneIndex: Int) throws {
        let zoneSaves = judge.saves.indices.filter { judge.saves[$0].zoneIndex == zoneIndex }
        var hierarchy = try judge.hierarchy(of: zoneIndex, zoneSaves)
        for share in endedShares where Int(share.record.zone) == zoneIndex { try hierarchy.end(share.state.number) }
        for record in goneRecords where Int(record.zone) == zoneIndex { hierarchy.delete(record.name) }
        // The records that have a new version, and those whose share may change.
        var names = savedEvents.filter { Int($0.key.zone) == zoneIndex }.sorted { $0.value < $1.value }.map(\.key.name)
        names += goneRecords.filter { Int($0.zone) == zoneIndex }.map(\.name).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        let changed = Set(names.map(Hierarchy.key))
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
        let before = try hierarchy.shareBefore(name)
        let after: UInt64? =
            switch try hierarchy.share(of: name) {
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
