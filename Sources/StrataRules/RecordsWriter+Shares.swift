import StrataModel
import StrataViews

/// Writes the changes of shares (docs/rules.md §15).
extension RecordsWriter {
    /// The share whose record the request deletes.
    struct EndedShare {
        /// The record by the index of its zone.
        let record: RecordKey
        let state: ShareState
    }

    /// Finds the shares that end, and numbers the new ones.
    func prepareShares() throws {
        guard judge.view.hasShares || judge.changesShares else { return }
        var number = try judge.view.fold.fork.shareCount()
        for index in judge.saves.indices where judge.saves[index].refusal == nil {
            guard judge.saves[index].share?.isNew == true else { continue }
            number += 1
            judge.saves[index].share?.after?.number = number
        }
        guard let type = try judge.view.shareType() else { return }
        for record in goneRecords {
            let stored = RecordKey(zone: zones[Int(record.zone)].ordinal, name: record.name)
            guard try judge.view.header(stored)?.type == type, let share = try judge.view.record(stored) else {
                continue
            }
            endedShares.append(EndedShare(record: record, state: try judge.view.shareState(of: share)))
        }
        endedShares.sort { $0.state.number < $1.state.number }
    }

    /// Adds a share's state to the event of its save, and takes the link to a share that ends from its root.
    func addShare(of index: Int, to event: inout RecordSavedEvent) throws {
        if let state = judge.saves[index].share?.after {
            event.fields.append(FieldChange(shareField, try state.value()))
            event.fields.sort { $0.field < $1.field }
        }
        let name = event.record.name
        let ends = endedShares.contains { share in
            Int(share.record.zone) == judge.saves[index].zoneIndex
                && share.state.root.map { isSameText($0, name) } ?? false
        }
        if ends {
            event.share = .removed
        } else if event.share == .removed, let stored = judge.saves[index].stored,
            try judge.view.hasShares && judge.view.isRoot(stored, in: event.record.zone)
        {
            event.share = .kept
        }
    }

    /// Appends the events of shares that are saved, left or ended, after the saves of items.
    func appendShares() throws {
        for (index, state) in judge.saves.enumerated() where state.refusal == nil {
            guard let effect = state.share, effect.after != nil else { continue }
            let record = RecordKey(zone: zones[state.zoneIndex].ordinal, name: judge.body.saves[index].record.name)
            try append(effect, of: record)
        }
        for (index, state) in judge.deletes.enumerated() where state.refusal == nil {
            guard let leaving = state.leaving, let share = leaving.effect.after else { continue }
            let record = RecordKey(zone: zones[state.zoneIndex].ordinal, name: judge.body.deletes[index].name)
            try commit.append(
                RecordSavedEvent(
                    share, in: leaving.stored, of: record, field: judge.view.shareField(),
                    time: judge.judging.context.time))
            consequenceCount += 1
            changedZones.insert(state.zoneIndex)
            try append(leaving.effect, of: record)
        }
        for share in endedShares { try appendEnd(of: share) }
    }

    private func appendEnd(of share: EndedShare) throws {
        let zone = zones[Int(share.record.zone)].ordinal
        try append(ShareEffect(before: share.state, after: nil), of: RecordKey(zone: zone, name: share.record.name))
        guard let name = share.state.root else { return }
        let root = RecordKey(zone: zone, name: name)
        let place = RecordKey(zone: share.record.zone, name: name)
        if savedEvents[place] != nil || goneRecords.contains(place) { return }
        guard let stored = try judge.view.record(root) else { return }
        var event = RecordSavedEvent(
            .update, root, type: stored.header.type, policy: judge.body.policy, previous: stored.header.version)
        event.share = .removed
        event.modified = stored.nextModified(at: judge.judging.context.time)
        if stored.isFullDue { try event.complete(from: stored) }
        savedEvents[place] = try commit.append(event)
        consequenceCount += 1
        trace?.add(.endedShare, "delete", "the root '\(name)' loses its share and gets a new tag")
    }

    private func append(_ effect: ShareEffect, of record: RecordKey) throws {
        try effect.append(of: record, to: &commit, judge.view) { try names.ordinal(of: .user($0)) }
    }

    /// The changes of shares that items of the request made, which their events contain only in effect.
    var acceptedShareChanges: [RequestShape.IndexedShareChange] {
        judge.saves.indices.compactMap { index in
            guard judge.saves[index].refusal == nil else { return nil }
            return judge.body.saves[index].sharing.map { .init(index: index, change: $0) }
        }
    }
}

extension RecordSavedEvent {
    /// Creates the event of a new version of a share's record in which only the state of the share changes.
    init(
        _ state: ShareState, in stored: StoredRecord, of record: RecordKey, field: UInt32, time: Int64
    ) throws {
        self.init(.update, record, type: stored.header.type, previous: stored.header.version)
        fields = [FieldChange(field, try state.value())]
        modified = stored.nextModified(at: time)
        if stored.isFullDue { try complete(from: stored) }
    }
}
