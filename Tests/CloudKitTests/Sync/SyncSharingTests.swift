import CloudKit
import StrataSystem
import Testing

@testable import CloudKit

/// Engines of the shared database, and of two databases at once: B468 to B472.
@Suite("Sync: sharing", .timeLimit(.minutes(10)))
struct SyncSharingTests {
    private let world: SyncStore
    private let phone = SyncDevice()
    private let tablet = SyncDevice()
    private let engine: CKSyncEngine
    private let anna: CKContainer
    private let ben: CKContainer

    init() async throws {
        world = try SyncStore()
        for user in ["anna", "ben"] { try world.store.console.addUser(user, emails: ["\(user)@example.com"]) }
        anna = world.store.container(user: "anna", device: "phone")
        ben = world.store.container(user: "ben", device: "tablet")
        try await anna.privateCloudDatabase.save(CKRecordZone(zoneID: world.zone))
        engine = world.engine(tablet, "tablet", user: "ben", scope: .shared)
    }

    /// The shared zone as ben sees it.
    private var shared: CKRecordZone.ID {
        get async throws {
            CKRecordZone.ID(zoneName: world.zone.zoneName, ownerName: try await anna.userRecordID().recordName)
        }
    }

    /// Shares a note of anna's, and lets ben accept.
    private func share(
        _ name: String = "root", _ permission: CKShare.ParticipantPermission = .readWrite
    ) async throws -> CKShare {
        let root = world.note(name)
        let share = CKShare(rootRecord: root)
        let guest = try await anna.shareParticipant(forEmailAddress: "ben@example.com")
        guest.permission = permission
        share.addParticipant(guest)
        _ = try await anna.privateCloudDatabase.modifyRecords(saving: [root, share], deleting: [])
        try await accept(share)
        return share
    }

    private func accept(_ share: CKShare) async throws {
        try await ben.accept(ben.shareMetadata(for: #require(share.url)))
    }

    private func code(of error: CKError?, _ id: AnyHashable) -> CKError.Code? {
        (error?.partialErrorsByItemID?[id] as? CKError)?.code
    }

    @Test("B468 B430 after accepting, a fetch of the zone brings the zone, its records and the share")
    func accepting() async throws {
        try await engine.fetchChanges()
        #expect(tablet.journal == ["sign in", "will fetch", "did fetch"])
        let share = try await share()
        let zone = try await shared
        tablet.forgetEvents()
        try await engine.fetchChanges(.init(scope: .zoneIDs([zone])))
        #expect(
            tablet.journal == [
                "will fetch", "database 1-0", "will fetch Notes", "records 2-0", "did fetch Notes", "did fetch",
            ])
        let known = tablet.content.withLock { $0.known }
        let seen = try #require(known[.init(recordName: share.recordID.recordName, zoneID: zone)] as? CKShare)
        #expect(seen.currentUserParticipant?.permission == .readWrite && known.count == 2)
        #expect(engine.core.state.content.withLock { $0.subscriptionID } == "cksyncengine.shared")
        #expect(try await ben.privateCloudDatabase.allSubscriptions().isEmpty)
    }

    @Test("B468 B463 an automatic engine is pushed when a share is accepted, and when its records change")
    func pushed() async throws {
        let automatic = world.engine(phone, "other", user: "ben", scope: .shared, automatically: true)
        _ = await world.advance(until: { phone.journal.contains("did fetch") })
        _ = try await share()
        let zone = try await shared
        let root = CKRecord.ID(recordName: "root", zoneID: zone)
        _ = await world.advance(until: { phone.texts[root] == "text" })
        let record = try await anna.privateCloudDatabase.record(for: world.id("root"))
        record["text"] = "newer"
        try await anna.privateCloudDatabase.save(record)
        _ = await world.advance(until: { phone.texts[root] == "newer" })
        #expect(phone.texts[root] == "newer" && automatic.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
    }

    @Test("B469 B435 a share that ends is a deleted zone; its pending changes stay, and fail with zoneNotFound")
    func removed() async throws {
        let invited = try await share()
        let zone = try await shared
        try await engine.fetchChanges()
        let root = CKRecord.ID(recordName: "root", zoneID: zone)
        tablet.set("mine", root)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(root)])
        let share = try #require(try await anna.privateCloudDatabase.record(for: invited.recordID) as? CKShare)
        let guest = try #require(share.participants.first { $0.role == .privateUser })
        share.removeParticipant(guest)
        try await anna.privateCloudDatabase.save(share)
        tablet.forgetEvents()
        try await engine.fetchChanges()
        #expect(tablet.journal == ["will fetch", "database 0-1", "did fetch"])
        let event = tablet.events.first { $0.shortName == "database 0-1" }
        guard case .fetchedDatabaseChanges(let changes)? = event else { return #expect(Bool(false)) }
        #expect(changes.deletions.map(\.reason) == [.deleted] && changes.deletions.map(\.zoneID) == [zone])
        #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(root)])
        #expect(engine.state.content.withLock { $0.zoneTokens.isEmpty })
        let error = await failure { try await engine.sendChanges() }
        #expect(code(of: error, root) == .zoneNotFound && engine.state.pendingRecordZoneChanges.isEmpty)
    }

    @Test("B469 B436 a zone that comes back by another invitation is fetched from the beginning")
    func joinedAgain() async throws {
        let invited = try await share()
        try await engine.fetchChanges()
        let share = try #require(try await anna.privateCloudDatabase.record(for: invited.recordID) as? CKShare)
        let guest = try #require(share.participants.first { $0.role == .privateUser })
        share.removeParticipant(guest)
        try await anna.privateCloudDatabase.save(share)
        let again = try await anna.shareParticipant(forEmailAddress: "ben@example.com")
        again.permission = .readOnly
        share.addParticipant(again)
        try await anna.privateCloudDatabase.save(share)
        try await accept(share)
        // Neither the end nor the new beginning was fetched: the old token must not hide anything (B363).
        tablet.forgetEvents()
        try await engine.fetchChanges()
        #expect(tablet.journal.contains("records 2-0") && tablet.journal.last == "did fetch")
        let zone = try await shared
        let id = CKRecord.ID(recordName: share.recordID.recordName, zoneID: zone)
        let seen = try #require(tablet.content.withLock { $0.known[id] } as? CKShare)
        #expect(seen.currentUserParticipant?.permission == .readOnly)
    }

    @Test("B470 a zone of one's own cannot be saved in the shared database: badDatabase, dropped")
    func ownZone() async throws {
        let zone = CKRecordZone(zoneName: "Mine")
        engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        let error = await failure { try await engine.sendChanges() }
        #expect(tablet.journal == ["sign in", "will send", "zones 0/1-0/0", "did send"])
        #expect(error?.code == .badDatabase || code(of: error, zone.zoneID) == .badDatabase)
        #expect(engine.state.pendingDatabaseChanges.isEmpty)
    }

    @Test("B470 deleting a shared zone leaves its shares, and the data to the owner")
    func leave() async throws {
        let share = try await share()
        let zone = try await shared
        try await engine.fetchChanges()
        engine.state.add(pendingDatabaseChanges: [.deleteZone(zone)])
        tablet.forgetEvents()
        try await engine.sendChanges()
        #expect(tablet.journal == ["will send", "zones 0/0-1/0", "did send"])
        #expect(engine.state.content.withLock { $0.zoneTokens.isEmpty })
        let left = try #require(try await anna.privateCloudDatabase.record(for: share.recordID) as? CKShare)
        #expect(left.participants.count == 1)
        #expect(try await anna.privateCloudDatabase.record(for: world.id("root"))["text"] == "text")
    }

    @Test("B471 permissionFailure is the app's: dropped, and the server's values are put back")
    func readOnly() async throws {
        _ = try await share("root", .readOnly)
        let zone = try await shared
        try await engine.fetchChanges()
        let (root, tablet) = (CKRecord.ID(recordName: "root", zoneID: zone), tablet)
        tablet.onEvent { event, engine in
            guard case .sentRecordZoneChanges(let sent) = event, let failed = sent.failedRecordSaves.first else {
                return
            }
            #expect(failed.error.code == .permissionFailure && engine.state.pendingRecordZoneChanges.isEmpty)
            guard let server = try? await engine.database.record(for: root) else { return }
            tablet.content.withLock { $0.texts[root] = server["text"] }
        }
        tablet.set("mine", root)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(root)])
        let error = await failure { try await engine.sendChanges() }
        #expect(code(of: error, root) == .permissionFailure)
        #expect(tablet.texts[root] == "text" && engine.state.pendingRecordZoneChanges.isEmpty)
        engine.state.add(pendingRecordZoneChanges: [.deleteRecord(root)])
        let second = await failure { try await engine.sendChanges() }
        #expect(code(of: second, root) == .permissionFailure && engine.state.pendingRecordZoneChanges.isEmpty)
    }

    /// Sends a root and its share as the changes at two places of a list of 251.
    private func sendPair(at places: (root: Int, share: Int)) async throws -> (CKError?, CKShare) {
        let own = world.engine(phone)
        let root = world.note("root")
        let share = CKShare(rootRecord: root)
        var records = (0..<249).map { world.note("n\($0)") }
        records.insert(root, at: places.root)
        records.insert(share, at: places.share)
        let all = Dictionary(uniqueKeysWithValues: records.map { ($0.recordID, $0) })
        own.state.add(pendingRecordZoneChanges: records.map { .saveRecord($0.recordID) })
        phone.onBatch { _, engine in
            await .init(pendingChanges: engine.state.pendingRecordZoneChanges) { all[$0] }
        }
        return (await failure { try await own.sendChanges() }, share)
    }

    @Test("B472 a share and its root within a batch are saved; parted by the 250th item, the share fails")
    func pairs() async throws {
        let (together, first) = try await sendPair(at: (247, 248))
        #expect(together == nil && phone.journal.contains("sent 250/0-0/0") && phone.journal.contains("sent 1/0-0/0"))
        #expect(try await anna.privateCloudDatabase.record(for: first.recordID) is CKShare)
        let other = try await SyncSharingTests()
        let (parted, second) = try await other.sendPair(at: (249, 249))
        #expect(other.code(of: parted, second.recordID) == .invalidArguments)
        #expect(other.phone.journal.contains("sent 249/1-0/0"))
    }

    @Test("B405 B454 both engines of one client send and fetch at the same time")
    func both() async throws {
        _ = try await share()
        let zone = try await shared
        let own = world.engine(phone, "tablet", user: "ben")
        own.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: world.zone))])
        world.add("own", to: phone, own)
        let child = CKRecord(recordType: "Note", recordID: .init(recordName: "child", zoneID: zone))
        child.parent = CKRecord.Reference(recordID: .init(recordName: "root", zoneID: zone), action: .none)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(child.recordID)])
        tablet.onBatch { _, engine in
            await .init(pendingChanges: engine.state.pendingRecordZoneChanges) { _ in child }
        }
        // Each waits in a callback for the other: they run side by side.
        let (phone, tablet) = (phone, tablet)
        phone.onEvent { event, _ in
            if case .willSendChanges = event { #expect(await soon { tablet.journal.contains("will send") }) }
        }
        tablet.onEvent { event, _ in
            if case .willSendChanges = event { #expect(await soon { phone.journal.contains("will send") }) }
        }
        async let first: Void = own.sendChanges()
        async let second: Void = engine.sendChanges()
        _ = try await (first, second)
        async let third: Void = own.fetchChanges()
        async let fourth: Void = engine.fetchChanges()
        _ = try await (third, fourth)
        #expect(phone.journal.contains("sent 1/0-0/0") && tablet.journal.contains("sent 1/0-0/0"))
        #expect(phone.journal.filter { $0 == "sign in" }.count == 1 && tablet.journal.contains("records 3-0"))
        #expect(try await anna.privateCloudDatabase.record(for: world.id("child")).parent != nil)
    }
}
