import StrataModel

extension ReferenceStore.Judgement {
    /// Returns the record after its save, with the looseness of the links that it sets (docs/rules.md §5.12).
    func withHolding(_ index: Int) -> ReferenceRecord? {
        guard var record = merged[index] else { return nil }
        let save = saves[index]
        if case .set(let parent?) = save.parent { record.holdsParent = holds(parent) }
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

    func holds(_ target: ReferencePlace) -> Bool {
        guard asker.database.scope == .public, !store.bends(.everyLinkHolds) else { return true }
        if let stored = stored(target) { return store.mayWrite(stored.type, of: stored.createdBy, asker) }
        guard !store.bends(.noNewTargetIsHeld) else { return false }
        let index = saves.indices.first { saves[$0].place == target && saveRefusals[$0] == nil }
        return index.map { store.mayWrite(saves[$0].type, of: asker.actor.user, asker) } ?? false
    }
}
