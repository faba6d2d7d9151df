import StrataModel
import StrataViews

/// Judges the records of shares (docs/rules.md §15).
extension RecordsJudge {
    /// True if the request changes the state of a share.
    var changesShares: Bool {
        shareSaves.values.joined().contains { saves[$0].refusal == nil }
            || deletes.contains { $0.leaving != nil }
    }

    /// Refuses a share in a place where it cannot be, a new share without a root, a share with a parent or as the root
    /// of another one, and another record with the state of a share.
    func checkShare(
        _ save: ModifyRecordsRequest.Save, _ type: TypeState, isStored: Bool, _ zoneIndex: Int
    ) throws {
        guard type.isShare else {
            throw Refusal(
                .invalidArguments, "Record '\(save.record.name)' is not a share, so it cannot have participants.",
                rule: .requestNames)
        }
        guard resolved.scope != .public else {
            throw Refusal(.badDatabase, "Shares are in private databases only.", rule: .sharedZones)
        }
        guard !resolved.zones[zoneIndex].isDefault else {
            throw Refusal(.invalidArguments, "The default zone cannot be shared.", rule: .sharedZones)
        }
        if case .set = save.share {
            throw Refusal(
                .invalidArguments, "Record '\(save.record.name)' is a share, so it cannot be the root of one.",
                rule: .newShares)
        }
        if case .set = save.parent {
            throw Refusal(
                .invalidArguments, "Record '\(save.record.name)' is a share, so it has no parent.", rule: .newShares)
        }
        if isStored { return }
        guard resolved.scope == .private else {
            throw Refusal(.permissionFailure, "Only a zone's owner can share its records.", rule: .ownersShares)
        }
        if save.base != nil {
            throw Refusal(
                .unknownItem, "recordChangeTag specified, but record not found: \(save.record.name)",
                rule: .tagOfMissingRecord, baseVersion: save.base)
        }
        let isZoneWide = isSameText(save.record.name, ShareState.zoneWideName)
        guard let sharing = save.sharing, isZoneWide == (sharing.root == nil) else {
            throw Refusal(
                .invalidArguments,
                "A share covers the records under its root; only the share '\(ShareState.zoneWideName)' has no root, "
                    + "and covers its zone.", rule: .shareNames)
        }
    }

    /// The policy by which the tag of a save is judged: that of the request, unless participants change or the save of
    /// a share has no tag (B379).
    func policy(of save: ModifyRecordsRequest.Save) -> SavePolicy {
        let isNewShare = save.base == nil && schemaBindings.types[Int(save.type) - 1].isShare
        return isNewShare || save.sharing?.changesParticipation == true ? .ifServerRecordUnchanged : body.policy
    }

    /// Judges the changes of a share's state.
    func judgeShare(_ index: Int) throws {
        guard let sharing = body.saves[index].sharing else { return }
        var editing: ShareEditing
        var before: ShareState?
        if let stored = saves[index].stored {
            guard sharing.changesParticipation else { return }
            let state = try view.shareState(of: stored)
            before = state
            editing = ShareEditing(state, judging)
        } else {
            editing = try ShareEditing(new: try newShare(index, root: sharing.root), judging)
        }
        try editing.apply(sharing)
        saves[index].share = ShareEffect(before: before, after: editing.state)
        shareSaves[saves[index].zoneIndex, default: []].append(index)
        saves[index].shareBytes = try ShareState.key.utf8.count + editing.state.encoded().count
    }

    /// Returns the state of a new share without participants. The writer numbers it.
    private func newShare(_ index: Int, root: String?) throws -> ShareState {
        let zoneIndex = saves[index].zoneIndex
        let zone = resolved.zones[zoneIndex]
        let others = newShares(in: zoneIndex).compactMap { saves[$0].share?.after }
        if let root {
            if try others.contains(where: \.isZoneWide)
                || view.exists(RecordKey(zone: zone.ordinal, name: ShareState.zoneWideName))
            {
                throw Refusal(
                    .serverRejectedRequest, "Zone '\(zone.name)' is shared as a whole.", rule: .zoneSharedAsWhole)
            }
            try checkRoot(root, zone.ordinal, others)
        } else if try !others.isEmpty || view.hasHierarchies(in: zone.ordinal) {
            throw Refusal(
                .invalidArguments,
                "Zone '\(zone.name)' has shares of single records, so it cannot be shared as a whole.",
                rule: .zoneWithShares)
        }
        return ShareState(
            number: try view.fold.fork.shareCount() + 1, root: root, urlToken: try urlToken(of: root, in: zone))
    }

    /// Returns the token of a new share's URL, which is that of the ended share if the root was shared before (B317).
    private func urlToken(of root: String?, in zone: ZoneState) throws -> String {
        if view.hasShares, let life = zone.row?.incarnation,
            let ended = try view.fold.fork.endedShare(of: root, in: zone.ordinal, life: life)
        {
            return ended.urlToken
        }
        let saved = judging.savedShare { isSameText($0.root ?? "", root ?? "") }
        return try saved?.urlToken ?? judging.shareToken().plain(zone: zone.name, root: root)
    }

    private func checkRoot(_ root: String, _ zone: UInt64, _ others: [ShareState]) throws {
        try Judging.checkRoom(for: root)
        guard NameRules.isName(root), root.utf8.first != UInt8(ascii: "_") else {
            throw Refusal(.invalidArguments, "The root of a share is a record: '\(root)'.", rule: .recordNames)
        }
        let isRoot = others.contains { $0.root.map { isSameText($0, root) } ?? false }
        let isShared =
            try view.hasShares && view.fold.fork.hierarchicalShare(of: RecordKey(zone: zone, name: root)) != nil
        if isRoot || isShared {
            throw Refusal(.alreadyShared, "Record '\(root)' is shared already.", rule: .sharedOnce)
        }
    }

    // MARK: Together

    /// Returns the indices of a zone's saves that create a share and have not failed.
    func newShares(in zoneIndex: Int) -> [Int] {
        shareSaves[zoneIndex, default: []].filter { saves[$0].refusal == nil && saves[$0].share?.isNew == true }
    }

    /// Returns true if a save creates a share, or makes its record the root of one.
    func concernsShare(_ index: Int) -> Bool {
        if case .set = body.saves[index].share { return true }
        return saves[index].share?.isNew == true
    }

    /// Refuses new shares without their roots and roots without their shares; returns true if there were any (B304,
    /// B314). In an atomic zone, a failed item satisfies the check, since all items fail with it.
    func dropLoneShares(_ indices: [Int], _ zoneIndex: Int, isAtomic: Bool) throws -> Bool {
        var hasDropped = false
        func drop(_ index: Int, _ refusal: Refusal) {
            refuseSave(index, refusal)
            hasDropped = true
        }
        func saved(_ name: String) -> Int? {
            savesByRecord[RecordKey(zone: UInt64(zoneIndex), name: name)].flatMap {
                isAtomic || saves[$0].refusal == nil ? $0 : nil
            }
        }
        for index in indices where saves[index].refusal == nil {
            let save = body.saves[index]
            if let share = saves[index].share, share.isNew, let root = share.after?.root {
                guard let rootIndex = saved(root), case .set(let target) = body.saves[rootIndex].share,
                    isSameText(target.name, save.record.name)
                else {
                    drop(
                        index,
                        Refusal(
                            .invalidArguments, "A new share is saved together with its root, '\(root)'.",
                            rule: .newShares))
                    continue
                }
            }
            guard case .set(let target) = save.share else { continue }
            // The root of a stored share is the stored one, whatever the request says.
            let shareType = try view.shareType()
            if let shareIndex = saved(target.name),
                saves[shareIndex].stored.map({ $0.header.type != shareType }) ?? true,
                let root = body.saves[shareIndex].sharing?.root, isSameText(root, save.record.name)
            {
                continue
            }
            if try !isStoredShare(target.name, of: save.record.name, zoneIndex) {
                drop(
                    index,
                    Refusal(
                        .referenceViolation,
                        "Record '\(save.record.name)' is not the root of a share '\(target.name)'.",
                        rule: .existingShare))
            }
        }
        return hasDropped
    }

    private func isStoredShare(_ name: String, of root: String, _ zoneIndex: Int) throws -> Bool {
        guard let stored = try storedRecord(name, zoneIndex), try stored.header.type == view.shareType() else {
            return false
        }
        return try view.shareState(of: stored).root.map { isSameText($0, root) } ?? false
    }

    // MARK: Deletes

    /// Makes a member's delete of a share the end of the membership (B376).
    func judgeShareDelete(_ index: Int, _ stored: StoredRecord) throws {
        guard resolved.scope == .shared else { return }
        let before = try view.shareState(of: stored)
        deletes[index].stored = nil
        deletes[index].cascade = []
        guard let after = before.withoutParticipant(actor.actor.user) else { return }
        deletes[index].leaving = (stored, ShareEffect(before: before, after: after))
    }
}

extension ShareEffect {
    var isNew: Bool { before == nil }
}

extension ShareState {
    /// Returns the state after a user has left the share; nil if the user is no participant.
    func withoutParticipant(_ user: String) -> ShareState? {
        guard let participant = participant(ofUser: user), participant.role != .owner else { return nil }
        var state = self
        state.participants.removeAll { $0 == participant }
        return state
    }
}
