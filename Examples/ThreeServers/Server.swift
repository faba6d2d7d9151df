import CloudKit

/// One of the servers: keeps a copy of the store, and counts for users as the lines of its standard input ask.
struct Server {
    let store: CloudStore
    private static let zone = CKRecordZone(zoneName: "Counters")

    /// Answers each line `TICKET USER` with `TICKET VALUE`, several at a time, until there are no more.
    func run() async throws {
        say("ready")
        await withTaskGroup(of: Void.self) { group in
            while let line = readLine() {
                let words = line.split(separator: " ").map(String.init)
                guard words.count == 2 else { continue }
                group.addTask {
                    // Requests without an answer are sent to another server when this one ends.
                    if let value = try? await count(for: words[1], ticket: words[0]) { say("\(words[0]) \(value)") }
                }
            }
        }
        try store.close()
    }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    /// Adds one to a user's counter, unless this or another server has done so for the same ticket.
    private func count(for user: String, ticket: String) async throws -> Int64 {
        let database = store.container(user: user).privateCloudDatabase
        let counterID = CKRecord.ID(recordName: "counter", zoneID: Self.zone.zoneID)
        let ticketID = CKRecord.ID(recordName: ticket, zoneID: Self.zone.zoneID)
        while true {
            let found = try? await database.record(for: counterID)
            let counter = found ?? CKRecord(recordType: "Counter", recordID: counterID)
            let value = (counter["value"] as Int64? ?? 0) + 1
            counter["value"] = value
            do {
                // Both or neither: the zone is atomic. A ticket that is there already makes this fail.
                let results = try await database.modifyRecords(
                    saving: [counter, CKRecord(recordType: "Ticket", recordID: ticketID)], deleting: [],
                    savePolicy: .ifServerRecordUnchanged, atomically: true)
                // While there is no zone, each record has an error of its own.
                _ = try results.saveResults[counterID]?.get()
                return value
            } catch let error as CKError where error.code == .partialFailure {
                if (try? await database.record(for: ticketID)) != nil { return value - 1 }
            } catch let error as CKError where error.code == .zoneNotFound {
                try await database.save(Self.zone)
            }
        }
    }
}
