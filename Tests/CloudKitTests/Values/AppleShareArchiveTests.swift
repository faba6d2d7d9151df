import CloudKit
import Testing

/// The archives in `Golden` are made by hand as Apple's platforms write them, with objects of classes that exist only
/// there: `CKContainerID`, `CKEncryptedData`, `NSPersonNameComponents`, value stores.
@Suite("Archives of shares from Apple's platforms", .timeLimit(.minutes(3)))
struct AppleShareArchiveTests {
    private static let files = ["CKShare-apple", "CKShareParticipant-apple", "CKShareMetadata-apple"]
    private let lists = CKRecordZone.ID(zoneName: "Lists")

    private func data(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: GoldenArchiveTests.path(name)))
    }

    private func root<Value: NSObject & NSCoding & _CKArchived>(_ type: Value.Type, _ data: Data) throws -> Value {
        try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: data))
    }

    /// Returns an archive with its objects changed.
    private func edited(_ data: Data, _ edit: (inout [Any]) throws -> Void) throws -> Data {
        var archive = try #require(
            try PropertyListSerialization.propertyList(from: data, options: [], format: nil) as? [String: Any])
        var objects = try #require(archive["$objects"] as? [Any])
        try edit(&objects)
        archive["$objects"] = objects
        return try PropertyListSerialization.data(fromPropertyList: archive, format: .binary, options: 0)
    }

    /// Returns an archive in which a class has another name; nil if no object has the class.
    private func renamed(_ data: Data, _ name: String, to other: String = "OfNoPlatform") throws -> Data? {
        var isFound = false
        let renamed = try edited(data) { objects in
            for place in objects.indices {
                guard var object = objects[place] as? [String: Any], object["$classname"] as? String == name else {
                    continue
                }
                object["$classname"] = other
                object["$classes"] = [other, "NSObject"]
                objects[place] = object
                isFound = true
            }
        }
        return isFound ? renamed : nil
    }

    private func check(_ share: CKShare) throws {
        #expect(share.recordType == "cloudkit.share" && share.recordChangeTag == "k3x9")
        #expect(share.recordID == CKRecord.ID(recordName: "Share-1", zoneID: lists))
        let url = "https://www.icloud.com/share/0abCDefGHijKLmnOPqrSTuvWX#Shopping%20list"
        #expect(share.url?.absoluteString == url)
        #expect(share.publicPermission == .none && share.allowsAccessRequests)
        #expect(share.participants.map(\.participantID) == ["P-ANNA", "P-BEN", "P-CARL"])
        let (anna, ben, carl) = (share.owner, share.participants[1], share.participants[2])
        #expect(anna.participantID == "P-ANNA" && anna.role == .owner && anna.permission == .readWrite)
        #expect(share.currentUserParticipant === anna)
        #expect(anna.userIdentity.nameComponents?.familyName == "Lee" && anna.userIdentity.hasiCloudAccount)
        try check(ben)
        #expect(carl.acceptanceStatus == .pending && carl.permission == .readOnly && carl.role == .privateUser)
        #expect(carl.userIdentity.lookupInfo?.phoneNumber == "+491701234567")
        #expect(carl.userIdentity.userRecordID == nil && carl.userIdentity.nameComponents == nil)
        #expect(!carl.userIdentity.hasiCloudAccount)
    }

    private func check(_ ben: CKShare.Participant) throws {
        #expect(ben.participantID == "P-BEN" && ben.role == .privateUser && ben.isApprovedRequester)
        #expect(ben.acceptanceStatus == .accepted && ben.permission == .readWrite)
        #expect(ben.userIdentity.userRecordID?.recordName == "_ben" && ben.userIdentity.hasiCloudAccount)
        #expect(ben.userIdentity.lookupInfo == CKUserIdentity.LookupInfo(emailAddress: "ben@example.com"))
        let name = try #require(ben.userIdentity.nameComponents)
        #expect(name.givenName == "Ben" && name.familyName == "Okri" && name.nickname == nil)
    }

    @Test("A share, as share and as record, with its fields")
    func share() throws {
        let share = try root(CKShare.self, data("CKShare-apple"))
        try check(share)
        #expect(share[CKShare.SystemFieldKey.title] == "Shopping list" && share.changedKeys().isEmpty)
        let record = try root(CKRecord.self, data("CKShare-apple"))
        try check(try #require(record as? CKShare))
    }

    @Test("The system fields of a share, which clients keep")
    func systemFields() throws {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data("ShareSystemFields-apple"))
        unarchiver.requiresSecureCoding = true
        let share = try #require(CKShare(coder: unarchiver))
        try check(share)
        #expect(share.allKeys().isEmpty)
        let record = CKRecord(coder: try NSKeyedUnarchiver(forReadingFrom: data("ShareSystemFields-apple")))
        #expect(record?.recordChangeTag == "k3x9")
    }

    @Test("A participant, and the metadata that an app is opened with")
    func others() throws {
        try check(try root(CKShare.Participant.self, data("CKShareParticipant-apple")))
        let metadata = try root(CKShare.Metadata.self, data("CKShareMetadata-apple"))
        try check(metadata.share)
        #expect(metadata.containerIdentifier == "iCloud.com.example.lists")
        let list = CKRecord.ID(recordName: "list-1", zoneID: lists)
        #expect(metadata.hierarchicalRootRecordID == list && metadata.rootRecord?.recordID == list)
        #expect(metadata.participantRole == .privateUser && metadata.participantStatus == .pending)
        #expect(metadata.participantPermission == .readWrite)
        #expect(metadata.ownerIdentity.userRecordID?.recordName == "_anna")
        #expect(metadata.ownerIdentity.nameComponents?.givenName == "Anna")
    }

    @Test("Archived here again, a share keeps all it has, its URL too; the service's share is none of a store's")
    func again() async throws {
        let share = try root(CKShare.self, data("CKShare-apple"))
        let archive = try NSKeyedArchiver.archivedData(withRootObject: share, requiringSecureCoding: true)
        let again = try root(CKShare.self, archive)
        try check(again)
        let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: lists))
        #expect(await code { try await database.save(again) } == .unknownItem)
        let metadata = try root(CKShare.Metadata.self, data("CKShareMetadata-apple"))
        let twice = try NSKeyedArchiver.archivedData(withRootObject: metadata, requiringSecureCoding: true)
        try check(try root(CKShare.Metadata.self, twice).share)
    }

    @Test("Numbers of no case are unknown", arguments: [-1, 0, 5, 1 << 40])
    func numbers(_ number: Int) throws {
        let archive = try edited(data("CKShareParticipant-apple")) { objects in
            for place in objects.indices {
                guard var object = objects[place] as? [String: Any], object["ParticipantID"] != nil else { continue }
                for key in ["Type", "Permission", "AcceptanceStatus"] { object[key] = number }
                objects[place] = object
            }
        }
        let participant = try root(CKShare.Participant.self, archive)
        #expect(participant.role == .unknown && participant.permission == .unknown)
        #expect(participant.acceptanceStatus == .unknown && participant.participantID == "P-BEN")
    }

    /// The classes without which nothing of these archives can be read.
    private static let needed = [
        "CKShare", "CKShareParticipant", "CKRecordID", "CKRecordZoneID", "CKUserIdentity", "CKUserIdentityLookupInfo",
        "NSMutableArray", "NSDate",
    ]

    @Test("Unknown classes are opaque: only those that hold what is read refuse the archive")
    func opaque() throws {
        let whole = try data("CKShare-apple")
        for name in Self.needed {
            let archive = try #require(try renamed(whole, name), "\(name)")
            #expect(throws: (any Error).self, "\(name)") { try root(CKShare.self, archive) }
        }
        let opaque = [
            "CKContainerID", "CKEncryptedData", "NSPersonNameComponents", "_NSPersonNameComponentsData",
            "CKOneTimeURLMetadata", "CKRecordValueStore", "CKEncryptedRecordValueStore", "NSMutableSet",
            "NSMutableData", "NSURL",
        ]
        for name in opaque {
            let archive = try #require(try renamed(whole, name), "\(name)")
            try check(try root(CKShare.self, archive))
        }
    }

    private func read(_ archive: Data, of file: String) -> NSObject? {
        switch file {
        case "CKShare-apple": try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: archive)
        case "CKShareMetadata-apple":
            try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.Metadata.self, from: archive)
        default: try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.Participant.self, from: archive)
        }
    }

    @Test("Every class under every other name gives an object or an error, never a trap", arguments: files)
    func renames(file: String) throws {
        let whole = try data(file)
        let names =
            Self.needed + [
                "CKShareMetadata", "CKRecord", "CKAsset", "CKQuery", "NSString", "NSDictionary", "NSError", "NSUUID",
                "NSSet", "NSURL", "NSObject", "CKContainerID", "NSPersonNameComponents", "_NSPersonNameComponentsData",
                "",
            ]
        var (count, refused) = (0, 0)
        for name in names where try renamed(whole, name) != nil {
            for other in names where other != name {
                let archive = try #require(try renamed(whole, name, to: other))
                count += 1
                if read(archive, of: file) == nil { refused += 1 }
            }
        }
        #expect(count > 100 && refused > count / 3 && refused < count)
    }

    @Test("A reference to any other object, circles too, gives an object or an error, never a trap", arguments: files)
    func references(file: String) throws {
        let whole = try data(file)
        var references: [Any] = []
        _ = try edited(whole) { objects in
            for case let object as [String: Any] in objects {
                references += object.values.filter { "\(type(of: $0))" == "_NSKeyedArchiverUID" }
            }
        }
        try #require(references.count > 20)
        var refused = 0
        for number in 0..<300 {
            let archive = try edited(whole) { objects in
                let owners = objects.indices.filter { (objects[$0] as? [String: Any])?["$class"] != nil }
                let place = owners[number * 7 % owners.count]
                guard var object = objects[place] as? [String: Any] else { return }
                let keys = object.keys.sorted()
                object[keys[number % keys.count]] = references[number * 31 % references.count]
                objects[place] = object
            }
            if read(archive, of: file) == nil { refused += 1 }
        }
        #expect(refused > 30 && refused < 300)
    }
}
