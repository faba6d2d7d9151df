import StrataModel

/// docs/rules.md §5.5: what whom is let do in the public database.
extension ReferenceState {
    private static let standard: [ReferenceName: SchemaGrant.Permissions] = [
        "_creator": .write, "_icloud": .create, "_world": .read,
    ]

    func granted(_ type: ReferenceName) -> [ReferenceName: SchemaGrant.Permissions] { grants[type] ?? Self.standard }

    /// - Parameter creator: who made the record, or makes it.
    func permits(
        _ permission: SchemaGrant.Permissions, on type: ReferenceName, of creator: String, to user: String
    ) -> Bool {
        let isSignedIn = !user.isEmpty && accounts[user]?.status ?? .available == .available
        guard isSignedIn || permission == .read else { return false }
        if type == .users { return permission == .read || permission == .create || creator == user }
        var roles: Set<ReferenceName> = ["_world"]
        if isSignedIn {
            roles.insert("_icloud")
            if creator == user { roles.insert("_creator") }
            roles.formUnion((accounts[user]?.person.roles ?? []).map { ReferenceName($0) })
        }
        return roles.contains { granted(type)[$0]?.contains(permission) == true }
    }

    /// Whether somebody reads a record that the public database has.
    package func mayRead(_ record: ReferenceRecord, _ user: String) -> Bool {
        guard record.type != .users else {
            return !user.isEmpty && accounts[user]?.status ?? .available == .available
        }
        return permits(.read, on: record.type, of: record.createdBy, to: user)
    }

    /// Whether somebody may read records of a type, if only those of his own.
    package func mayQuery(_ type: ReferenceName, _ user: String) -> Bool {
        permits(.read, on: type, of: user, to: user)
    }
}

extension ReferenceStore {
    /// Whether the asker may change a record that is there, or one of a type that he would make.
    func mayWrite(_ type: ReferenceName, of creator: String, _ asker: Asker) -> Bool {
        state.permits(.write, on: type, of: creator, to: bends(.everybodyIsCreator) ? creator : asker.actor.user)
    }

    /// Grants alone: fields that are declared are not modelled, nor is a type of which that is the first sight.
    mutating func declareSchema(_ request: DeclareSchemaRequest, _ names: RequestNames) throws(Refusal) -> RequestResult
    {
        var after = state.grants
        for declaration in request.declarations {
            guard declaration.fields.isEmpty, let type = names.recordType(declaration.type) else {
                throw Refusal(.internalError, "it is not modelled")
            }
            var grants: [ReferenceName: SchemaGrant.Permissions] = [:]
            for grant in declaration.grants {
                grants[ReferenceName(grant.role), default: []].formUnion(grant.permissions)
            }
            after[ReferenceName(type)] = grants
        }
        if after != state.grants { beginCommit() }
        state.grants = after
        return RequestResult()
    }
}
