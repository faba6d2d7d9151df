extension FieldValue {
    /// The references that the value is or contains.
    package var references: [Reference] {
        switch self {
        case .reference(let reference): [reference]
        case .list(let list) where list.kind.element == .reference: list.elements.flatMap(\.references)
        default: []
        }
    }

    /// The records that the value refers to.
    package var targets: [RecordKey] { references.map(\.target) }

    /// Returns the value with the zones of its references mapped, as a request has it: without saying which are loose.
    package func mappingTargets(_ zone: (UInt64) -> UInt64) throws -> FieldValue {
        try mappingReferences { reference in
            Reference(
                RecordKey(zone: zone(reference.target.zone), name: reference.target.name), action: reference.action)
        }
    }

    /// Returns the value with its references mapped.
    package func mappingReferences(_ map: (Reference) -> Reference) throws -> FieldValue {
        switch self {
        case .reference(let reference): return .reference(map(reference))
        case .list(let list) where list.kind.element == .reference:
            return .list(try FieldList(list.elements.map { try $0.mappingReferences(map) }))
        default: return self
        }
    }

    /// Returns true if two values are equal and their references are equally loose, which equality ignores.
    package static func isSame(_ left: FieldValue?, _ right: FieldValue?) -> Bool {
        guard left == right, let left, let right, left.kind.element == .reference else { return left == right }
        return left.references.map(\.isLoose) == right.references.map(\.isLoose)
    }
}
