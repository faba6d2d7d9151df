import StrataModel

extension FieldValue {
    /// The references that it is or has.
    package var references: [Reference] {
        switch self {
        case .reference(let reference): [reference]
        case .list(let list) where list.kind.element == .reference: list.elements.flatMap(\.references)
        default: []
        }
    }

    /// Records that it refers to.
    package var targets: [RecordKey] { references.map(\.target) }

    /// The value with other zones in its references, as a request has it: it does not say which of them are loose.
    package func mappingTargets(_ zone: (UInt64) -> UInt64) throws -> FieldValue {
        try mappingReferences { reference in
            Reference(
                RecordKey(zone: zone(reference.target.zone), name: reference.target.name), action: reference.action)
        }
    }

    /// The value with other references in the place of its own.
    func mappingReferences(_ map: (Reference) -> Reference) throws -> FieldValue {
        switch self {
        case .reference(let reference): return .reference(map(reference))
        case .list(let list) where list.kind.element == .reference:
            return .list(try FieldList(list.elements.map { try $0.mappingReferences(map) }))
        default: return self
        }
    }

    /// Returns whether two values are equal and their references equally loose, which equality ignores.
    package static func isSame(_ left: FieldValue?, _ right: FieldValue?) -> Bool {
        guard left == right, let left, let right, left.kind.element == .reference else { return left == right }
        return left.references.map(\.isLoose) == right.references.map(\.isLoose)
    }
}
