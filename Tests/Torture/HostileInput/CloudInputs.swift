import CloudKit
import Foundation
import Glibc
import TestSupport

/// Inputs to CloudKit: formats with arguments, archives, files of assets and names of containers.
struct CloudInputs {
    private let folder: String
    private let database: CKDatabase
    private let store: CloudStore
    private let archives: [[UInt8]]

    init(_ folder: String) throws {
        self.folder = folder
        store = try CloudStore.inMemory()
        database = store.container(user: "anna", device: "phone").privateCloudDatabase
        archives = try Self.samples().map {
            Array(try NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true))
        }
        // Named containers are made below it.
        setenv("STRATA_HOME", "\(folder)/home", 1)
        mkfifo("\(folder)/pipe", 0o600)
        symlink("\(folder)/loop", "\(folder)/loop")
        let sparse = open("\(folder)/sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        ftruncate(sparse, 1 << 40)
        close(sparse)
    }

    private static func samples() -> [NSObject & NSSecureCoding] {
        let zone = CKRecordZone.ID(zoneName: "Notes", ownerName: CKCurrentUserDefaultName)
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "note", zoneID: zone))
        record["s"] = "text"
        record["n"] = 7
        record["tags"] = ["a", "b"]
        record["link"] = CKRecord.Reference(recordID: CKRecord.ID(recordName: "2", zoneID: zone), action: .deleteSelf)
        record.encryptedValues["secret"] = "hidden"
        let share = CKShare(rootRecord: record)
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "n > 3"))
        query.sortDescriptors = [NSSortDescriptor(key: "n", ascending: false)]
        return [
            record, record.recordID, zone, CKRecordZone(zoneID: zone), query,
            CKRecordZoneSubscription(zoneID: zone, subscriptionID: "z"), share, share.owner,
        ]
    }

    private func answering(_ body: () async throws -> Void) async throws {
        do { try await body() } catch is CKError {}
    }

    func predicate(_ generator: inout SeededGenerator) async throws {
        var grammar = PredicateGrammar(SeededGenerator(seed: generator.next()))
        let arguments: [Any] = [
            7, "text", Double.nan, Date.distantPast, Data([1]), [1, 2], ["a": 1], Set([1]), NSNull(),
            CLLocation(latitude: 99, longitude: 300), CKRecord.ID(recordName: "x"), [[1], ["x"]], UInt64.max,
        ]
        let chosen = (0..<generator.next(below: 4)).map { _ in arguments[generator.next(below: arguments.count)] }
        let predicate = NSPredicate(format: grammar.predicate(), argumentArray: chosen)
        let query = CKQuery(recordType: "Note", predicate: predicate)
        try await answering { _ = try await database.records(matching: query) }
    }

    func archive(_ generator: inout SeededGenerator) throws {
        var bytes = archives[generator.next(below: archives.count)]
        if generator.next(below: 6) == 0 {
            bytes = Array(bytes.prefix(generator.next(below: bytes.count)))
        } else {
            let place = generator.next(below: bytes.count)
            bytes[place] = UInt8(truncatingIfNeeded: generator.next())
        }
        let data = Data(bytes)
        // CloudKit's own method: Foundation's ends the process where an object refuses to be decoded.
        func object<Value: NSObject & NSCoding & _CKArchived>(_ type: Value.Type) -> NSObject? {
            (try? NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: data)) ?? nil
        }
        let found =
            switch generator.next(below: 8) {
            case 0: object(CKRecord.self)
            case 1: object(CKRecord.ID.self)
            case 2: object(CKRecordZone.ID.self)
            case 3: object(CKRecordZone.self)
            case 4: object(CKQuery.self)
            case 5: object(CKShare.self)
            case 6: object(CKShare.Participant.self)
            default: object(CKRecordZoneSubscription.self)
            }
        guard let object = found else { return }
        if !object.isEqual(object) { Telling.wrong("what was unarchived does not equal itself: \(object)") }
    }

    func assetSource(_ generator: inout SeededGenerator) async throws {
        let paths = [
            "pipe", "loop", "sparse", "missing", "", "/dev/zero", "/dev/null", "/proc/self/mem", "/proc/self/environ",
            "/", "/dev/full", "/dev/stdin",
        ]
        let path = paths[generator.next(below: paths.count)]
        let record = CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: "file"))
        let url = URL(fileURLWithPath: path.hasPrefix("/") ? path : "\(folder)/\(path)")
        record["asset"] = CKAsset(fileURL: url)
        try await answering {
            let saved = try await database.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
            for result in saved.saveResults.values { _ = try result.get() }
        }
    }

    /// Whatever a container is named, its store is in the home.
    func container(_ generator: inout SeededGenerator) throws {
        let names = [
            "../../x", "/etc/x", "a/../../y", "..", ".", "", "\u{0}", "iCloud.\u{0}x",
            String(repeating: "n", count: 300),
            "~", "$HOME", "iCloud.a", "iCloud.A", "e\u{301}", "\u{e9}", "a\nb",
        ]
        let before = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        _ = CKContainer(identifier: names[generator.next(below: names.count)]).description
        let after = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let new = after.filter { !before.contains($0) && $0 != "home" }
        if !new.isEmpty { Telling.wrong("a container made \(new) outside of its home") }
    }
}
