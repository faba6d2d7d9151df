import StrataModel
import StrataQuery
import StrataRules
import StrataTree
import StrataViews

/// Names for the queries of one actor in one database.
struct StoreQueryNames: QueryNames {
    let names: Directory
    let place: ResolvedDatabase
    let actor: Actor
    let trees: Snapshot

    func fieldOrdinal(_ name: String) throws -> UInt32? {
        // Clients see no key of shares' states.
        if isSameText(name, ShareState.key) { return nil }
        return try names.ordinal(of: .field(name), in: trees).map { UInt32($0) }
    }

    func fieldName(_ ordinal: UInt32) throws -> String { try names.text(.field, UInt64(ordinal), in: trees) }

    func zoneOrdinal(_ name: String, owner: String) throws -> UInt64? {
        try place.zone(ZoneID(name, owner: owner), trees, names).ordinal
    }

    func zoneName(_ ordinal: UInt64) throws -> String { try names.text(.zone, ordinal, in: trees) }

    func database(ofZone ordinal: UInt64) throws -> UInt64 {
        try names.resolver(in: trees).databaseOrdinal(ofZone: ordinal) ?? 0
    }

    func userRecordName(_ ordinal: UInt64) throws -> String {
        try names.recordName(of: names.user(ordinal, in: trees), in: trees)
    }

    func userRecordName(named name: String) throws -> String {
        ZoneLookup.isOwner(name, recordName: "") ? try names.recordName(of: actor.user, in: trees) : name
    }

    func userOrdinal(ofRecordName name: String) throws -> UInt64? {
        if try isSameText(name, names.recordName(of: actor.user, in: trees)) {
            return try names.ordinal(of: .user(actor.user), in: trees)
        }
        return try trees.user(at: UserAddress(.recordName, name))
    }
}
