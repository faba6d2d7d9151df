// A stocktaking whose totals are too low now and then: its program forces a save after a conflict. hunt.sh finds the
// commit, the reason, and a failing test. Clock and random numbers are fixed, so that every run makes the same store.
//     swift build && ./hunt.sh .build/debug/warehouse

import CloudKit

guard CommandLine.arguments.count == 2 else {
    FileHandle.standardError.write(Data("usage: warehouse STORE\n".utf8))
    exit(2)
}
let clock = CloudStore.ManualClock(Date(timeIntervalSince1970: 1_795_240_000))
var options = CloudStore.Options.service
options.clock = clock
options.random = CloudStore.SeededRandomNumbers(seed: 11)
let store = try CloudStore(at: URL(filePath: CommandLine.arguments[1]), options: options)
let (north, south) = (Scanner(store, hall: "north"), Scanner(store, hall: "south"))

let database = store.container(user: "anna", device: "office").privateCloudDatabase
let zone = try await database.save(CKRecordZone(zoneName: "Stock"))
let ids = ["bolts", "nuts", "screws"].map { CKRecord.ID(recordName: $0, zoneID: zone.zoneID) }
for id in ids {
    clock.advance(by: .seconds(60))
    let article = CKRecord(recordType: "Article", recordID: id)
    (article["opening"], article["north"], article["south"], article["stock"]) = (10, 0, 0, 10)
    try await database.save(article)
}

/// The scanner, how many pallets it counts of which article, and whether it refreshes the article first.
let counts: [(scanner: Scanner, pallets: Int, article: Int, refreshes: Bool)] = [
    (north, 3, 0, true), (south, 5, 1, true), (north, 2, 1, true), (south, 8, 2, true), (north, 4, 2, true),
    (south, 6, 0, true), (north, 1, 1, true), (south, 4, 2, true), (north, 5, 2, false), (south, 2, 0, true),
    (north, 2, 0, true), (south, 3, 1, true), (north, 6, 2, true), (south, 1, 2, true), (north, 1, 0, true),
]
for count in counts {
    clock.advance(by: .seconds(60))
    if count.refreshes { try await count.scanner.refresh(ids[count.article]) }
    // A conflict: the forced save is the next commit, and the note of the refused one comes after it.
    if !count.refreshes { print("planted in commit \(store.offset + 1)") }
    try await count.scanner.count(count.pallets, of: ids[count.article])
}
try store.close()
