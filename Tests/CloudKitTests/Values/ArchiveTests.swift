import StrataStore
import Testing

@testable import CloudKit

@Suite("Archives")
struct ArchiveTests {
    private func archive(_ object: some NSObject & NSSecureCoding) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }

    private func again<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
        try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: try archive(object)))
    }

    /// A record with every kind of field, some of them removed, encrypted or mistaken.
    private func sample() -> CKRecord {
        let zone = CKRecordZone.ID(zoneName: "Notes", ownerName: "bert")
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "note-1", zoneID: zone))
        record["text"] = "Grüße\n"
        record["n"] = Int64.min
        record["d"] = -0.0
        record["at"] = Date(timeIntervalSinceReferenceDate: 0.1)
        record["data"] = Data([0, 255])
        record["place"] = CLLocation(latitude: 1, longitude: 2)
        record["link"] = CKRecord.Reference(recordID: CKRecord.ID(recordName: "2", zoneID: zone), action: .deleteSelf)
        record["links"] = [CKRecord.Reference(recordID: CKRecord.ID(recordName: "3"), action: .none)]
        record["texts"] = ["a", "b"]
        record["empty"] = [Int]()
        record["file"] = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/photo"))
        record["files"] = [CKAsset(fileURL: URL(fileURLWithPath: "/tmp/1"))]
        record.encryptedValues["secret"] = "hidden"
        record.setParent(CKRecord.ID(recordName: "parent", zoneID: zone))
        return record
    }

    @Test("IDs, references, zones and locations come back equal")
    func values() throws {
        let zone = CKRecordZone.ID(zoneName: "Notes", ownerName: "bert")
        #expect(try again(zone) == zone)
        #expect(try again(CKRecordZone.ID.default) == .default)
        let id = CKRecord.ID(recordName: "note-1", zoneID: zone)
        #expect(try again(id) == id)
        let link = CKRecord.Reference(recordID: id, action: .deleteSelf)
        #expect(try again(link) == link)
        let place = CLLocation(latitude: 1.5, longitude: -2)
        #expect(try again(place) == place)
        let made = CKRecordZone(zoneID: zone)
        made.encryptionScope = .perZone
        let zoneAgain = try again(made)
        #expect(zoneAgain.zoneID == zone && zoneAgain.encryptionScope == .perZone)
    }

    @Test("B18: a record's archive keeps all fields and what was changed")
    func wholeRecord() throws {
        let record = sample()
        let copy = try again(record)
        #expect(copy.recordID == record.recordID && copy.recordType == "Note")
        #expect(copy.allKeys() == record.allKeys())
        #expect(copy.changedKeys() == record.changedKeys())
        #expect(copy["text"] as? String == "Grüße\n")
        #expect(copy["n"] as? Int64 == .min)
        #expect((copy["d"] as? Double)?.sign == .minus)
        #expect(copy["at"] as? Date == Date(timeIntervalSinceReferenceDate: 0.1))
        #expect(copy["data"] as? Data == Data([0, 255]))
        #expect(copy["place"] as? CLLocation == record["place"] as? CLLocation)
        #expect(copy["link"] as? CKRecord.Reference == record["link"] as? CKRecord.Reference)
        #expect(copy["links"] as? [CKRecord.Reference] == record["links"] as? [CKRecord.Reference])
        #expect(copy["texts"] as? [String] == ["a", "b"])
        #expect(copy["empty"] as? [Int] == [])
        #expect((copy["file"] as? CKAsset)?.fileURL?.path == "/tmp/photo")
        #expect((copy["files"] as? [CKAsset])?.first?.fileURL?.path == "/tmp/1")
        #expect(copy.encryptedValues["secret"] as? String == "hidden")
        #expect(copy.parent == record.parent)
    }

    @Test("A list of values with an asset comes back; a file that is gone is the error of the save")
    func assets() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appendingPathComponent("a photo é")
        try Data([1, 2, 3]).write(to: file)
        let values: NSArray = [NSString("title"), CKAsset(fileURL: file)]
        let data = try NSKeyedArchiver.archivedData(withRootObject: values, requiringSecureCoding: true)
        let classes: [AnyClass] = [NSArray.self, NSString.self, CKAsset.self]
        let list = try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data) as? [Any]
        let asset = try #require(list?.last as? CKAsset)
        #expect(asset.fileURL == file && list?.count == 2)
        let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
        let record = CKRecord(recordType: "Note")
        record["photo"] = asset
        let saved = try await database.save(record)
        // What a store has is archived by the file too: never by what names it in the store.
        let stored = try again(try #require(saved["photo"] as? CKAsset))
        #expect(try Data(contentsOf: try #require(stored.fileURL)) == Data([1, 2, 3]))
        try FileManager.default.removeItem(at: file)
        let next = CKRecord(recordType: "Note")
        next["photo"] = try again(asset)
        #expect(await code { try await database.save(next) } == .assetFileNotFound)
    }

    @Test("What no archive takes is a mistake of the record that comes back (B270)", arguments: [0, 1])
    func unarchivable(_ kind: Int) async throws {
        let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
        let record = try await database.save(CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "a")))
        let long = String(repeating: "k", count: 5_000)
        if kind == 0 {
            record[long] = 1
        } else {
            record["link"] = CKRecord.Reference(recordID: CKRecord.ID(recordName: long), action: .none)
        }
        let copy = try again(record)
        #expect(copy.recordID == record.recordID && copy.recordChangeTag == record.recordChangeTag)
        #expect(await code { try await database.save(copy) } == .invalidArguments)
    }

    @Test("B17: system fields leave the record's own fields out")
    func systemFields() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        sample().encodeSystemFields(with: archiver)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        let record = try #require(CKRecord(coder: unarchiver))
        #expect(record.recordID == sample().recordID && record.recordType == "Note")
        #expect(record.allKeys().isEmpty && record.changedKeys().isEmpty)
        #expect(record.parent == sample().parent)
    }

    @Test("B17: an archive of something else gives nil or an error")
    func foreign() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(NSArray(array: [1]), forKey: "RecordID")
        archiver.encode(NSString("Note"), forKey: "RecordType")
        let data = archiver.encodedData
        #expect(CKRecord(coder: try NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        #expect(CKRecord.ID(coder: try NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        #expect(CKRecord.Reference(coder: try NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        #expect(CKRecordZone(coder: try NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        #expect(CKRecordZone.ID(coder: try NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        #expect(CKServerChangeToken(coder: try NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        #expect(CLLocation(coder: try NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        let link = try archive(CKRecord.ID(recordName: "1"))
        for foreign in [link, try archive(NSArray(array: ["a"])), try archive(NSURL(string: "file:///a")!)] {
            #expect(throws: (any Error).self) {
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: foreign)
            }
        }
    }

    @Test("B17: a location's archive that is damaged, or of something else, gives nil, an error or another location")
    func damagedLocations() throws {
        let place = CLLocation(latitude: 1.5, longitude: -2)
        let whole = try archive(place)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: CLLocation.self, from: whole) == place)
        let foreign = try archive(CKRecord.ID(recordName: "1"))
        #expect(throws: (any Error).self) {
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CLLocation.self, from: foreign)
        }
        var refused = 0
        for index in whole.indices {
            for mask in [0x01, 0x10, 0x80] as [UInt8] {
                var damaged = whole
                damaged[index] ^= mask
                let read = try? NSKeyedUnarchiver.unarchivedObject(ofClass: CLLocation.self, from: damaged)
                if let read { #expect("\(read)".hasPrefix("<")) } else { refused += 1 }
            }
        }
        #expect(refused > 0)
    }

    @Test("B17: an archive with a set, at which Foundation ends the process, is an error")
    func sets() throws {
        let whole = try archive(CKRecord.ID(recordName: "1"))
        var refused = 0
        for index in whole.indices where whole[index] & 0xF0 == 0xA0 {
            // An array becomes a set of the same objects.
            var damaged = whole
            damaged[index] = 0xC0 | whole[index] & 0x0F
            do { _ = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.ID.self, from: damaged) } catch {
                if "\(error)".contains("contains a set") { refused += 1 }
            }
        }
        #expect(refused > 0)
        #expect(throws: (any Error).self) { try OperationArchive(decoding: [UInt8]("bplist00".utf8)) }
        #expect(!BinaryPropertyList(whole).hasSet)
    }

    @Test("B17: an unarchiver that something was decoded with already is no trap")
    func laterDecoding() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(NSString("Note"), forKey: "RecordType")
        sample().encodeSystemFields(with: archiver)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect(unarchiver.decodeObject(of: NSString.self, forKey: "RecordType") == "Note")
        #expect(CKRecord(coder: unarchiver)?.recordID == sample().recordID)
        #expect(CKRecordZone(coder: unarchiver) == nil)
    }

    @Test("B259: archives with Apple's bare class names are read")
    func bareNames() throws {
        let data = Data(Self.bareArchive.utf8)
        let id = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.ID.self, from: data))
        #expect(id == CKRecord.ID(recordName: "note-1", zoneID: CKRecordZone.ID(zoneName: "Notes")))
    }

    private static let bareArchive = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict>
        <key>$archiver</key><string>NSKeyedArchiver</string><key>$version</key><integer>100000</integer>
        <key>$top</key><dict><key>root</key><dict><key>CF$UID</key><integer>1</integer></dict></dict>
        <key>$objects</key><array><string>$null</string>
        <dict><key>$class</key><dict><key>CF$UID</key><integer>7</integer></dict>
        <key>RecordName</key><dict><key>CF$UID</key><integer>2</integer></dict>
        <key>ZoneID</key><dict><key>CF$UID</key><integer>3</integer></dict></dict>
        <string>note-1</string>
        <dict><key>$class</key><dict><key>CF$UID</key><integer>6</integer></dict>
        <key>ZoneName</key><dict><key>CF$UID</key><integer>4</integer></dict>
        <key>ownerName</key><dict><key>CF$UID</key><integer>5</integer></dict></dict>
        <string>Notes</string><string>__defaultOwner__</string>
        <dict><key>$classes</key><array><string>CKRecordZoneID</string><string>NSObject</string></array>
        <key>$classname</key><string>CKRecordZoneID</string></dict>
        <dict><key>$classes</key><array><string>CKRecordID</string><string>NSObject</string></array>
        <key>$classname</key><string>CKRecordID</string></dict>
        </array></dict></plist>
        """

    /// A trap would end the process, and with it the tests.
    @Test(
        "B17: every flipped byte of a record's archive gives a record, nil or an error",
        arguments: [0x01, 0x10, 0x80, 0xFF] as [UInt8])
    func flippedRecord(mask: UInt8) throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        sample().encodeSystemFields(with: archiver)
        try checkFlips(of: archiver.encodedData, mask) { CKRecord(coder: $0) }
        let whole = NSKeyedArchiver(requiringSecureCoding: true)
        sample().encode(with: whole)
        try checkFlips(of: whole.encodedData, mask) { CKRecord(coder: $0) }
    }

    @Test(
        "B17: every flipped byte of the other archives gives an object, nil or an error",
        arguments: [0x01, 0xFF] as [UInt8])
    func flippedOthers(mask: UInt8) throws {
        func encoded(_ object: some NSCoding) -> Data {
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            object.encode(with: archiver)
            return archiver.encodedData
        }
        let id = CKRecord.ID(recordName: "note-1", zoneID: CKRecordZone.ID(zoneName: "Notes"))
        try checkFlips(of: encoded(id), mask) { CKRecord.ID(coder: $0) }
        try checkFlips(of: encoded(id.zoneID), mask) { CKRecordZone.ID(coder: $0) }
        try checkFlips(of: encoded(CKRecordZone(zoneID: id.zoneID)), mask) { CKRecordZone(coder: $0) }
        let link = CKRecord.Reference(recordID: id, action: .deleteSelf)
        try checkFlips(of: encoded(link), mask) { CKRecord.Reference(coder: $0) }
        try checkFlips(of: encoded(CLLocation(latitude: 1, longitude: 2)), mask, refusing: 0.1) {
            CLLocation(coder: $0)
        }
    }

    /// Damage must also be noticed: most bytes of an archive matter.
    private func checkFlips(
        of data: Data, _ mask: UInt8, refusing part: Double = 0.3, _ read: (NSCoder) -> NSObject?
    ) throws {
        try #require(read(try NSKeyedUnarchiver(forReadingFrom: data)) != nil)
        var refused = 0
        for index in data.indices {
            var damaged = data
            damaged[index] ^= mask
            guard let unarchiver = try? NSKeyedUnarchiver(checking: damaged), let object = read(unarchiver) else {
                refused += 1
                continue
            }
            #expect(!"\(object)".isEmpty)
        }
        #expect(Double(refused) > part * Double(data.count))
    }

    @Test("B17: every flipped byte of what Foundation unarchives as a whole", arguments: [0x01, 0x80] as [UInt8])
    func flippedRoot(mask: UInt8) throws {
        let whole = try archive(sample())
        var refused = 0
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= mask
            let record = try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: damaged)
            if let record { #expect(!"\(record)".isEmpty) } else { refused += 1 }
        }
        #expect(refused > whole.count / 3)
    }

    @Test("B17: an archive that refers to itself is refused")
    func circle() {
        let zone = "<key>ZoneID</key><dict><key>CF$UID</key><integer>3"
        #expect(Self.bareArchive.contains(zone))
        let circle = Self.bareArchive.replacingOccurrences(of: zone, with: zone.dropLast() + "1")
        #expect(throws: (any Error).self) {
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.ID.self, from: Data(circle.utf8))
        }
    }

    @Test("B17: every flipped byte of an archive of Apple's", arguments: [0x01, 0x20] as [UInt8])
    func flippedForeign(mask: UInt8) throws {
        let data = Data(Self.bareArchive.utf8)
        for index in data.indices {
            var damaged = data
            damaged[index] ^= mask
            let id = try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.ID.self, from: damaged)
            if let id { #expect(!"\(id)".isEmpty) }
        }
    }

    @Test("B17: every prefix of an archive gives nil or an error")
    func prefixes() throws {
        let whole = try archive(sample())
        for count in whole.indices {
            #expect(throws: (any Error).self) {
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: whole.prefix(count))
            }
        }
    }
}
