import CloudKit
import StrataModel
import StrataStore
import StrataSystem
import Testing

@testable import CloudKit

/// Tests answers to saves that are read from a state in which the user can no longer read the records.
@Suite("Answers that are read late", .timeLimit(.minutes(5)))
struct LateAnswerTests {
    private let store: CloudStore
    private let anna: CKContainer
    private let zone = CKRecordZone(zoneName: "Lists")
    private let share: CKShare

    init() async throws {
        store = try CloudStore.inMemory()
        for user in ["anna", "bert"] { try store.console.addUser(user, emails: ["\(user)@example.com"]) }
        anna = store.container(user: "anna")
        try await anna.privateCloudDatabase.save(zone)
        share = CKShare(recordZoneID: zone.zoneID)
        let guest = try await anna.shareParticipant(forEmailAddress: "bert@example.com")
        guest.permission = .readWrite
        share.addParticipant(guest)
        try await anna.privateCloudDatabase.save(share)
    }

    private func join(_ container: CKContainer) async throws {
        try await container.accept(container.shareMetadata(for: #require(share.url)))
    }

    private func theirs(_ name: String) async throws -> CKRecord.ID {
        let owner = try await anna.userRecordID().recordName
        return CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: "Lists", ownerName: owner))
    }

    private func leave(_ container: CKContainer) async throws {
        try await container.sharedCloudDatabase.deleteRecord(withID: theirs(share.recordID.recordName))
    }

    /// Saves records as a client does, but reads the answer from the state after `later`.
    private func save(
        _ records: [CKRecord], in database: CKDatabase, later: () async throws -> Void
    ) async throws -> RecordsOutcome {
        let call = DatabaseCall(client: database.client, scope: database.databaseScope, settings: .convenience)
        let encoded = try EncodedModification(
            RecordsModification(saves: records), failing: [:], call, store)
        var answer = try await call.submit(encoded.request, to: store.store)
        try await later()
        answer.snapshot = store.store.snapshot()
        return try encoded.outcome(of: answer, store.options)
    }

    @Test("A committed save is answered with the sent record after its user left the share", arguments: [true, false])
    func left(isRemoved: Bool) async throws {
        let bert = store.container(user: "bert")
        try await join(bert)
        let new = CKRecord(recordType: "Note", recordID: try await theirs("new"))
        new["text"] = "mine"
        let before = store.offset
        let outcome = try await save([new], in: bert.sharedCloudDatabase) {
            guard isRemoved else { return try await leave(bert) }
            // The share has another tag since the user joined it.
            let newest = try #require(try await anna.privateCloudDatabase.record(for: share.recordID) as? CKShare)
            for guest in newest.participants where guest.role != .owner { newest.removeParticipant(guest) }
            try await anna.privateCloudDatabase.save(newest)
        }
        let saved = try outcome.saves[0].result.get()
        let stored = try await anna.privateCloudDatabase.record(
            for: CKRecord.ID(recordName: "new", zoneID: zone.zoneID))
        #expect(store.offset > before + 1 && saved.recordID == new.recordID)
        #expect(saved.recordChangeTag == stored.recordChangeTag && saved.recordChangeTag != nil)
        #expect(saved.creationDate == stored.creationDate && saved.modificationDate == stored.modificationDate)
        #expect(saved["text"] as? String == "mine" && saved.changedKeys().isEmpty)
        #expect(saved.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
        // The next save starts from that version.
        new.didSave(as: saved, sent: new.withFields { $0 }, sharing: nil)
        #expect(new.recordChangeTag == stored.recordChangeTag)
    }

    @Test("A committed save is answered after the zone or the record is gone, and after the record was erased")
    func gone() async throws {
        let database = anna.privateCloudDatabase
        func record(_ name: String) -> CKRecord {
            let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
            record["text"] = "mine"
            return record
        }
        let laters: [() async throws -> Void] = [
            { try await database.deleteRecord(withID: record("0").recordID) },
            { try store.console.erase([record("1").recordID], in: .private, of: "anna", reason: "asked for") },
            { try await database.deleteRecordZone(withID: zone.zoneID) },
        ]
        for (number, later) in laters.enumerated() {
            let outcome = try await save([record("\(number)")], in: database, later: later)
            let saved = try outcome.saves[0].result.get()
            #expect(saved["text"] as? String == "mine" && saved.recordChangeTag != nil, "\(number)")
        }
    }

    @Test("Saves that a member makes while leaving and joining are refused only if they are not there")
    func race() async throws {
        let first = store.container(user: "bert", device: "first")
        try await join(first)
        let id = try await theirs("")
        let refused = try await withThrowingTaskGroup(of: Set<String>.self) { group in
            for device in 0..<4 {
                let database = store.container(user: "bert", device: "\(device)").sharedCloudDatabase
                group.addTask {
                    var refused: Set<String> = []
                    for number in 0..<150 {
                        let name = "\(device)-\(number)"
                        let record = CKRecord(
                            recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: id.zoneID))
                        do { try await database.save(record) } catch let error as CKError {
                            #expect(error.code == .zoneNotFound, "\(error)")
                            refused.insert(name)
                        }
                    }
                    return refused
                }
            }
            for _ in 0..<60 {
                try await leave(first)
                // The owner invites again, and the member joins.
                let guest = try await anna.shareParticipant(forEmailAddress: "bert@example.com")
                guest.permission = .readWrite
                let current = try #require(
                    try await anna.privateCloudDatabase.record(for: share.recordID) as? CKShare)
                current.addParticipant(guest)
                try await anna.privateCloudDatabase.save(current)
                try await join(first)
            }
            return try await group.reduce(into: Set<String>()) { $0.formUnion($1) }
        }
        for name in refused.sorted() {
            let id = CKRecord.ID(recordName: name, zoneID: zone.zoneID)
            let error = await #expect(throws: CKError.self) { try await anna.privateCloudDatabase.record(for: id) }
            #expect(error?.code == .unknownItem, "\(name) was refused, and is there")
        }
        var count = 0
        for device in 0..<4 {
            for number in 0..<150 where !refused.contains("\(device)-\(number)") {
                let id = CKRecord.ID(recordName: "\(device)-\(number)", zoneID: zone.zoneID)
                #expect(try await anna.privateCloudDatabase.record(for: id).recordChangeTag != nil)
                count += 1
            }
        }
        #expect(count + refused.count == 600)
    }
}
