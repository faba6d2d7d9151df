import CloudKit
import TestSupport
import Testing

/// `Golden` has an archive of each class as this package first wrote it (`cloudkit-child archives`), and, with `-apple`
/// in their names, some made by hand as Apple's platforms write them: with bare class names. Later versions read them.
@Suite("Archives that were written before, here and on Apple's platforms", .timeLimit(.minutes(3)))
struct GoldenArchiveTests {
    private static let directory: String = {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        return root.joined(separator: "/") + "/Golden"
    }()

    static func path(_ name: String) -> String { "\(directory)/\(name).archive" }

    private static let own = [
        "CKRecord", "CKRecordID", "CKRecordZoneID", "CKRecordZone", "CKReference", "CKQuery", "CKDatabaseSubscription",
        "CKRecordZoneSubscription", "CKQuerySubscription", "CKNotificationInfo", "CKOperationGroup",
        "CKFetchRecordZoneChangesConfiguration", "CKServerChangeToken", "SystemFields",
    ]
    private static let apples = [
        "CKRecord-apple", "CKRecordID-apple", "CKRecordZoneID-apple", "CKRecordZone-apple", "CKReference-apple",
        "CKServerChangeToken-apple", "SystemFields-apple", "CKAsset-apple", "CKRecord-values-apple",
    ]
    /// Their values are the subject of ``AppleShareArchiveTests``.
    private static let sharing = [
        "CKShare-apple", "CKShareParticipant-apple", "CKShareMetadata-apple", "ShareSystemFields-apple",
    ]

    private func root<Value: NSObject & NSCoding & _CKArchived>(_ type: Value.Type, _ name: String) throws -> Value {
        let data = try Data(contentsOf: URL(fileURLWithPath: Self.path(name)))
        return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: data))
    }

    private func systemFields(_ name: String) throws -> CKRecord {
        let unarchiver = try NSKeyedUnarchiver(
            forReadingFrom: Data(contentsOf: URL(fileURLWithPath: Self.path(name))))
        unarchiver.requiresSecureCoding = true
        return try #require(CKRecord(coder: unarchiver))
    }

    @Test("Every file is of a test's list")
    func files() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.directory)
        #expect(Set(names) == Set((Self.own + Self.apples + Self.sharing).map { "\($0).archive" }))
    }

    // MARK: Ours

    @Test("A whole record with all its fields (B18), and its system fields (B17)")
    func records() throws {
        let zone = CKRecordZone.ID(zoneName: "Notes", ownerName: "bert")
        let record = try root(CKRecord.self, "CKRecord")
        #expect(record.recordType == "Note" && record.recordID == CKRecord.ID(recordName: "note-1", zoneID: zone))
        #expect(record.allKeys() == ["at", "d", "data", "link", "n", "place", "secret", "text", "texts"])
        #expect(record.changedKeys() == record.allKeys())
        #expect(record["text"] as? String == "Grüße" && record["n"] as? Int == 7 && record["d"] as? Double == 0.5)
        #expect(record["at"] as? Date == Date(timeIntervalSinceReferenceDate: 0.1))
        #expect(record["data"] as? Data == Data([0, 255]) && record["texts"] as? [String] == ["a", "b"])
        let place = try #require(record["place"] as? CLLocation)
        #expect(place.coordinate.latitude == 1 && place.altitude == 3 && place.verticalAccuracy == 5)
        let link = CKRecord.Reference(recordID: CKRecord.ID(recordName: "2", zoneID: zone), action: .deleteSelf)
        #expect(record["link"] as? CKRecord.Reference == link)
        #expect(record.encryptedValues["secret"] as? String == "hidden")
        #expect(record.parent?.recordID == CKRecord.ID(recordName: "parent", zoneID: zone))
        let system = try systemFields("SystemFields")
        #expect(system.recordID == record.recordID && system.recordType == "Note" && system.parent == record.parent)
        #expect(system.allKeys().isEmpty && system.changedKeys().isEmpty && system.recordChangeTag == nil)
    }

    @Test("Identifiers, zones, references, queries, subscriptions, groups")
    func others() throws {
        let zone = CKRecordZone.ID(zoneName: "Notes", ownerName: "bert")
        let id = CKRecord.ID(recordName: "note-1", zoneID: zone)
        #expect(try root(CKRecord.ID.self, "CKRecordID") == id)
        #expect(try root(CKRecordZone.ID.self, "CKRecordZoneID") == zone)
        #expect(try root(CKRecordZone.self, "CKRecordZone").zoneID == zone)
        let reference = CKRecord.Reference(recordID: id, action: .none)
        #expect(try root(CKRecord.Reference.self, "CKReference") == reference)
        let query = try root(CKQuery.self, "CKQuery")
        #expect(query.recordType == "Note" && query.predicate.description.contains("n > 3"))
        #expect(query.sortDescriptors?.first?.key == "n" && query.sortDescriptors?.first?.ascending == false)
        let database = try root(CKDatabaseSubscription.self, "CKDatabaseSubscription")
        #expect(database.subscriptionID == "d" && database.notificationInfo?.alertBody == "Hi")
        #expect(try root(CKRecordZoneSubscription.self, "CKRecordZoneSubscription").zoneID == zone)
        let subscription = try root(CKQuerySubscription.self, "CKQuerySubscription")
        #expect(subscription.querySubscriptionOptions == .firesOnRecordCreation && subscription.recordType == "Note")
        #expect(try root(CKSubscription.NotificationInfo.self, "CKNotificationInfo").desiredKeys == ["text"])
        #expect(try root(CKOperationGroup.self, "CKOperationGroup").name == "first sync")
        let token = try root(CKServerChangeToken.self, "CKServerChangeToken")
        #expect("\(token)".contains(Data("empty feed".utf8).base64EncodedString()))
        let configuration = try root(
            CKFetchRecordZoneChangesOperation.ZoneConfiguration.self, "CKFetchRecordZoneChangesConfiguration")
        #expect(configuration.resultsLimit == 7 && configuration.desiredKeys == ["text"])
    }

    // MARK: Apple's

    @Test("Records, identifiers, references and tokens that a Mac has archived (B259)")
    func genuine() throws {
        let notes = CKRecordZone.ID(zoneName: "Notes")
        let id = CKRecord.ID(recordName: "note-1", zoneID: notes)
        for record in [try root(CKRecord.self, "CKRecord-apple"), try systemFields("SystemFields-apple")] {
            #expect(record.recordType == "Note" && record.recordID == id && record.recordChangeTag == "k3x9")
            #expect(record.creationDate == Date(timeIntervalSinceReferenceDate: 700_000_000.25))
            #expect(record.modificationDate == Date(timeIntervalSinceReferenceDate: 700_000_100.5))
            #expect(record.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
            #expect(record.lastModifiedUserRecordID?.recordName == "_0123456789abcdef")
            let parent = CKRecord.ID(recordName: "parent-1", zoneID: notes)
            #expect(record.parent == CKRecord.Reference(recordID: parent, action: .none))
            #expect(record.share == nil && record.allKeys().isEmpty && record.changedKeys().isEmpty)
        }
        #expect(try root(CKRecord.ID.self, "CKRecordID-apple") == id)
        let other = CKRecordZone.ID(zoneName: "Notes", ownerName: "_0123456789abcdef")
        #expect(try root(CKRecordZone.ID.self, "CKRecordZoneID-apple") == other)
        #expect(try root(CKRecordZone.self, "CKRecordZone-apple").zoneID == notes)
        let reference = CKRecord.Reference(recordID: id, action: .deleteSelf)
        #expect(try root(CKRecord.Reference.self, "CKReference-apple") == reference)
        let token = try root(CKServerChangeToken.self, "CKServerChangeToken-apple")
        #expect("\(token)".contains(Data([1, 2] + Array("token".utf8) + [255]).base64EncodedString()))
    }

    @Test("All values of a record that a Mac has archived, which name mutable classes, and an asset")
    func values() throws {
        let record = try root(CKRecord.self, "CKRecord-values-apple")
        #expect(record.recordID.recordName == "note-1" && record.recordChangeTag == "k3x9")
        #expect(record.allKeys() == ["data", "n", "photo", "secret", "text", "texts"])
        #expect(record.changedKeys() == ["gone", "secret", "text"])
        #expect(record["text"] as? String == "from the Mac" && record["n"] as? Int == 7)
        #expect(record["data"] as? Data == Data([0, 255]) && record["texts"] as? [String] == ["a", "b"])
        #expect(record.encryptedValues["secret"] as? String == "hidden")
        #expect((record["photo"] as? CKAsset)?.fileURL?.path == "/tmp/photo")
        #expect(try root(CKAsset.self, "CKAsset-apple").fileURL?.path == "/tmp/photo")
    }

    @Test("A record that a Mac has archived is of another store: its tag is no version here")
    func foreignTag() async throws {
        let notes = try await NotesStore()
        let record = try systemFields("SystemFields-apple")
        record.parent = nil
        record["text"] = "from the Mac"
        #expect(await code { try await notes.database.save(record) } == .unknownItem)
        try await notes.database.save(notes.note("note-1"))
        #expect(await code { try await notes.database.save(record) } == .serverRecordChanged)
    }

    @Test(
        "Decoded as the first thing that a process does (B259)",
        arguments: (apples + sharing).filter { !$0.contains("SystemFields") } + ["CKRecord", "CKRecordID", "CKQuery"])
    func firstInstruction(name: String) throws {
        let child = try ChildProcess(ChildProcess.product("cloudkit-child"), ["unarchive", Self.path(name)])
        let lines = child.lines()
        let type = name.split(separator: "-").first.map { String($0) } ?? ""
        let text = type == "CKShare" ? "CKRecord: cloudkit.share" : type
        #expect(lines.count == 1 && lines.first?.hasPrefix("<\(text)") == true, "\(lines)")
    }

    // MARK: Damage

    @Test(
        "Every flipped byte and every cut gives an object, nil or an error, never a trap (B17)",
        arguments: own + apples
    )
    func damage(name: String) throws {
        try damage(name, noticing: 1.0 / 3)
    }

    @Test("The same for archives of shares, most of which is not decoded", arguments: sharing)
    func damageOfShares(name: String) throws { try damage(name, noticing: 0.2) }

    private func damage(_ name: String, noticing part: Double) throws {
        let child = try ChildProcess(ChildProcess.product("cloudkit-child"), ["damage", Self.path(name)])
        let numbers = child.lines().last?.split(separator: " ").compactMap { Int($0) } ?? []
        try #require(numbers.count == 2, "the process ended without a result")
        // Damage that nobody notices would make the test worth nothing.
        #expect(Double(numbers[1]) > part * Double(numbers[0]) && numbers[0] > 1_000, "\(numbers)")
    }
}
