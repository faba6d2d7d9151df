import StrataModel
import StrataViews

/// Finds the zones of one database by their IDs, by the same rules for requests and readers.
package struct ZoneLookup: Sendable {
    package let scope: InternedName.Scope
    /// The ordinal of the database; 0 if it has no commits.
    package let database: UInt64
    /// The ordinal of the database's owner; 0 for the public database.
    package let owner: UInt64

    package init(scope: InternedName.Scope, database: UInt64, owner: UInt64) {
        (self.scope, self.database, self.owner) = (scope, database, owner)
    }

    /// Returns true if the name of a zone's owner means the user whose record has the given name (docs/rules.md §1).
    package static func isOwner(_ name: String, recordName: @autoclosure () throws -> String) rethrows -> Bool {
        try name.isEmpty || isSameText(name, "__defaultOwner__") || isSameText(name, recordName())
    }

    /// Returns true if the owner in a database ID is the given user.
    package static func isOwn(
        _ database: DatabaseID, of user: String, recordName: @autoclosure () throws -> String
    ) rethrows -> Bool {
        try isOwner(database.owner, recordName: recordName()) || isSameText(database.owner, user)
    }

    /// Returns the zone's ordinal, or 0 if it has none, and the refusal for a zone that does not exist. A default zone
    /// exists before the first write to it.
    ///
    /// - Parameters:
    ///   - isOwn: true if the owner of the zone is the owner of the database.
    ///   - ordinal: looks up a name.
    ///   - status: looks up a zone by its ordinal.
    package func zone(
        _ id: ZoneID, isOwn: Bool, ordinal: (InternedName.Name) throws -> UInt64?,
        status: (UInt64) throws -> ZoneRow.Status?
    ) rethrows -> (ordinal: UInt64, refusal: Refusal?) {
        guard isOwn, scope != .shared else {
            return (0, .missingZone(id.name, rule: isOwn ? .existingZone : .ownZone))
        }
        let known = database == 0 ? nil : try ordinal(.zone(database: database, owner: owner, id.name))
        if id.isDefault { return (known ?? 0, nil) }
        return (known ?? 0, Self.refusal(for: try known.flatMap(status), id.name))
    }

    private static func refusal(for status: ZoneRow.Status?, _ name: String) -> Refusal? {
        switch status {
        case .alive: nil
        case .purged: Refusal(.userDeletedZone, "The user deleted zone '\(name)'.", rule: .zonesTakenByService)
        case .encryptedDataReset:
            Refusal(
                .zoneNotFound, "Zone '\(name)' was deleted when its user's encrypted data was reset.",
                rule: .zonesTakenByService, didResetEncryptedData: true)
        case .deleted, nil: .missingZone(name)
        }
    }
}

extension Refusal {
    /// Returns the refusal for a nonexistent zone.
    public static func missingZone(_ name: String, rule: Rule = .existingZone) -> Refusal {
        Refusal(.zoneNotFound, "Zone '\(name)' does not exist.", rule: rule)
    }

    /// Returns the refusal with the rule that requires the zone for something other than saving records.
    func ofMissingZone(_ rule: Rule) -> Refusal {
        var refusal = self
        if refusal.rule == .existingZone { refusal.rule = rule }
        return refusal
    }
}
