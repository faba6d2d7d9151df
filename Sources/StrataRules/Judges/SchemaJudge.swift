import StrataModel
import StrataViews

/// Judges a request that declares a schema (docs/rules.md §10): it is accepted as a whole or not at all.
struct SchemaJudge: RequestJudge {
    private let judging: Judging
    private let body: DeclareSchemaRequest
    private var names: NameWriter
    private var request: Request { judging.request }
    private var view: RulesView { judging.view }

    /// The changes to a record type; ordinals of fields are the request's own.
    private struct Change {
        var type: UInt64
        var fields: [SchemaField] = []
        var grants: [SchemaGrant] = []
        var isNew = false

        var isEmpty: Bool { fields.isEmpty && grants.isEmpty && !isNew }
    }

    init(_ judging: Judging, _ body: DeclareSchemaRequest) {
        self.judging = judging
        self.body = body
        names = NameWriter(judging.view)
    }

    consuming func decide() throws -> Decision {
        var types = Set<UInt64>()
        var changes: [Change] = []
        guard body.declarations.count <= FieldTable.maximumCount else {
            throw Refusal(
                .limitExceeded, "A schema has at most \(FieldTable.maximumCount) record types.", rule: .declaredTypes)
        }
        for declaration in body.declarations {
            let type = try checkedType(declaration)
            guard types.insert(declaration.type).inserted else {
                throw Refusal(.invalidArguments, "Record type '\(type)' is declared twice.", rule: .declaredTypes)
            }
            let change = try change(declaration, type)
            if !change.isEmpty { changes.append(change) }
        }
        let trace = judging.newTrace
        guard !changes.isEmpty else { return Decision(.nothing, RequestResult(), trace: trace) }
        do { return try commit(changes, trace) } catch let error as StrataError where error.code == .tooLarge {
            throw Refusal(
                .limitExceeded, "The changes of the schema do not fit in a commit: \(error)",
                rule: .commitLimit)
        }
    }

    // MARK: Judging

    private func checkedType(_ declaration: DeclareSchemaRequest.Declaration) throws -> String {
        guard let type = request.names.recordType(declaration.type) else {
            throw Refusal(
                .invalidArguments, "The request uses ordinal \(declaration.type) as a type but does not define it.",
                rule: .requestNames)
        }
        guard SchemaName.isIdentifier(type) else {
            throw Refusal(
                .invalidArguments,
                "'\(type)' is not a valid record type name: use a letter followed by letters, digits, or underscores.",
                rule: .recordTypes
            )
        }
        return type
    }

    private func change(_ declaration: DeclareSchemaRequest.Declaration, _ type: String) throws -> Change {
        let ordinal = try view.ordinal(of: .recordType(type))
        if body.onlyAddsIndexes, ordinal == nil {
            throw Refusal(.unknownItem, "Did not find record type: \(type)", rule: .queriedType)
        }
        let known = try ordinal.map { try view.schema(of: $0) } ?? [:]
        var change = Change(type: declaration.type)
        var keys = Set<UInt32>()
        var newCount = 0
        for field in declaration.fields {
            guard let key = request.names.key(field.field) else {
                throw Refusal(
                    .invalidArguments, "The request uses ordinal \(field.field) as a key but does not define it.",
                    rule: .requestNames)
            }
            guard keys.insert(field.field).inserted else {
                throw Refusal(.invalidArguments, "Field '\(key)' of \(type) is declared twice.", rule: .declaredFields)
            }
            let stored = try view.ordinal(of: .field(key)).flatMap { known[UInt32($0)] }
            guard let declared = try declared(field, key, of: type, stored: stored) else { continue }
            if stored == nil { newCount += 1 }
            change.fields.append(declared)
        }
        guard known.count + newCount <= FieldTable.maximumCount else {
            throw Refusal(
                .limitExceeded, "Type \(type) would have more than \(FieldTable.maximumCount) keys.", rule: .keysOfType)
        }
        change.grants = try changedGrants(declaration, type, ordinal)
        change.isNew = ordinal == nil
        return change
    }

    /// The field to write; nil if it is already declared so.
    private func declared(
        _ field: SchemaField, _ key: String, of type: String, stored: SchemaField?
    ) throws -> SchemaField? {
        var field = field
        let systemKind = SchemaName.systemKind(of: key)
        guard systemKind != nil || SchemaName.isIdentifier(key) else {
            throw Refusal(
                .invalidArguments,
                "'\(key)' of \(type) is not a valid key: use a letter followed by letters, digits, or underscores.",
                rule: .keys)
        }
        if body.onlyAddsIndexes {
            guard let kind = stored?.kind ?? systemKind else {
                throw Refusal(
                    .invalidArguments, "Field '\(key)' of \(type) is not known, and so it cannot be indexed.",
                    rule: .declaredFields)
            }
            field.kind = kind
            field.isEncrypted = stored?.isEncrypted ?? false
            field.indexes.formUnion(stored?.indexes ?? [])
        }
        try checkKind(
            field, key, of: type, bound: stored?.kind ?? systemKind, isEncrypted: stored?.isEncrypted ?? false)
        try checkIndexes(field, key, type)
        if let stored { return field.isDeclared(as: stored) ? nil : field }
        // A system field without an index exists without a declaration.
        return systemKind != nil && field.indexes.isEmpty ? nil : field
    }

    /// - Parameter bound: the current kind of the key; nil if it has none.
    private func checkKind(
        _ field: SchemaField, _ key: String, of type: String, bound: FieldKind?, isEncrypted: Bool
    ) throws {
        let canBeEncrypted = !field.isEncrypted || ![.reference, .asset].contains(field.kind.element)
        guard field.kind.isDeclarable, canBeEncrypted else {
            throw Refusal(
                .invalidArguments, "Field '\(key)' of \(type) cannot be \(Binding(field).description).",
                rule: .declaredKinds)
        }
        guard let bound else { return }
        // A save does not reveal the kind inside a seal, so the schema may declare it later.
        if isEncrypted, field.isEncrypted, bound == .data { return }
        guard field.kind == bound, field.isEncrypted == isEncrypted else {
            let known = Binding(SchemaField(field.field, bound, isEncrypted: isEncrypted)).description
            throw Refusal(
                .invalidArguments,
                "Field '\(key)' of type \(type) is \(known), and cannot become \(Binding(field).description).",
                rule: .boundKinds)
        }
    }

    private func checkIndexes(_ field: SchemaField, _ key: String, _ type: String) throws {
        let possible = field.kind.possibleIndexes(isEncrypted: field.isEncrypted)
        let others = field.indexes.subtracting(possible)
        guard others.isEmpty else {
            let isKnown = !others.schemaNames.isEmpty
            throw Refusal(
                .invalidArguments,
                """
                Field '\(key)' of type \(type) is \(Binding(field).description), which cannot be \
                \(isKnown ? others.schemaNames : "indexed in a way that has the number \(others.rawValue)").
                """, rule: .declaredIndexes)
        }
    }

    /// The grants to write; empty if they are unchanged or not declared.
    private func changedGrants(
        _ declaration: DeclareSchemaRequest.Declaration, _ type: String, _ ordinal: UInt64?
    ) throws -> [SchemaGrant] {
        for grant in declaration.grants where !SchemaName.isRole(grant.role) {
            throw Refusal(
                .invalidArguments,
                "Type \(type) grants permissions to '\(grant.role)', which is not a valid role name.",
                rule: .declaredRoles)
        }
        let grants = SchemaGrant.merged(declaration.grants)
        let stored = try ordinal.map { try view.grants(of: $0) } ?? SchemaGrant.standard
        return grants.isEmpty || grants == stored ? [] : grants
    }

    // MARK: Writing

    private mutating func commit(_ changes: [Change], _ trace: Trace?) throws -> Decision {
        var events: [SchemaChangedEvent] = []
        for change in changes {
            let type = try names.ordinal(of: .recordType(request.names.recordType(change.type) ?? ""))
            var fields = change.fields
            for index in fields.indices {
                let name = InternedName.Name.field(request.names.key(fields[index].field) ?? "")
                fields[index].field = UInt32(try names.ordinal(of: name))
            }
            fields.sort { $0.field < $1.field }
            events.append(SchemaChangedEvent(type: type, fields: fields, grants: change.grants))
        }
        var commit = CommitBuilder()
        try names.append(to: &commit)
        var shape = RequestShape(.declareSchema, firstItemEvent: commit.count, saveCount: 0, deleteCount: 0)
        try shape.keep(request)
        for event in events { try commit.append(event) }
        let header = try judging.context.header(.schema, user: 0, device: 0, shape)
        var decision = Decision(commit, header, RequestResult(), naming: names.new, trace: trace)
        decision.changedTypes = events.map(\.type)
        return decision
    }
}

extension SchemaField {
    /// Returns true if the field is declared like another, whose ordinal may belong to another table.
    fileprivate func isDeclared(as other: SchemaField) -> Bool {
        kind == other.kind && isEncrypted == other.isEncrypted && indexes == other.indexes
    }
}
