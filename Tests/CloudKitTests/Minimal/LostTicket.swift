import CloudKit
import Testing

// The requests to which `strata minimize` reduced Theater.strata. With all of them, and no fewer, a record of type Show
// matches free > ((seats - door) - office).
@Suite struct LostTicket {
    @Test func minimalHistory() async throws {
        var options = CloudStore.Options.service
        options.predicates = .extended
        let store = try CloudStore.inMemory(options: options)

        // Commit 1
        let annaOffice = store.container(user: "anna", device: "office").privateCloudDatabase
        let season = CKRecordZone.ID(zoneName: "Season")
        try await annaOffice.save(CKRecordZone(zoneID: season))

        // Commit 2
        let hamletID = CKRecord.ID(recordName: "hamlet", zoneID: season)
        let hamlet2 = CKRecord(recordType: "Show", recordID: hamletID)
        hamlet2["seats"] = 40
        hamlet2["free"] = 40
        hamlet2["door"] = 0
        hamlet2["office"] = 0
        try await annaOffice.save(hamlet2)
        let annaDoor = store.container(user: "anna", device: "door").privateCloudDatabase
        let hamlet11 = try await annaDoor.record(for: hamletID)
        let hamlet12 = try await annaOffice.record(for: hamletID)

        // Commit 11
        hamlet11["free"] = 31
        hamlet11["door"] = 5
        try await annaDoor.modifyRecords(saving: [hamlet11], deleting: [], savePolicy: .changedKeys)

        // Commit 12
        hamlet12["free"] = 33
        hamlet12["office"] = 5
        try await annaOffice.modifyRecords(saving: [hamlet12], deleting: [], savePolicy: .changedKeys)

        // This must not happen
        let question = "free > ((seats - door) - office)"
        let query = CKQuery(recordType: "Show", predicate: NSPredicate(format: question))
        let answer = try await annaOffice.records(matching: query)
        let names = answer.matchResults.map(\.0.recordName)
        let isFound = !names.isEmpty
        withKnownIssue { #expect(!isFound, "a record matches \(question)") }
    }
}
