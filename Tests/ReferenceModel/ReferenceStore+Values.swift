import StrataModel

extension ReferenceStore.Judgement {
    /// docs/rules.md §5, step 7: a value as the key's type has it.
    func fitted(
        _ value: FieldValue?, key: ReferenceName, type: ReferenceName
    ) -> Result<FieldValue?, Refusal> {
        guard let value else { return .success(nil) }
        if value.kind.isSealed, asker.database.scope == .public, !store.bends(.publicTakesEncrypted) {
            return .failure(
                Refusal(.invalidArguments, "an encrypted value in the public database", rule: .encryptedValues))
        }
        guard let binding = store.state.schema[type]?[key] ?? bound[type]?[key] else { return .success(value) }
        guard let value = coerced(value, to: binding.kind) else {
            return .failure(Refusal(.invalidArguments, "\(value.kind) for \(binding.kind)", rule: .boundKinds))
        }
        return .success(value)
    }

    private func coerced(_ value: FieldValue, to kind: FieldKind) -> FieldValue? {
        if value.kind == kind || store.bends(.kindsAreNotBound) { return value }
        if value.kind.isSealed { return store.bends(.encryptedFitsPlainKey) ? value : nil }
        if kind.isSealed { return store.bends(.plainFitsEncryptedKey) ? value : nil }
        guard value.kind.isList == kind.isList else { return nil }
        guard case .list(let list) = value else { return number(value, as: kind) }
        if list.elements.isEmpty { return value }
        if kind == .emptyList { return nil }
        let elements = list.elements.map { number($0, as: kind.element) }
        guard !elements.contains(nil) else { return nil }
        return (try? FieldList(elements.compactMap { $0 })).map { .list($0) }
    }

    private func number(_ value: FieldValue, as kind: FieldKind) -> FieldValue? {
        switch value {
        case .int64(let integer) where kind == .double:
            return store.bends(.integerStaysInteger) ? value : .double(Double(integer))
        case .double(let double) where kind == .int64:
            if store.bends(.integralDoubleRefused) { return nil }
            if store.bends(.fractionIsCut), abs(double) < 1e15 { return .int64(Int64(double)) }
            return Int64(exactly: double).map { .int64($0) }
        default: return nil
        }
    }

    mutating func bind(_ fields: [(key: ReferenceName, value: FieldValue?)], _ type: ReferenceName) {
        for (key, value) in fields {
            guard let kind = value?.kind, store.binds(kind), store.state.schema[type]?[key] == nil else { continue }
            if bound[type]?[key] == nil { bound[type, default: [:]][key] = ReferenceBinding(kind) }
        }
    }
}

extension ReferenceStore {
    func binds(_ kind: FieldKind) -> Bool { kind != .emptyList || bends(.emptyListBinds) }
}
