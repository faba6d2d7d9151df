/// A source of the names of ordinals: the trees of a state, a cache of them, or a table of a log's names.
///
/// ```swift
/// guard let (database, zone) = try names.zone(event.zone) else { return }
/// ```
package protocol NameResolver {
    /// Returns the name of an ordinal; nil if the source has none.
    func name(_ namespace: Namespace, _ ordinal: UInt64) throws -> InternedName.Name?
}

extension NameResolver {
    package func user(_ ordinal: UInt64) throws -> String? { try name(.user, ordinal)?.text }
    package func device(_ ordinal: UInt64) throws -> String? { try name(.device, ordinal)?.text }
    package func recordType(_ ordinal: UInt64) throws -> String? { try name(.recordType, ordinal)?.text }
    package func field(_ ordinal: UInt64) throws -> String? { try name(.field, ordinal)?.text }

    /// Returns a database with the name of its owner; nil if the database or its owner has no name.
    package func database(_ ordinal: UInt64) throws -> DatabaseID? {
        guard case .database(let scope, let owner)? = try name(.database, ordinal) else { return nil }
        return owner == 0 ? DatabaseID(scope) : try user(owner).map { DatabaseID(scope, owner: $0) }
    }

    /// Returns the ordinal of a zone's database; nil if the zone has no name.
    package func databaseOrdinal(ofZone ordinal: UInt64) throws -> UInt64? {
        guard case .zone(let database, _, _)? = try name(.zone, ordinal) else { return nil }
        return database
    }

    /// Returns a zone by its name and its database; nil if the zone, the database or its owner has no name.
    package func zone(_ ordinal: UInt64) throws -> (database: DatabaseID, name: String)? {
        guard case .zone(let database, _, let text)? = try name(.zone, ordinal),
            let database = try self.database(database)
        else { return nil }
        return (database, text)
    }

    /// Returns the user and the device that made a commit, or the actor that has no ordinal; nil if the user or the
    /// device has no name.
    ///
    /// - Parameter interned: The names that the commit itself interns, which the source may not have yet.
    package func actor(of header: EnvelopeHeader, _ interned: [InternedName] = []) throws -> Actor? {
        if header.user == 0 { return header.unnamedActor }
        func text(_ namespace: Namespace, _ ordinal: UInt64) throws -> String? {
            let new = interned.first { $0.ordinal == ordinal && $0.name.namespace == namespace }?.name
            return try (new ?? name(namespace, ordinal))?.text
        }
        guard let user = try text(.user, header.user), let device = try text(.device, header.device) else {
            return nil
        }
        return Actor(user: user, device: device)
    }

    // MARK: Names that must exist

    /// Returns the text of a name.
    ///
    /// - Throws: ``StrataError`` if the ordinal has no name.
    package func text(_ namespace: Namespace, _ ordinal: UInt64) throws -> String {
        guard let text = try name(namespace, ordinal)?.text else { throw StrataError.unnamed(namespace, ordinal) }
        return text
    }

    /// Returns a database with the name of its owner.
    ///
    /// - Throws: ``StrataError`` if the database or its owner has no name.
    package func requiredDatabase(_ ordinal: UInt64) throws -> DatabaseID {
        guard case .database(let scope, let owner)? = try name(.database, ordinal) else {
            throw StrataError.unnamed(.database, ordinal)
        }
        return DatabaseID(scope, owner: owner == 0 ? "" : try text(.user, owner))
    }

    /// Returns a zone by its name and its database.
    ///
    /// - Throws: ``StrataError`` if the zone, its database or the database's owner has no name.
    package func requiredZone(_ ordinal: UInt64) throws -> (database: DatabaseID, name: String) {
        guard case .zone(let database, _, let text)? = try name(.zone, ordinal) else {
            throw StrataError.unnamed(.zone, ordinal)
        }
        return (try requiredDatabase(database), text)
    }
}

extension EnvelopeHeader {
    /// The actor of a commit whose user is 0; nil if it is a user. Earlier releases noted no kind; their commits with
    /// requests were those of the service.
    fileprivate var unnamedActor: Actor? {
        switch actorKind {
        case .service, nil: .service
        case .signedOut: Actor(user: "", device: "")
        case .user: nil
        }
    }
}

extension StrataError {
    /// The error for an ordinal that must have a name and has none.
    package static func unnamed(_ namespace: Namespace, _ ordinal: UInt64) -> StrataError {
        StrataError(
            .malformed, "An ordinal has no name.",
            .init(expected: "the name of a \(namespace.noun)", found: "ordinal \(ordinal)"))
    }
}
