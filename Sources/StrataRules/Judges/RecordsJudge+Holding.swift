import StrataModel
import StrataViews

/// Decides which links of a request hold their targets (docs/rules.md §5.12).
extension RecordsJudge {
    /// Returns true if a parent that this request saves holds. Members of shares set no parent that they may not write
    /// (B372).
    func holdsParent(_ parent: String, in zoneIndex: Int) throws -> Bool {
        try resolved.scope != .public || holds(parent, in: zoneIndex)
    }

    /// Returns true if a link that this request saves holds its target. In the public and in a shared database, the
    /// actor needs write permission on the target; an owner's own links hold.
    ///
    /// A target that is not stored yet belongs to the actor if a save of this request creates it and has not failed.
    func holds(_ target: String, in zoneIndex: Int) throws -> Bool {
        if resolved.scope == .private { return true }
        let key = RecordKey(zone: UInt64(zoneIndex), name: target)
        if let known = heldTargets[key] { return known }
        if let isHeld = try holdsStored(target, zoneIndex) {
            heldTargets[key] = isHeld
            return isHeld
        }
        guard let index = savesByRecord[key], saves[index].refusal == nil else { return false }
        if resolved.scope == .shared { return true }
        let type = schemaBindings.types[Int(body.saves[index].type) - 1]
        return try mayChange(type: type.ordinal, isUserRecord: type.isUsers, creator: nil)
    }

    /// Returns nil if the target is not stored.
    private func holdsStored(_ target: String, _ zoneIndex: Int) throws -> Bool? {
        if resolved.scope == .shared {
            guard let stored = try storedRecord(target, zoneIndex) else { return nil }
            // A member may save the record of a share, but not end the share.
            return try right(to: target, stored, zoneIndex).map { !$0.isShare && $0.allows(.change) } ?? false
        }
        guard let stored = try storedHeader(target, zoneIndex) else { return nil }
        let users = try view.ordinal(of: .recordType(UserRecord.type))
        return try mayChange(type: stored.type, isUserRecord: stored.type == users, creator: stored.createdBy)
    }

    /// Returns the edges of the shares of a zone; nil if it has none.
    func edges(of zoneIndex: Int) throws -> ShareEdges? {
        guard resolved.scope != .public else { return nil }
        if let known = zoneEdges[zoneIndex] { return known }
        let zone = resolved.zones[zoneIndex]
        let edges = try ShareEdges(of: zone.ordinal, owner: zone.shared?.owner ?? resolved.ownerOrdinal, view)
        zoneEdges[zoneIndex] = .some(edges)
        return edges
    }

    /// Returns the reference for the request's event, with the zone's ordinal in the store.
    func placed(_ reference: FieldValue.Reference, in zoneIndex: Int, zone: UInt64) throws -> FieldValue.Reference {
        var placed = FieldValue.Reference(RecordKey(zone: zone, name: reference.target.name), action: reference.action)
        placed.isLoose = try reference.action == .deleteSelf && !holds(reference.target.name, in: zoneIndex)
        return placed
    }

    private func mayChange(type: UInt64, isUserRecord: Bool, creator: UInt64?) throws -> Bool {
        try actor.principal.may(
            .change, creator: creator, isUserRecord: isUserRecord, grants: view.grants(of: type), in: resolved.scope
        )
    }

    private func storedHeader(_ name: String, _ zoneIndex: Int) throws -> RecordHeader? {
        let zone = resolved.zones[zoneIndex].ordinal
        return zone == 0 ? nil : try view.header(RecordKey(zone: zone, name: name))
    }
}
