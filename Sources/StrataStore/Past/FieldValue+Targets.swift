import StrataModel

extension FieldValue {
    /// Records that it refers to.
    package var targets: [RecordKey] {
        switch self {
        case .reference(let reference): [reference.target]
        case .list(let list) where list.kind.element == .reference: list.elements.flatMap(\.targets)
        default: []
        }
    }

    /// The value with other zones in its references.
    package func mappingTargets(_ zone: (UInt64) -> UInt64) throws -> FieldValue {
        switch self {
        case .reference(let reference):
            let target = RecordKey(zone: zone(reference.target.zone), name: reference.target.name)
            return .reference(.init(target, action: reference.action))
        case .list(let list) where list.kind.element == .reference:
            return .list(try FieldList(list.elements.map { try $0.mappingTargets(zone) }))
        default: return self
        }
    }
}
