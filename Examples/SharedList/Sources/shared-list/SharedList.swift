import CloudKit

/// A list that its owner shares with other users, as one of them sees it. It compiles on Apple's platforms, too.
struct SharedList {
    let database: CKDatabase
    let listID: CKRecord.ID

    /// Creates a list in the private database of its owner.
    static func create(_ title: String, in container: CKContainer) async throws -> SharedList {
        let database = container.privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Lists"))
        let list = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: title, zoneID: zone.zoneID))
        try await database.save(list)
        return SharedList(database: database, listID: list.recordID)
    }

    /// Accepts an invitation. The list is then in the shared database, in the zone of its owner.
    static func join(_ metadata: CKShare.Metadata, in container: CKContainer) async throws -> SharedList {
        try await container.accept(metadata)
        guard let listID = metadata.hierarchicalRootRecordID else { throw CKError(.unknownItem) }
        return SharedList(database: container.sharedCloudDatabase, listID: listID)
    }

    // MARK: Items

    func add(_ text: String) async throws {
        let item = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: text, zoneID: listID.zoneID))
        // With the parent, the item belongs to the share of the list.
        item.setParent(listID)
        try await database.save(item)
    }

    func check(_ text: String) async throws {
        let item = try await database.record(for: CKRecord.ID(recordName: text, zoneID: listID.zoneID))
        item["isDone"] = true
        try await database.save(item)
    }

    var items: [String] {
        get async throws {
            let query = CKQuery(recordType: "Item", predicate: NSPredicate(value: true))
            let records = try await database.records(matching: query, inZoneWith: listID.zoneID).matchResults
            return try records.map { id, result in
                try result.get()["isDone"] == true ? "\(id.recordName) ✓" : id.recordName
            }.sorted()
        }
    }

    // MARK: People

    /// Invites a user, and returns the URL that the owner sends to the user.
    func invite(_ email: String, from container: CKContainer) async throws -> URL? {
        let list = try await database.record(for: listID)
        let share = CKShare(rootRecord: list)
        share[CKShare.SystemFieldKey.title] = listID.recordName
        let guest = try await container.shareParticipant(forEmailAddress: email)
        guest.permission = .readWrite
        share.addParticipant(guest)
        // A share is saved together with its root.
        _ = try await database.modifyRecords(saving: [list, share], deleting: [])
        return share.url
    }

    /// Ends the access of a user.
    func remove(_ email: String) async throws {
        let list = try await database.record(for: listID)
        guard let shareID = list.share?.recordID,
            let share = try await database.record(for: shareID) as? CKShare,
            let guest = share.participants.first(where: { $0.userIdentity.lookupInfo?.emailAddress == email })
        else { throw CKError(.unknownItem) }
        share.removeParticipant(guest)
        try await database.save(share)
    }
}
