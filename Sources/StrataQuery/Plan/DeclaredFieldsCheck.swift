import StrataModel

/// Checks that a query uses only declared fields, as the service does in production: keys of a predicate must be
/// queryable, keys of an order sortable, and fields of a word search searchable.
struct DeclaredFieldsCheck {
    private let scene: QueryContext
    private let typeName: String

    init(_ scene: QueryContext, typeName: String) {
        self.scene = scene
        self.typeName = typeName
    }

    /// - Parameter predicate: a tree from ``PredicateBinder``, whose keys are in their required places.
    /// - Throws: ``Refusal`` with the service's message.
    func check(_ predicate: PredicateTree, _ order: [SortKey]) throws {
        if predicate.comparisons.isEmpty {
            // A query for all records of a type requires a queryable record name.
            if predicate != .constant(false) { try require(SystemField.recordID.rawValue, .queryable) }
        } else {
            for comparison in predicate.comparisons { try check(comparison) }
        }
        for key in order { try require(key.name, .sortable) }
    }

    private func check(_ comparison: PredicateComparison) throws {
        if comparison.isWordSearch {
            guard scene.searchedFields.isEmpty else { return }
            throw Refusal(.invalidArguments, "Type '\(typeName)' is not marked searchable", rule: .enforcedSchema)
        }
        let index: SchemaField.Indexes = comparison.relation == .tokenMatches ? .searchable : .queryable
        for key in comparison.left.keys + comparison.right.keys { try require(key, index) }
    }

    private func require(_ path: String, _ index: SchemaField.Indexes) throws {
        // The rest of the path names another record's field, or a function of this one.
        let key = String(path.prefix { $0 != "." })
        let system = SystemField(key)
        guard let ordinal = try scene.names.fieldOrdinal(system?.storedName ?? key),
            let field = scene.fields[ordinal], field.indexes.contains(index)
        else {
            let name = system == .recordID ? "recordName" : system?.storedName ?? key
            let mark = index == .queryable ? "queryable" : index == .sortable ? "sortable" : "searchable"
            throw Refusal(.invalidArguments, "Field '\(name)' is not marked \(mark)", rule: .enforcedSchema)
        }
    }
}

extension PredicateTree {
    /// The keys and key paths that the predicate contains.
    public var namedKeys: [String] { comparisons.flatMap { $0.left.keys + $0.right.keys } }

    /// The comparisons of the predicate, from left to right.
    var comparisons: [PredicateComparison] {
        switch self {
        case .constant: []
        case .comparison(let comparison): [comparison]
        case .and(let parts), .or(let parts): parts.flatMap(\.comparisons)
        case .not(let part): part.comparisons
        }
    }
}

extension PredicateExpression {
    /// The keys and key paths that the expression contains; the record itself counts as its name.
    var keys: [String] {
        switch self {
        case .value, .variable: []
        case .keyPath(let path): [path]
        case .evaluatedObject: [SystemField.recordID.rawValue]
        case .aggregate(let parts), .function(_, let parts): parts.flatMap(\.keys)
        }
    }
}
