import StrataModel
import StrataViews

/// Decides which links of a request hold their targets (docs/rules.md §5.12).
extension RecordsJudge {
    /// Returns true if a link that this request saves holds its target. In the public database, the actor needs write
    /// permission on the target; in other databases, every link holds.
    ///
    /// A target that is not stored yet belongs to the actor if a save of this request creates it and has not failed.
    func holds(_ target: String, in zoneIndex: Int) throws -> Bool {
        guard resolved.scope == .public else { return true }
        let key = RecordKey(zone: UInt64(zoneIndex), name: target)
        if let known = heldTargets[key] { return known }
        if let stored = try storedHeader(target, zoneIndex) {
            let users = try view.ordinal(of: .recordType(UserRecord.type))
            let isHeld = try mayChange(
                type: stored.type, isUserRecord: stored.type == users, creator: stored.createdBy)
            heldTargets[key] = isHeld
            return isHeld
        }
        guard let index = savesByRecord[key], saves[index].refusal == nil else { return false }
        let type = schemaBindings.types[Int(body.saves[index].type) - 1]
        return try mayChange(type: type.ordinal, isUserRecord: type.isUsers, creator: nil)
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
