import StrataModel

extension ReferenceStore.Judgement {
    /// Returns the record after its save, with the looseness of the links that it sets (docs/rules.md §5.12).
    func withHolding(_ index: Int) -> ReferenceRecord? {
        guard var record = merged[index] else { return nil }
        let save = saves[index]
        if case .set(let parent?) = save.parent { record.holdsParent = holdsParent(parent) }
        for key in save.fields.map(\.key) {
            record.fields[key] = record.fields[key].map { value in
                guard case .list(let list) = value else { return withHolding(value, in: save.place) }
                let elements = list.elements.map { withHolding($0, in: save.place) }
                return (try? FieldList(elements)).map { .list($0) } ?? value
            }
        }
        return record
    }

    private func withHolding(_ value: FieldValue, in place: ReferencePlace) -> FieldValue {
        guard case .reference(var reference) = value else { return value }
        var target = place
        target.name = ReferenceName(reference.target.name)
        reference.isLoose = reference.action == .deleteSelf && !holds(target)
        return .reference(reference)
    }

    func holdsParent(_ parent: ReferencePlace) -> Bool { asker.database.scope != .public || holds(parent) }

    func holds(_ target: ReferencePlace) -> Bool {
        guard asker.database.scope == .public || asker.isMember, !store.bends(.everyLinkHolds) else { return true }
        if let stored = stored(target) {
            if asker.isMember { return permission(target) == .readWrite && stored.sharing == nil }
            return store.mayWrite(stored.type, of: stored.createdBy, asker)
        }
        guard !store.bends(.noNewTargetIsHeld) else { return false }
        let index = saves.indices.first { saves[$0].place == target && saveRefusals[$0] == nil }
        return index.map { asker.isMember || store.mayWrite(saves[$0].type, of: asker.actor.user, asker) } ?? false
    }

    /// The targets of a record's `deleteSelf` references, held and loose: one that leads out of a share is loose if a
    /// member has written the record.
    func owners(
        of name: ReferenceName, _ record: ReferenceRecord, in zoneName: ReferenceName
    ) -> (held: Set<ReferenceName>, loose: Set<ReferenceName>) {
        let (held, loose) = (record.heldOwners, record.looseOwners)
        let owner = asker.database.owner
        guard asker.database.scope == .private, let zone = zone(zoneName), let stored = zone.records[name],
            stored.createdBy != owner || stored.modifiedBy != owner, let share = zone.share(containing: name)
        else { return (held, loose) }
        let outside = held.filter { zone.share(containing: $0) != share }
        return (held.subtracting(outside), loose.union(outside))
    }
}
