import StrataModel

extension FieldValue {
    /// The value with references that name no zone: they name records of their own, whose number does not matter.
    package var withoutZones: FieldValue {
        switch self {
        case .reference(let reference):
            return .reference(.init(RecordKey(zone: 0, name: reference.target.name), action: reference.action))
        case .list(let list):
            guard let bare = try? FieldList(list.elements.map(\.withoutZones)) else { return self }
            return .list(bare)
        default: return self
        }
    }
}
