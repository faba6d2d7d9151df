import StrataModel

/// Binds a predicate to its query: constants are evaluated, references name their zones in a canonical way, and keys
/// and operands are validated against the schema (B126).
struct PredicateBinder {
    let scene: QueryContext
    private let evaluator: PredicateEvaluator

    init(_ scene: QueryContext) {
        self.scene = scene
        evaluator = PredicateEvaluator(subject: NoSubject(), now: scene.now)
    }

    private struct NoSubject: PredicateSubject {
        func predicateValue(forKey key: String) -> PredicateValue? { nil }
        var searchedTexts: [String] { [] }
    }

    /// - Throws: ``StrataError`` for a predicate that the dialect rejects.
    func bind(_ tree: PredicateTree) throws -> PredicateTree {
        switch tree {
        case .constant: tree
        case .comparison(let comparison): .comparison(try bind(comparison))
        case .and(let parts): .and(try parts.map(bind))
        case .or(let parts): .or(try parts.map(bind))
        case .not(let part): .not(try bind(part))
        }
    }

    private func bind(_ comparison: PredicateComparison) throws -> PredicateComparison {
        var bound = comparison
        let namesUsers = try [comparison.left, comparison.right].contains { try isUser($0) }
        bound.left = try bind(comparison.left, namesUsers, comparison)
        bound.right = try bind(comparison.right, namesUsers, comparison)
        try bound.checkExpression()
        try checkEncryption(bound)
        if scene.rules.dialect == .cloudKit { try checkOperands(bound) }
        return bound
    }

    private func isUser(_ expression: PredicateExpression) throws -> Bool {
        guard case .keyPath(let key) = expression else { return false }
        return [.system(.creatorUserRecordID), .system(.lastModifiedUserRecordID)].contains(
            try scene.subject(of: key))
    }

    private func bind(
        _ expression: PredicateExpression, _ namesUsers: Bool, _ comparison: PredicateComparison
    ) throws -> PredicateExpression {
        if !expression.isOfRecord, let value = evaluator.value(of: expression) {
            return .value(try canonical(value, namesUsers))
        }
        switch expression {
        case .keyPath(let path):
            try checkKey(path, comparison)
            return expression
        case .aggregate(let parts): return .aggregate(try parts.map { try bind($0, namesUsers, comparison) })
        case .function(let name, let parts):
            return .function(name, try parts.map { try bind($0, namesUsers, comparison) })
        case .value, .evaluatedObject, .variable: return expression
        }
    }

    /// References to records of the database have no owner; the placeholder for the current user's record is resolved.
    private func canonical(_ value: PredicateValue, _ namesUsers: Bool) throws -> PredicateValue {
        switch value {
        case .reference(var target):
            if try scene.names.zoneOrdinal(target.zoneName, owner: target.ownerName) != nil { target.ownerName = "" }
            if namesUsers {
                target.recordName = try scene.names.userRecordName(named: target.recordName)
                if isSameText(target.zoneName, ZoneID.defaultName) { target.ownerName = "" }
            }
            return .reference(target)
        case .list(let values): return .list(try values.map { try canonical($0, namesUsers) })
        default: return value
        }
    }

    /// Rejects any comparison of an encrypted field other than with nil.
    private func checkEncryption(_ comparison: PredicateComparison) throws {
        if comparison.quantifier == nil, [.equal, .notEqual].contains(comparison.relation) {
            switch (comparison.left, comparison.right) {
            case (.keyPath, .value(.null)), (.value(.null), .keyPath): return
            default: break
            }
        }
        for path in comparison.left.keys + comparison.right.keys {
            let key = String(path.prefix { $0 != "." })
            guard try scene.subject(of: key)?.isEncrypted == true else { continue }
            throw StrataError(
                .invalidArgument, "Encrypted fields cannot be queried.",
                .init(position: comparison.place.character.map { UInt64($0) }, found: "“\(key)”"))
        }
    }

    private func checkKey(_ path: String, _ comparison: PredicateComparison) throws {
        guard scene.rules.dialect == .cloudKit, try scene.subject(of: path) == nil else { return }
        throw StrataError(
            .invalidArgument, "No record of the type ever had the predicate's key.",
            .init(position: comparison.place.character.map { UInt64($0) }, found: "“\(path)”"))
    }
}

extension PredicateBinder {
    private func checkOperands(_ comparison: PredicateComparison) throws {
        if comparison.isWordSearch || comparison.distance != nil { return }
        let (key, operand): (String, PredicateValue)
        switch (comparison.left, comparison.right) {
        case (.keyPath(let path), .value(let value)), (.value(let value), .keyPath(let path)):
            (key, operand) = (path, value)
        default: return
        }
        guard let subject = try scene.subject(of: key) else { return }
        let values = operand.elements ?? [operand]
        guard let wrong = values.first(where: { !subject.kind.element.isComparable(with: $0) }) else { return }
        throw StrataError(
            .invalidArgument, "The predicate's key has values of another type.",
            .init(
                position: comparison.place.character.map { UInt64($0) },
                expected: "\(subject.kind.element) for “\(key)”", found: wrong.typeName))
    }
}

extension FieldKind {
    fileprivate func isComparable(with value: PredicateValue) -> Bool {
        switch value {
        case .null: true
        case .int64, .double: self == .int64 || self == .double
        default: value.kind == self
        }
    }
}
