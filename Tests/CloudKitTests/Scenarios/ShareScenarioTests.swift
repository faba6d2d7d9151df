import CloudKit
import Testing

/// What real clients do with shares, from saving to leaving, with two or three users of one store.
@Suite("Scenarios of sharing")
struct ShareScenarioTests {
    private let store: CloudStore
    private let anna: CKContainer
    private let bert: CKContainer
    private let carl: CKContainer
    private let zone = CKRecordZone(zoneName: "Lists")
    private var own: CKDatabase { anna.privateCloudDatabase }
    private var shared: CKDatabase { bert.sharedCloudDatabase }

    init() async throws {
        store = try CloudStore.inMemory()
        try store.console.addUser("anna", emails: ["anna@example.com"])
        try store.console.addUser("bert", emails: ["bert@example.com"])
        try store.console.addUser("carl", emails: ["carl@example.com"])
        anna = store.container(user: "anna")
        bert = store.container(user: "bert")
        carl = store.container(user: "carl")
        try await anna.privateCloudDatabase.save(zone)
    }

    private func code<Value>(_ body: () async throws -> Value) async -> CKError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            let error = error as? CKError
            let partial = error?.partialErrorsByItemID?.values.compactMap { ($0 as? CKError)?.code } ?? []
            return partial.first { $0 != .batchRequestFailed } ?? error?.code
        }
    }

    private func record(_ name: String, under parent: CKRecord? = nil) -> CKRecord {
        let record = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
        record.setParent(parent)
        return record
    }

    private func save(_ records: CKRecord..., in database: CKDatabase) async throws {
        _ = try await database.modifyRecords(saving: records, deleting: [])
    }

    /// Shares a new root with bert, who accepts.
    private func sharedList(
        _ name: String = "root", permission: CKShare.ParticipantPermission = .readWrite
    ) async throws -> (root: CKRecord, child: CKRecord, share: CKShare) {
        let root = record(name)
        let child = record("\(name)-child", under: root)
        let share = CKShare(rootRecord: root)
        let guest = try await anna.shareParticipant(forEmailAddress: "bert@example.com")
        guest.permission = permission
        share.addParticipant(guest)
        try await save(root, child, share, in: own)
        try await accept(share, bert)
        return (root, child, share)
    }

    @discardableResult
    private func accept(_ share: CKShare, _ container: CKContainer) async throws -> CKShare {
        try await container.accept(container.shareMetadata(for: #require(share.url)))
    }

    /// The same record as bert sees it.
    private func theirs(_ id: CKRecord.ID) async throws -> CKRecord.ID {
        let owner = try await anna.userRecordID().recordName
        return CKRecord.ID(
            recordName: id.recordName, zoneID: CKRecordZone.ID(zoneName: id.zoneID.zoneName, ownerName: owner))
    }

    @Test("1: a root is shared together with its share, which then has a URL")
    func sharing() async throws {
        let root = record("root")
        try await save(root, record("a", under: root), in: own)
        let share = CKShare(rootRecord: root)
        share[CKShare.SystemFieldKey.title] = "My list"
        try await save(root, share, in: own)
        let url = try #require(share.url?.absoluteString)
        #expect(url.hasPrefix("https://www.icloud.com/share/") && url.hasSuffix("#My_list"))
        #expect(try await own.record(for: root.recordID).share?.recordID == share.recordID)
        #expect(try await own.record(for: CKRecord.ID(recordName: "a", zoneID: zone.zoneID)).share == nil)
        #expect(try await own.record(for: share.recordID) is CKShare)
        let changes = try await own.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
        let records = try changes.modificationResultsByID.mapValues { try $0.get().record }
        #expect(records.count == 3 && records[share.recordID] is CKShare)
    }

    @Test("2, B304: a new share needs its root in the request, in either order", arguments: [true, false])
    func withRoot(isRootFirst: Bool) async throws {
        let root = record("root")
        try await save(root, in: own)
        let share = CKShare(rootRecord: root)
        #expect(await code { try await own.save(share) } == .invalidArguments)
        #expect(try await own.record(for: root.recordID).share == nil)
        try await save(isRootFirst ? root : share, isRootFirst ? share : root, in: own)
        #expect(share.url != nil && share.recordChangeTag != nil)
    }

    @Test("3: a zone has one share of the whole")
    func wholeZone() async throws {
        try await own.save(CKShare(recordZoneID: zone.zoneID))
        #expect(try await own.recordZone(for: zone.zoneID).share?.recordID.recordName == "cloudkit.zoneshare")
        #expect(await code { try await own.save(CKShare(recordZoneID: zone.zoneID)) } == .serverRecordChanged)
        let root = record("root")
        #expect(await code { try await save(root, CKShare(rootRecord: root), in: own) } == .serverRejectedRequest)
    }

    @Test("4, B312: no record is under two shares")
    func sharedOnce() async throws {
        let top = record("a")
        let middle = record("b", under: top)
        try await save(top, middle, CKShare(rootRecord: top), in: own)
        #expect(await code { try await save(middle, CKShare(rootRecord: middle), in: own) } == .alreadyShared)
    }

    @Test("5: addresses without an account are invited too")
    func invitations() async throws {
        let root = record("root")
        let share = CKShare(rootRecord: root)
        let found = try await anna.shareParticipants(forEmailAddresses: ["bert@example.com", "new@example.com"])
        for result in found.values { share.addParticipant(try result.get()) }
        try await save(root, share, in: own)
        #expect(share.participants.count == 3)
        #expect(share.participants.filter { $0.acceptanceStatus == .pending && $0.role == .privateUser }.count == 2)
        #expect(share.participants.filter { !$0.userIdentity.hasiCloudAccount }.count == 1)
        let again = try await anna.shareParticipant(forEmailAddress: "bert@example.com")
        again.permission = .readWrite
        share.addParticipant(again)
        try await own.save(share)
        #expect(share.participants.count == 3)
        #expect(share.participants.filter { $0.permission == .readWrite }.count == 2)
    }

    @Test("6: who accepts finds the zone, its records and the share")
    func accepting() async throws {
        let list = try await sharedList()
        let zones = try await shared.allRecordZones()
        let owner = try await anna.userRecordID().recordName
        #expect(zones.map(\.zoneID.ownerName) == [owner])
        #expect(try await shared.databaseChanges(since: nil).modifications.map(\.zoneID) == zones.map(\.zoneID))
        let changes = try await shared.recordZoneChanges(inZoneWith: zones[0].zoneID, since: nil)
        #expect(changes.modificationResultsByID.count == 3)
        let seen = try #require(try await own.record(for: list.share.recordID) as? CKShare)
        #expect(seen.participants.map(\.acceptanceStatus) == [.accepted, .accepted])
        let theirs = try #require(try await shared.record(for: theirs(list.share.recordID)) as? CKShare)
        #expect(theirs.currentUserParticipant?.permission == .readWrite)
        #expect(theirs.owner.userIdentity.userRecordID?.recordName == owner)
    }

    @Test("7: a stranger neither finds nor joins a private share")
    func stranger() async throws {
        let list = try await sharedList()
        let url = try #require(list.share.url)
        #expect(await code { try await carl.shareMetadata(for: url) } == .unknownItem)
        let borrowed = try await bert.shareMetadata(for: url)
        #expect(await code { try await carl.accept(borrowed) } == .permissionFailure)
        #expect(try await carl.sharedCloudDatabase.allRecordZones().isEmpty)
    }

    @Test("8: a public share lets in who has the URL, with its permission as it is now")
    func publicLink() async throws {
        let root = record("root")
        let share = CKShare(rootRecord: root)
        share.publicPermission = .readOnly
        try await save(root, share, in: own)
        let joined = try await accept(share, bert)
        #expect(joined.currentUserParticipant?.role == .publicUser)
        let seen = try await shared.record(for: theirs(root.recordID))
        seen["n"] = 1
        #expect(await code { try await shared.save(seen) } == .permissionFailure)
        let current = try #require(try await own.record(for: share.recordID) as? CKShare)
        current.publicPermission = .readWrite
        try await own.save(current)
        try await shared.save(seen)
        current.publicPermission = .none
        try await own.save(current)
        #expect(current.participants.count == 1)
        #expect(try await shared.allRecordZones().isEmpty)
    }

    @Test("9: a member who may only read changes nothing")
    func readOnly() async throws {
        let list = try await sharedList(permission: .readOnly)
        let seen = try await shared.record(for: theirs(list.child.recordID))
        seen["n"] = 1
        #expect(await code { try await shared.save(seen) } == .permissionFailure)
        #expect(await code { try await shared.deleteRecord(withID: seen.recordID) } == .permissionFailure)
        let current = try #require(try await own.record(for: list.share.recordID) as? CKShare)
        current.participants[1].permission = .readWrite
        try await own.save(current)
        try await shared.save(seen)
    }

    @Test("10, 11, B385: a member who may write adds below the root, which stays")
    func readWrite() async throws {
        let list = try await sharedList()
        let root = try await shared.record(for: theirs(list.root.recordID))
        root["n"] = 1
        try await shared.save(root)
        let added = CKRecord(
            recordType: "Item", recordID: CKRecord.ID(recordName: "added", zoneID: root.recordID.zoneID))
        #expect(await code { try await shared.save(added) } == .permissionFailure)
        added.setParent(root)
        let saved = try await shared.save(added)
        #expect(saved.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
        let ownersView = try await own.record(for: CKRecord.ID(recordName: "added", zoneID: zone.zoneID))
        let user = try await bert.userRecordID()
        #expect(ownersView.creatorUserRecordID == user)
        try await shared.deleteRecord(withID: theirs(list.child.recordID))
        #expect(await code { try await shared.deleteRecord(withID: root.recordID) } == .permissionFailure)
        try await save(record("private"), in: own)
        let hidden = try await theirs(CKRecord.ID(recordName: "private", zoneID: zone.zoneID))
        #expect(await code { try await shared.record(for: hidden) } == .unknownItem)
    }

    @Test("12: what moves out of the hierarchy is deleted for members")
    func moving() async throws {
        let list = try await sharedList()
        let zoneID = try await theirs(list.root.recordID).zoneID
        let before = try await shared.recordZoneChanges(inZoneWith: zoneID, since: nil)
        list.child.setParent(nil as CKRecord?)
        try await own.save(list.child)
        let after = try await shared.recordZoneChanges(inZoneWith: zoneID, since: before.changeToken)
        #expect(after.deletions.map(\.recordID.recordName) == ["root-child"] && after.deletions[0].recordType == "Item")
        list.child.setParent(list.root)
        try await own.save(list.child)
        let back = try await shared.recordZoneChanges(inZoneWith: zoneID, since: after.changeToken)
        // The parent of a saved child gets a new tag, too (B61).
        #expect(Set(back.modificationResultsByID.keys.map(\.recordName)) == ["root", "root-child"])
    }

    @Test("B318, B342: a store resolves the URLs of its own shares, whatever their fragment, and no others")
    func urlsOfOneStore() async throws {
        let list = try await sharedList()
        let url = try #require(list.share.url)
        let titled = try #require(URL(string: url.absoluteString.components(separatedBy: "#")[0] + "#Another"))
        #expect(try await bert.shareMetadata(for: titled).share.recordID.recordName == list.share.recordID.recordName)
        let stranger = try CloudStore.inMemory().container(user: "bert")
        #expect(await code { try await stranger.shareMetadata(for: url) } == .unknownItem)
    }

    @Test("13: a member leaves by deleting the share")
    func leaving() async throws {
        let list = try await sharedList()
        let token = try await shared.databaseChanges(since: nil).changeToken
        let tag = try await own.record(for: list.share.recordID).recordChangeTag
        try await shared.deleteRecord(withID: theirs(list.share.recordID))
        let changes = try await shared.databaseChanges(since: token)
        #expect(changes.deletions.count == 1 && changes.deletions[0].reason == .deleted)
        let left = try #require(try await own.record(for: list.share.recordID) as? CKShare)
        #expect(left.participants.count == 1 && left.recordChangeTag != tag)
    }

    @Test("14, 15: an ended share is over for all; sharing again gives the same URL")
    func unsharing() async throws {
        let list = try await sharedList()
        let url = list.share.url
        try await own.deleteRecord(withID: list.share.recordID)
        let root = try await own.record(for: list.root.recordID)
        #expect(root.share == nil && root.recordChangeTag != list.root.recordChangeTag)
        #expect(try await shared.allRecordZones().isEmpty)
        #expect(await code { try await own.save(list.root) } == .serverRecordChanged)
        let again = CKShare(rootRecord: root)
        try await save(root, again, in: own)
        #expect(again.url == url && again.recordID != list.share.recordID)
        #expect(await code { try await bert.shareMetadata(for: #require(url)) } == .unknownItem)
    }

    @Test("16: a participant list that changed meanwhile is a conflict whatever the policy")
    func conflict() async throws {
        let list = try await sharedList()
        let carl = try await anna.shareParticipant(forEmailAddress: "carl@example.com")
        list.share.addParticipant(carl)
        do {
            _ = try await own.modifyRecords(saving: [list.share], deleting: [], savePolicy: .allKeys)
                .saveResults[list.share.recordID]?.get()
            Issue.record("The save succeeded.")
        } catch {
            let error = error as? CKError
            let partial = error?.partialErrorsByItemID?[list.share.recordID] as? CKError ?? error
            #expect(partial?.code == .serverRecordChanged)
            let server = try #require(partial?.serverRecord as? CKShare)
            #expect(server.participants.map(\.acceptanceStatus) == [.accepted, .accepted])
            server.addParticipant(carl)
            try await own.save(server)
            #expect(server.participants.count == 3)
        }
    }

    @Test("17: leaving one of two shares of a zone leaves the other")
    func twoShares() async throws {
        let one = try await sharedList("one")
        let two = try await sharedList("two")
        #expect(try await shared.allRecordZones().count == 1)
        try await shared.deleteRecord(withID: theirs(one.share.recordID))
        #expect(try await shared.allRecordZones().count == 1)
        let hidden = try await theirs(one.root.recordID)
        #expect(await code { try await shared.record(for: hidden) } == .unknownItem)
        _ = try await shared.record(for: theirs(two.root.recordID))
    }

    @Test("18, B358: zones of the wrong database")
    func wrongDatabase() async throws {
        let list = try await sharedList()
        #expect(
            await code { try await anna.sharedCloudDatabase.record(for: list.root.recordID) } == .invalidArguments)
        let foreign = try await theirs(list.root.recordID)
        #expect(await code { try await bert.privateCloudDatabase.record(for: foreign) } == .zoneNotFound)
    }

    @Test("19, B341: a share has at most 100 participants", arguments: [99, 100])
    func tooMany(others: Int) async throws {
        let root = record("root")
        let share = CKShare(rootRecord: root)
        for _ in 0..<others { share.addParticipant(.oneTimeURLParticipant()) }
        #expect(await code { try await save(root, share, in: own) } == (others == 99 ? nil : .tooManyParticipants))
    }

    @Test("20, B391: roles of the public database, with what each may do")
    func roles() async throws {
        func declare(_ grants: String) throws {
            try store.importSchema(
                "DEFINE SCHEMA CREATE ROLE Editors; RECORD TYPE Article (title STRING QUERYABLE, \(grants));")
        }
        func database(_ user: String?) -> CKDatabase { store.container(user: user).publicCloudDatabase }
        func article(_ name: String) -> CKRecord {
            CKRecord(recordType: "Article", recordID: CKRecord.ID(recordName: name))
        }
        try declare("GRANT READ TO \"_icloud\", GRANT CREATE TO Editors, GRANT WRITE TO \"_creator\"")
        try store.console.setRole("Editors", of: ["ed", "eve"])
        let (guest, user, editor) = (database(nil), database("ursula"), database("ed"))
        let all = CKQuery(recordType: "Article", predicate: NSPredicate(value: true))
        #expect(await code { try await user.save(article("a")) } == .permissionFailure)
        try await editor.save(article("a"))
        let id = CKRecord.ID(recordName: "a")
        #expect(try await user.record(for: id).recordID == id)
        #expect(await code { try await guest.record(for: id) } == .permissionFailure)
        #expect(await code { try await guest.records(matching: all) } == .permissionFailure)
        #expect(try await user.records(matching: all).matchResults.count == 1)
        // An editor creates, but changes only what is his own.
        try await database("eve").save(article("b"))
        let other = try await editor.record(for: CKRecord.ID(recordName: "b"))
        other["title"] = "changed"
        #expect(await code { try await editor.save(other) } == .permissionFailure)
        try declare("GRANT READ TO \"_icloud\", GRANT CREATE, WRITE TO Editors")
        #expect(try await editor.save(other)["title"] == "changed")
        // A role that is taken away is gone at once.
        try store.console.setRole("Editors", of: ["eve"])
        other["title"] = "again"
        #expect(await code { try await editor.save(other) } == .permissionFailure)
    }

    @Test("B331: misuse is an error of the save")
    func misuse() async throws {
        let root = record("root")
        let share = CKShare(rootRecord: root)
        share.removeParticipant(.oneTimeURLParticipant())
        #expect(await code { try await save(root, share, in: own) } == .invalidArguments)
        let other = CKShare(rootRecord: record("other"), shareID: CKRecord.ID(recordName: "s"))
        #expect(await code { try await own.save(other) } == .invalidArguments)
        let unknown = CKShare(rootRecord: record("third"))
        let guest = CKShare.Participant.oneTimeURLParticipant()
        guest.role = .unknown
        unknown.addParticipant(guest)
        #expect(await code { try await own.save(unknown) } == .invalidArguments)
    }

    @Test("B347: a URL of something else is an argument's mistake", arguments: ["https://example.com/a", "file:///x"])
    func urls(text: String) async throws {
        let url = try #require(URL(string: text))
        #expect(await code { try await bert.shareMetadata(for: url) } == .invalidArguments)
    }

    @Test("B328: the first to open a one-time URL becomes the participant")
    func oneTimeURL() async throws {
        let root = record("root")
        let share = CKShare(rootRecord: root)
        let guest = CKShare.Participant.oneTimeURLParticipant()
        share.addParticipant(guest)
        try await save(root, share, in: own)
        let url = try #require(share.oneTimeURL(for: guest.participantID))
        let metadata = try await bert.shareMetadata(for: url)
        try await bert.accept(metadata)
        #expect(await code { try await carl.accept(metadata) } == .permissionFailure)
        #expect(try await shared.allRecordZones().count == 1)
    }

    @Test("B398, B399: a request for access is answered by the share's owner")
    func requests() async throws {
        let root = record("root")
        let share = CKShare(rootRecord: root)
        share.allowsAccessRequests = true
        try await save(root, share, in: own)
        let url = try #require(share.url)
        _ = try await bert.requestShareAccess(for: [url])[url]?.get()
        let asked = try #require(try await own.record(for: share.recordID) as? CKShare)
        #expect(asked.requesters.count == 1)
        let found = try await anna.shareParticipants(for: asked.requesters.map(\.participantLookupInfo))
        for result in found.values { asked.addParticipant(try result.get()) }
        try await own.save(asked)
        #expect(asked.participants.last?.isApprovedRequester == true && asked.requesters.isEmpty)
        try await accept(asked, bert)
    }

    @Test("The sharing sheet reports to the user's observers")
    func sheet() async throws {
        let list = try await sharedList()
        let observer = CKSystemSharingUIObserver(container: anna)
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        observer.systemSharingUIDidSaveShareBlock = { id, result in
            continuation.yield("saved \((try? result.get()) != nil)")
        }
        observer.systemSharingUIDidStopSharingBlock = { id, result in
            continuation.yield("stopped \((try? result.get()) != nil)")
        }
        let sheet = store.console.sharingSheet(for: list.share.recordID, of: "anna")
        let current = try #require(try await own.record(for: list.share.recordID) as? CKShare)
        try await sheet.save(current)
        try await sheet.stopSharing()
        var seen: [String] = []
        for await event in events {
            seen.append(event)
            if seen.count == 2 { break }
        }
        #expect(seen == ["saved true", "stopped true"])
        withExtendedLifetime(observer) {}
    }

    @Test("Operations of shares report each item and the end")
    func operations() async throws {
        let list = try await sharedList()
        let url = try #require(list.share.url)
        let operation = CKFetchShareMetadataOperation(shareURLs: [url])
        operation.shouldFetchRootRecord = true
        let metadata = try await withCheckedThrowingContinuation { continuation in
            operation.perShareMetadataResultBlock = { _, result in continuation.resume(with: result) }
            bert.add(operation)
        }
        #expect(metadata.rootRecord?.recordID == metadata.hierarchicalRootRecordID)
        #expect(metadata.participantStatus == .accepted && metadata.participantRole == .privateUser)
        let accepting = CKAcceptSharesOperation(shareMetadatas: [metadata])
        let share = try await withCheckedThrowingContinuation { continuation in
            accepting.perShareResultBlock = { _, result in continuation.resume(with: result) }
            bert.add(accepting)
        }
        #expect(share.recordID == metadata.share.recordID)
    }
}
