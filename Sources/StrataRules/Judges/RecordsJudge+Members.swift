import StrataModel
import StrataViews

/// Judges what members of shares write (docs/rules.md §5.13).
extension RecordsJudge {
    /// Returns the member's right to a stored record; nil for a record that is not shared with the member.
    func right(to name: String, _ stored: StoredRecord, _ zoneIndex: Int) throws -> ShareRight? {
        guard let zone = resolved.zones[zoneIndex].shared else { return nil }
        if try stored.header.type == view.shareType() {
            let number = try view.shareState(of: stored).number
            let member = zone.memberships.first { $0.share == number && !$0.isGone }
            return zone.permission(ofRecordIn: number).map {
                ShareRight($0, isShare: true, isAdministered: member?.role == .administrator)
            }
        }
        let number =
            try zone.zonePermission == nil
            ? view.fold.fork.hierarchicalShare(of: RecordKey(zone: zone.zone, name: name)) : nil
        guard let permission = zone.permission(ofRecordIn: number) else { return nil }
        let root = try number.flatMap { try view.fold.fork.share($0)?.root }
        return ShareRight(permission, isRoot: root.map { isSameText($0, name) } ?? false)
    }

    /// Returns the member's right to save a record. A record that the member does not see is judged as if it did not
    /// exist, and refused in the end, so that no refusal tells whether it exists.
    func rightToSave(
        _ save: ModifyRecordsRequest.Save, _ stored: inout StoredRecord?, _ zoneIndex: Int
    ) throws -> ShareRight? {
        if let record = stored {
            if let right = try right(to: save.record.name, record, zoneIndex) { return right }
            stored = nil
        }
        // The place of a new record is judged together with the other items.
        guard let zone = resolved.zones[zoneIndex].shared else { return nil }
        let permissions = [zone.zonePermission].compactMap(\.self) + zone.hierarchies.values
        return permissions.contains(.readWrite) ? ShareRight(.readWrite) : ShareRight(.readOnly)
    }

    /// Refuses saves after which a record would be outside the shares that the member may write (B372, B374); returns
    /// true if there were any.
    func dropUnshared(_ zoneSaves: [Int], _ zoneIndex: Int, _ hierarchy: inout Hierarchy) throws -> Bool {
        guard let zone = resolved.zones[zoneIndex].shared, zone.zonePermission == nil else { return false }
        let shareType = try view.shareType()
        var hasDropped = false
        for index in zoneSaves where saves[index].refusal == nil {
            let name = body.saves[index].record.name
            if let stored = saves[index].stored, stored.header.type == shareType {
                // A parent that an earlier release gave it may have records of the share below it.
                guard case .removed = body.saves[index].parent, try stored.parent() != nil else { continue }
                refuseSave(index, .notShared(name))
                hasDropped = true
                continue
            }
            // A record that keeps its parent stays where it is, or goes with a record above it that is judged itself.
            if saves[index].stored != nil, !hierarchy.isMoved(name) { continue }
            if try zone.mayWrite(name, in: &hierarchy) {
                // A root may have a parent outside the share, but a member cannot choose it.
                guard saves[index].stored != nil, let parent = body.saves[index].parent.target else { continue }
                if try zone.mayWrite(parent, in: &hierarchy) { continue }
            }
            refuseSave(index, .notShared(name))
            hasDropped = true
        }
        return hasDropped
    }

    // MARK: Deletes

    /// Refuses deletes whose cascades contain records that the member may not delete (B378), and deletes of records of
    /// a share that the same request leaves (B377); returns true if there were any.
    func dropForbiddenDeletes(_ indices: [Int], _ zoneIndex: Int) throws -> Bool {
        guard resolved.scope == .shared else { return false }
        let left = Set(
            deletes.compactMap {
                $0.zoneIndex == zoneIndex && $0.refusal == nil ? $0.leaving?.effect.before?.number : nil
            })
        var hasDropped = false
        for index in indices where deletes[index].refusal == nil {
            let isAllowed = try deletes[index].cascade.allSatisfy { try mayDelete($0, zoneIndex, leaving: left) }
            if isAllowed { continue }
            refuseDelete(index, .notDeletable(body.deletes[index].name))
            hasDropped = true
        }
        return hasDropped
    }

    /// Returns true if the actor may delete a record that goes with another.
    func mayDelete(_ name: String, _ zoneIndex: Int, leaving left: Set<UInt64> = []) throws -> Bool {
        guard let zone = resolved.zones[zoneIndex].shared, let stored = try storedRecord(name, zoneIndex) else {
            return true
        }
        // Deleting a share is how a member leaves it; a cascade would end it for everybody.
        if try stored.header.type == view.shareType() { return false }
        if !left.isEmpty {
            let number = try view.fold.fork.hierarchicalShare(of: RecordKey(zone: zone.zone, name: name))
            if zone.zonePermission != nil || number.map(left.contains) ?? false { return false }
        }
        return try actor.principal.may(
            .delete, creator: stored.header.createdBy, isUserRecord: false, grants: [], in: .shared,
            right: right(to: name, stored, zoneIndex))
    }
}

extension SharedZone {
    /// Returns true if a record is under a hierarchical share that the member may write.
    fileprivate func mayWrite(_ name: String, in hierarchy: inout Hierarchy) throws -> Bool {
        guard case .stored(let number)? = try hierarchy.share(of: name) else { return false }
        return hierarchies[number] == .readWrite
    }
}

extension Refusal {
    /// The refusal for a save of a record that the member's shares do not cover.
    static func notShared(_ name: String) -> Refusal {
        Refusal(
            .permissionFailure, "Record '\(name)' is not below a record that the user may change in a share.",
            rule: .sharedChain)
    }

    /// The refusal for a save by a member who may only read.
    static func notWritable(_ name: String) -> Refusal {
        Refusal(
            .permissionFailure, "WRITE operation not permitted: the share lets the user only read record '\(name)'.",
            rule: .readOnlyMember)
    }

    /// The refusal for a delete of a root, by a member who may only read, or with records that the member may not
    /// delete.
    static func notDeletable(_ name: String) -> Refusal {
        Refusal(
            .permissionFailure, "Record '\(name)' may not be deleted by a participant with this permission.",
            rule: .memberDeletes)
    }
}
