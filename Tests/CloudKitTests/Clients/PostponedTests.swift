import CloudKit
import Testing

@Suite("What comes later says so")
struct PostponedTests {
    @Test("Without shares the shared database's feed is empty, with a token that can be used again (B358)")
    func sharedFeed() async throws {
        let shared = try CloudStore.inMemory().container(user: "anna").sharedCloudDatabase
        let first = try await shared.databaseChanges(since: nil)
        #expect(first.modifications.isEmpty && first.deletions.isEmpty && !first.moreComing)
        let second = try await shared.databaseChanges(since: first.changeToken)
        #expect(second.modifications.isEmpty && second.changeToken == first.changeToken)
        #expect(
            await code { try await shared.recordZoneChanges(inZoneWith: .init(zoneName: "Notes"), since: nil) }
                == .invalidArguments)
        let journal = Journal()
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: first.changeToken)
        operation.fetchDatabaseChangesResultBlock = { result in
            journal.add("result \((try? result.get().moreComing) == false)", result)
        }
        await operation.finish { shared.add($0) }
        #expect(journal.entries == ["result true success"])
    }

    @Test("Public databases have no feed (B150), default zones neither (B156)")
    func noFeed() async throws {
        let notes = try await NotesStore()
        #expect(await code { try await notes.phone.publicCloudDatabase.databaseChanges(since: nil) } == .badDatabase)
        #expect(
            await code { try await notes.database.recordZoneChanges(inZoneWith: .default, since: nil) }
                == .invalidArguments)
    }

    @Test("What to fetch of a zone comes back from an archive")
    func archivedConfiguration() throws {
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
            resultsLimit: 7, desiredKeys: ["title", "text"])
        let data = try NSKeyedArchiver.archivedData(withRootObject: configuration, requiringSecureCoding: true)
        let again = try #require(
            try NSKeyedUnarchiver.unarchivedObject(
                ofClass: CKFetchRecordZoneChangesOperation.ZoneConfiguration.self, from: data))
        #expect(again.resultsLimit == 7 && again.desiredKeys == ["title", "text"])
        #expect(again.previousServerChangeToken == nil)
    }
}
