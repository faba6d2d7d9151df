import CloudKit
import CoreLocation
import Foundation
import StrataJetStream
import StrataOS
import StrataPorting
import StrataPostgres
import StrataTesting

struct Failure: Error {
    let text: String
    init(_ text: String) { self.text = text }
}

// A store in a directory: the log is compressed, and hashed where it has assets.
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("client-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let picture = folder.appendingPathComponent("picture")
try Data(repeating: 7, count: 100_000).write(to: picture, options: .atomicWrite)

let zone = CKRecordZone(zoneName: "Notes")
let id = CKRecord.ID(recordName: "first", zoneID: zone.zoneID)
do {
    let store = try CloudStore(at: folder.appendingPathComponent("Notes.strata"))
    let database = store.container(user: "anna", device: "phone").privateCloudDatabase
    try await database.save(zone)
    let note = CKRecord(recordType: "Note", recordID: id)
    note["title"] = String(repeating: "Hello ", count: 1_000)
    note["picture"] = CKAsset(fileURL: picture)
    note["place"] = CLLocation(latitude: 52.5, longitude: 13.4)
    note.encryptedValues["secret"] = "nobody reads this"
    try await database.save(note)
    try store.close()
}
let store = try CloudStore(at: folder.appendingPathComponent("Notes.strata"))
let database = store.container(user: "anna", device: "tablet").privateCloudDatabase
let note = try await database.record(for: id)
guard note.encryptedValues["secret"] == "nobody reads this", let asset = note["picture"] as? CKAsset,
    let file = asset.fileURL, try Data(contentsOf: file).count == 100_000
else { throw Failure("the record is not as it was saved") }
let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "title BEGINSWITH %@", "Hello"))
let (matches, _) = try await database.records(matching: query, inZoneWith: zone.zoneID)
guard matches.count == 1 else { throw Failure("the query found \(matches.count) records") }
try store.close()

// An archive names its class as Apple's do, which a function that nothing calls has prepared. A Foundation that is
// linked statically archives nothing.
let archive = try NSKeyedArchiver.archivedData(withRootObject: id, requiringSecureCoding: true)
if CommandLine.arguments.contains("static") {
    guard archive.isEmpty else { throw Failure("a static Foundation archives: leave this out") }
} else {
    guard try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.ID.self, from: archive) == id
    else { throw Failure("the archive is not as it was written") }
}
Logger(subsystem: "client", category: "check").debug("\(NSEC_PER_SEC)")
// An address without a server says what is wrong with it.
let copy = folder.appendingPathComponent("Copy.strata")
for (name, open) in [
    ("PostgreSQL", { try CloudStore(at: copy, log: .postgres("nowhere")) }),
    ("JetStream", { try CloudStore(at: copy, log: .jetStream("nowhere")) }),
] {
    do {
        try open().close()
        throw Failure("an address of \(name) without a server was accepted")
    } catch let failure as Failure { throw failure } catch {}
}
print("\(matches.count) note, \((any SyncBenchApp).self)")
