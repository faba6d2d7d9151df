import StrataModel
import StrataRules
import StrataTree
import StrataViews

extension StoreSnapshot {
    /// Returns a record as of an earlier commit; nil if it did not exist. Only the commits that made that state are
    /// read, found by the log's indexes. To read more than a few records, use ``Store/asOf(_:)``.
    ///
    /// ```swift
    /// let then = try store.snapshot().record(id, asOf: 1_207, in: DatabaseID(.private), as: anna)
    /// ```
    /// The actor's permissions are those of the snapshot, but a member of shares gets only a state that the member
    /// could read while it was the newest (B356). Nothing is left of a record that was erased since.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for an offset past the snapshot's, or in history that was removed;
    ///   ``Refusal`` if the actor may not read the record (B395).
    public func record(
        _ id: RecordID, asOf offset: UInt64, in database: DatabaseID, as actor: Actor
    ) throws -> Record? {
        try reading { trees in
            let floor = context.history.floor
            guard (floor...trees.foldedOffset(ViewTree.records)).contains(offset) else {
                throw StrataError(
                    .outOfRange, "The store has no state at that offset.",
                    .init(expected: "\(floor) to \(trees.foldedOffset(ViewTree.records))", found: "\(offset)"))
            }
            let place = try names.place(database, actor, in: trees)
            guard let zone = try place.zone(id.zone, trees, names).ordinal,
                let state = try context.history.state(of: RecordKey(zone: zone, name: id.name), asOf: offset, trees),
                try !isZoneDeleted(zone, after: state.version, through: offset, trees)
            else { return nil }
            return try readablePast(id, state.bytes, in: place, as: actor, trees)
        }
    }

    /// Returns a record as of a version that the actor saved, without its fields, although the actor may have lost
    /// every right to the record and its zone since; nil if the actor did not save it, and for a version that was
    /// erased or removed.
    package func savedRecord(
        _ id: RecordID, at version: Version, in database: DatabaseID, as actor: Actor
    ) throws -> Record? {
        try reading { trees in
            let home = try ResolvedDatabase.database(
                database, as: actor, recordName: names.recordName(of: actor.user, in: trees))
            let author = try names.ordinal(of: .user(actor.user), in: trees)
            let owner =
                switch home.scope {
                case .public: UInt64(0)
                case .private: author
                case .shared: try trees.user(at: UserAddress(.recordName, id.zone.owner))
                }
            let scope = home.scope == .shared ? InternedName.Scope.private : home.scope
            guard let owner, let author,
                let place = try names.ordinal(of: .database(scope, owner: owner), in: trees),
                let zone = try names.ordinal(of: .zone(database: place, owner: owner, id.zone.name), in: trees),
                let bytes = try context.history.stateIfKept(
                    of: RecordKey(zone: zone, name: id.name), at: version, trees)
            else { return nil }
            let origin = try RecordOrigin(home, id.zone, trees, context, desiredKeys: nil)
            let record = try Record(id.name, bytes, origin)
            return record.header.modifiedBy == author ? record.withoutFields : nil
        }
    }

    /// Returns true if a zone was deleted after a version and up to an offset.
    func isZoneDeleted(
        _ zone: UInt64, after version: Version, through offset: UInt64, _ trees: Snapshot
    ) throws -> Bool {
        if let life = try trees.life(ofZone: zone), life < version { return false }
        let first = max(version.offset, context.history.floor)
        return try context.history.isZoneDeleted(zone, after: first, through: offset)
    }
}
