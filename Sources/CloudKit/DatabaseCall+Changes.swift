/// A page of a database's feed.
struct DatabaseChangesPage: Sendable {
    var modifications: [CKDatabase.DatabaseChange.Modification] = []
    var deletions: [CKDatabase.DatabaseChange.Deletion] = []
    var token: CKServerChangeToken
    var moreComing = false
}

extension DatabaseCall {
    /// Where the feed of a database ends that never had a zone.
    private static let emptyFeed = CKServerChangeToken(bytes: Array("empty feed".utf8))

    /// The zones that have changed.
    func databaseChanges(since token: CKServerChangeToken?) throws -> DatabaseChangesPage {
        _ = try client.readable(scope)
        switch scope {
        case .public: throw CKError(.badDatabase, message: "The public database does not track its changes.")
        case .private: throw Self.notYet("feeds")
        case .shared:
            // Nothing can have been shared with anybody yet.
            guard token == nil || token == Self.emptyFeed else {
                throw CKError(.changeTokenExpired, message: "The token is not of this database: fetch from the start.")
            }
            return DatabaseChangesPage(token: Self.emptyFeed)
        }
    }

    /// - Throws: Why the changes of a zone cannot be had.
    func zoneChanges(of zone: CKRecordZone.ID) throws {
        if zone.zoneName == CKRecordZone.ID.defaultZoneName, scope != .shared {
            throw CKError(.invalidArguments, message: "AppDefaultZone does not support getChanges call")
        }
        _ = try self.zone(zone)
        throw Self.notYet("feeds")
    }
}
