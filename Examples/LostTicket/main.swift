import CloudKit
import ExampleArguments

// A theater that sells tickets at its door and in its office, and now and then loses one: docs/guide/lost-update.md
// finds out why. Clock and random numbers are its own, so that every run makes the same store.

/// Sells tickets from one device.
final class TicketDesk {
    private let database: CKDatabase
    private let name: String
    private var shows: [CKRecord.ID: CKRecord] = [:]

    init(_ store: CloudStore, _ name: String) {
        database = store.container(user: "anna", device: name).privateCloudDatabase
        self.name = name
    }

    func refresh(_ id: CKRecord.ID) async throws { shows[id] = try await database.record(for: id) }

    func sell(_ count: Int, of id: CKRecord.ID) async throws {
        guard let show = shows[id] else { return }
        show["free"] = (show["free"] as? Int ?? 0) - count
        show[name] = (show[name] as? Int ?? 0) + count
        // With the usual policy there were errors now and then.
        let results = try await database.modifyRecords(saving: [show], deleting: [], savePolicy: .changedKeys)
        shows[id] = try results.saveResults[id]?.get()
    }
}

let directory = ExampleArguments.newDirectory(
    usage: """
        usage: lost-ticket DIRECTORY

        Makes a store in DIRECTORY in which a sale of tickets got lost: see docs/guide/lost-update.md.

        example: lost-ticket Theater.strata
        """)
let clock = CloudStore.ManualClock(Date(timeIntervalSince1970: 1_795_240_000))
var options = CloudStore.Options.service
options.clock = clock
options.random = CloudStore.SeededRandomNumbers(seed: 7)
let store = try CloudStore(at: URL(fileURLWithPath: directory), options: options)
let (door, office) = (TicketDesk(store, "door"), TicketDesk(store, "office"))
let box = store.container(user: "anna", device: "office").privateCloudDatabase

let season = try await box.save(CKRecordZone(zoneName: "Season"))
let ids = ["hamlet", "macbeth", "othello"].map { CKRecord.ID(recordName: $0, zoneID: season.zoneID) }
for id in ids {
    clock.advance(by: .seconds(60))
    let show = CKRecord(recordType: "Show", recordID: id)
    (show["seats"], show["free"]) = (40, 40)
    (show["door"], show["office"]) = (0, 0)
    try await box.save(show)
}

/// Who sells how many tickets of which show, and whether it looked at the show first.
let sales: [(desk: TicketDesk, count: Int, show: Int, looks: Bool)] = [
    (door, 2, 0, true), (office, 1, 1, true), (office, 4, 0, true), (door, 1, 2, true), (door, 2, 1, true),
    (office, 2, 2, true), (door, 3, 0, true), (office, 1, 0, false), (door, 2, 2, true), (office, 2, 1, true),
    (door, 1, 0, true), (office, 3, 2, true), (office, 2, 0, true), (door, 2, 1, true), (door, 1, 2, true),
]
for sale in sales {
    clock.advance(by: .seconds(60))
    if sale.looks { try await sale.desk.refresh(ids[sale.show]) }
    try await sale.desk.sell(sale.count, of: ids[sale.show])
}
try store.close()
