import StrataModel

extension RecordSavedEvent {
    /// Makes the event full, so that it contains the whole record instead of changes.
    mutating func complete(from stored: StoredRecord) throws {
        let state = try RecordState(decoding: stored.bytes[...])
        var values: [UInt32: FieldValue] = [:]
        for field in state.fields { values[field.field] = field.value }
        for change in fields { values[change.field] = change.value }
        isFull = true
        if change == .touch {
            modified = state.header.modified
            modifiedBy = state.header.modifiedBy
            modifiedWith = state.header.modifiedWith
        }
        created = state.header.created
        createdBy = state.header.createdBy
        fields = values.sorted { $0.key < $1.key }.map { FieldChange($0.key, $0.value) }
        if parent == .kept { isParentLoose = state.isParentLoose }
        parent = parent.completed(from: state.parent)
        share = share.completed(from: state.share)
    }
}

extension LinkChange {
    fileprivate func completed(from stored: RecordKey?) -> LinkChange {
        switch self {
        case .kept: stored.map { .set($0) } ?? .kept
        case .removed: .kept
        case .set: self
        }
    }
}

extension StoredRecord {
    /// The modification time of a save; nil if the commit's time is late enough (B250).
    func nextModified(at time: Int64) -> Int64? {
        let earliest = header.modified + 1_000
        return time < earliest ? earliest : nil
    }
}
