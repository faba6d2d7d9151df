import CloudKit
import Testing

/// A type of a program's own that says it is a value.
private struct Shape: CKRecordValueProtocol {}

@Suite("Fields of a record, before it is saved")
struct FieldTests {
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "note-1"))

    @Test("B10: a new record has no keys, and an unset key gives nil")
    func empty() {
        #expect(record.allKeys().isEmpty)
        #expect(record["title"] == nil as String?)
        #expect(record.object(forKey: "title") == nil)
        #expect(Array(record).isEmpty)
    }

    @Test("Values can be set and read by the names that key-value coding has")
    func keyValueCoding() async throws {
        record.setValue("Groceries", forKey: "title")
        #expect(record.value(forKey: "title") as? String == "Groceries")
        record.setValue(3, forKey: "n")
        #expect(record.value(forKey: "n") as? Int == 3 && record["n"] as? Int == 3)
        record.setValue(Date(timeIntervalSinceReferenceDate: 1), forKey: "date")
        #expect(record.value(forKey: "date") as? Date == Date(timeIntervalSinceReferenceDate: 1))
        record.setValue(["a", "b"], forKey: "list")
        record.setValue(["a", 1.5] as [Any], forKey: "mixed")
        record.setValue([1, 2.5] as [Any], forKey: "numbers")
        #expect(record.value(forKey: "list") as? [String] == ["a", "b"])
        #expect(record.value(forKey: "numbers") as? [Double] == [1, 2.5])
        let text: String? = "optional"
        record.setValue(text, forKey: "optional")
        #expect(record["optional"] as? String == "optional")
        let none: String? = nil
        record.setValue(none, forKey: "optional")
        record.setValue(none as Any, forKey: "n")
        record.setValue(nil, forKey: "list")
        #expect(record.value(forKey: "none") == nil && record.value(forKey: "n") == nil)
        // What cannot be kept has no value until the save says why.
        #expect(record.allKeys() == ["date", "numbers", "title"])
        let reference = CKRecord.Reference(recordID: CKRecord.ID(recordName: "2"), action: .none)
        record.setValue(reference, forKey: CKRecord.SystemFieldKey.parent)
        #expect(record.parent == reference)
        let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
        for mistake: Any in [["a", 1.5] as [Any], URL(fileURLWithPath: "/x"), [UUID()], ["a": 1]] {
            let record = CKRecord(recordType: "Note")
            record.setValue(mistake, forKey: "value")
            #expect(await code { try await database.save(record) } == .invalidArguments)
        }
    }

    @Test("B11: numbers come out as every type that holds them exactly")
    func numbers() {
        record["n"] = 3
        #expect(record["n"] as? Int == 3)
        #expect(record["n"] as? NSNumber == 3)
        #expect(record["n"] as? Double == 3)
        #expect(record["n"] as? UInt8 == 3)
        let asked: Int64? = record["n"]
        #expect(asked == 3)
        record["d"] = 2.5
        #expect(record["d"] as? Double == 2.5)
        #expect(record["d"] as? Int == nil)
        #expect(record["d"] as? NSNumber == 2.5)
        record["f"] = Float(0.5)
        #expect(record["f"] as? Float == 0.5)
        record["flag"] = true
        #expect(record["flag"] as? Bool == true)
        #expect(record["flag"] as? Int == 1)
        record["u"] = UInt32.max
        #expect(record["u"] as? Int64 == 4_294_967_295)
        record["least"] = Int64.min
        #expect(record["least"] as? Int64 == .min)
        record["number"] = NSNumber(value: 1.5)
        #expect(record["number"] as? Double == 1.5)
    }

    @Test("B11: strings, dates, data, locations, references and assets")
    func others() throws {
        record["s"] = "Groceries"
        #expect(record["s"] as? String == "Groceries")
        #expect(record["s"] as? NSString == "Groceries")
        let text: String? = record["s"]
        #expect(text == "Groceries")
        record["data"] = Data([1, 2])
        #expect(record["data"] as? Data == Data([1, 2]))
        #expect((record["data"] as? NSData)?.length == 2)
        let place = CLLocation(
            coordinate: .init(latitude: 1.25, longitude: -3), altitude: 4, horizontalAccuracy: 5, verticalAccuracy: 6,
            course: 7, speed: 8, timestamp: Date(timeIntervalSinceReferenceDate: 9.1))
        record["place"] = place
        #expect(record["place"] as? CLLocation == place)
        let link = CKRecord.Reference(recordID: CKRecord.ID(recordName: "2"), action: .deleteSelf)
        record["link"] = link
        #expect(record["link"] as? CKRecord.Reference == link)
        record["file"] = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/photo"))
        #expect((record["file"] as? CKAsset)?.fileURL?.path == "/tmp/photo")
    }

    @Test(
        "B251: a date comes back bit for bit",
        arguments: [0.1, -1e-300, 1e17, 788_918_400.123456789, .greatestFiniteMagnitude])
    func dates(seconds: Double) throws {
        record["at"] = Date(timeIntervalSinceReferenceDate: seconds)
        let date = try #require(record["at"] as? Date)
        #expect(date.timeIntervalSinceReferenceDate.bitPattern == seconds.bitPattern)
        record["all"] = [NSDate(timeIntervalSinceReferenceDate: seconds)] as NSArray
        let first = try #require((record["all"] as? [Date])?.first)
        #expect(first.timeIntervalSinceReferenceDate.bitPattern == seconds.bitPattern)
    }

    @Test("B11: arrays of each kind")
    func arrays() {
        record["texts"] = ["a", "b"]
        #expect(record["texts"] as? [String] == ["a", "b"])
        #expect((record["texts"] as? NSArray)?.count == 2)
        #expect(record["texts"] as? [NSString] == ["a", "b"])
        record["numbers"] = [1, 2]
        #expect(record["numbers"] as? [Int] == [1, 2])
        #expect(record["numbers"] as? [NSNumber] == [1, 2])
        #expect(record["numbers"] as? [Double] == [1, 2])
        record["empty"] = [String]()
        #expect(record["empty"] as? [Int] == [])
        #expect(record.allKeys().contains("empty"))
        record["mixed"] = [NSNumber(value: 1), NSNumber(value: 2.5)]
        #expect(record["mixed"] as? [Double] == [1, 2.5])
        let links = [CKRecord.Reference(recordID: CKRecord.ID(recordName: "2"), action: .none)]
        record["links"] = links
        #expect(record["links"] as? [CKRecord.Reference] == links)
        let asked: [CKRecord.Reference]? = record["links"]
        #expect(asked == links)
        record["places"] = [CLLocation(latitude: 1, longitude: 2)]
        #expect((record["places"] as? [CLLocation])?.count == 1)
    }

    @Test("B12: setting nil removes the key")
    func removing() {
        record["a"] = 1
        record["b"] = "2"
        record["a"] = nil
        #expect(record.allKeys() == ["b"])
        record["b"] = nil as String?
        #expect(record.allKeys().isEmpty)
        record.setObject("x" as NSString, forKey: "c")
        record.setObject(nil, forKey: "c")
        #expect(record.object(forKey: "c") == nil)
    }

    @Test("B13, B14: what was set is changed; what was set and cleared, and never saved, is not")
    func changes() {
        record["a"] = 1
        record["b"] = 2
        #expect(record.changedKeys().sorted() == ["a", "b"])
        record["a"] = nil
        #expect(record.changedKeys() == ["b"])
    }

    @Test("B15: values are copied when they are set")
    func copies() {
        let text = NSMutableString(string: "before")
        record["s"] = text
        text.append(" and after")
        #expect(record["s"] as? String == "before")
        let list = NSMutableArray(array: ["a"])
        record.setObject(list, forKey: "list")
        list.add("b")
        #expect(record["list"] as? [String] == ["a"])
        let data = NSMutableData(data: Data([1]))
        record["data"] = data
        data.append(Data([2]))
        #expect(record["data"] as? Data == Data([1]))
    }

    @Test("B16: a new record has no tag, dates or users")
    func unsaved() {
        #expect(record.recordChangeTag == nil)
        #expect(record.creationDate == nil && record.modificationDate == nil)
        #expect(record.creatorUserRecordID == nil && record.lastModifiedUserRecordID == nil)
        #expect(record.share == nil && record.parent == nil)
    }

    @Test("B19: tokens are the words of all strings")
    func tokens() {
        record["title"] = "Milk and\nbread"
        record["body"] = "  two   spaces "
        record["n"] = 4
        record["list"] = ["not these"]
        #expect(record.allTokens().sorted() == ["Milk", "and", "bread", "spaces", "two"])
    }

    @Test("B20: the parent is a reference without action")
    func parent() {
        let list = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "list-1"))
        record.setParent(list)
        #expect(record.parent == CKRecord.Reference(recordID: list.recordID, action: .none))
        record.setParent(CKRecord.ID(recordName: "list-2"))
        #expect(record.parent?.recordID.recordName == "list-2")
        #expect(record[CKRecord.SystemFieldKey.parent] as? CKRecord.Reference == record.parent)
        record.setParent(nil as CKRecord?)
        #expect(record.parent == nil)
        record.setParent(list.recordID)
        record.setParent(nil)
        #expect(record.parent == nil)
        #expect(record.allKeys().isEmpty && record.changedKeys().isEmpty)
    }

    @Test("B21: encrypted values are apart from the others")
    func encrypted() {
        record.encryptedValues["secret"] = "hidden"
        record["open"] = 1
        #expect(record.encryptedValues["secret"] as? String == "hidden")
        let asked: String? = record.encryptedValues["secret"]
        #expect(asked == "hidden")
        #expect(record.encryptedValues.allKeys() == ["secret"])
        #expect(record.encryptedValues.changedKeys() == ["secret"])
        #expect(record["secret"] as? String == nil)
        #expect(record.map { $0.0 } == ["open"])
        record.encryptedValues["secret"] = nil
        #expect(record.encryptedValues.allKeys().isEmpty)
    }

    @Test("B12, B13: all keys and the changed keys include those of encrypted values, each key once")
    func encryptedKeysAmongAll() {
        record.encryptedValues["secret"] = "hidden"
        record["open"] = 1
        #expect(record.allKeys() == ["open", "secret"] && record.changedKeys() == ["open", "secret"])
        record["secret"] = "plain"
        #expect(record.allKeys() == ["open", "secret"] && record.encryptedValues.allKeys().isEmpty)
        record.encryptedValues["open"] = CKRecord.Reference(record: record, action: .none)
        #expect(record.allKeys() == ["secret"] && record.changedKeys() == ["open", "secret"])
    }

    @Test("B270: values that cannot be kept do not trap")
    func illegal() {
        record["shape"] = Shape()
        record["nested"] = [[1], [2]]
        record["large"] = UInt64.max
        record["several"] = NSArray(array: ["a", 1])
        record["foreign"] = NSArray(array: [Set([1])])
        record.encryptedValues["link"] = CKRecord.Reference(record: record, action: .none)
        #expect(record.allKeys().isEmpty)
        #expect(record["shape"] == nil as String?)
        #expect(record.changedKeys().count == 6)
    }

    @Test("A record is a sequence of its keys and values")
    func iteration() {
        record["a"] = 1
        record["b"] = "two"
        var found: [String: String] = [:]
        for (key, value) in record { found[key] = "\(value)" }
        #expect(found == ["a": "1", "b": "two"])
        #expect(record.map { $0.0 }.sorted() == ["a", "b"])
    }

    @Test("A record in one line: type, name, tag and fields")
    func text() {
        record["title"] = "two\nlines"
        record["n"] = 7
        let text = "\(record)"
        for part in ["Note", "note-1", "_defaultZone", "tag none", #"title: "two\nlines""#, "n: 7"] {
            #expect(text.contains(part))
        }
        #expect(!text.contains("\n"))
        #expect(String(reflecting: record) == text)
    }

    @Test("A record in one line, whatever names are in it")
    func textOfBadNames() {
        let bad = "two\nlines"
        let record = CKRecord(
            recordType: bad, recordID: CKRecord.ID(recordName: bad, zoneID: CKRecordZone.ID(zoneName: bad)))
        record[bad] = 1
        record["link"] = CKRecord.Reference(record: record, action: .none)
        record["file"] = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/" + bad))
        record["n"] = UInt64.max
        record.encryptedValues[bad + "2"] = 1
        let text = "\(record)"
        #expect(!text.contains("\n"))
    }

    @Test("Dates that are none have a text as well")
    func textOfNoDate() {
        let never = Date(timeIntervalSinceReferenceDate: .nan)
        record["at"] = never
        #expect("\(record)".contains("at: "))
        let place = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 1, longitude: 2), altitude: 0, horizontalAccuracy: 0,
            verticalAccuracy: 0, timestamp: never)
        #expect("\(place)".hasPrefix("<1.0,2.0>"))
    }

    @Test("Removing an encrypted value leaves the plain one of the key alone, also where not all was fetched")
    func removedElsewhere() async throws {
        let notes = try await NotesStore()
        try await notes.database.save(notes.note("a", "there"))
        let partial = try #require(
            try await notes.database.records(for: [notes.id("a")], desiredKeys: ["text"])[notes.id("a")]?.get())
        partial.encryptedValues["text"] = nil as String?
        #expect(partial["text"] as? String == "there")
        partial["text"] = "set"
        partial["more"] = "set too"
        for key in ["text", "more"] { partial.encryptedValues[key] = nil as String? }
        #expect(partial["text"] as? String == "set" && partial["more"] as? String == "set too")
        #expect(partial.changedKeys() == ["more", "text"])
        partial["absent"] = nil as String?
        #expect(partial.changedKeys() == ["absent", "more", "text"])
        #expect(try await notes.database.save(partial)["text"] as? String == "set")
    }

    @Test("Values of Objective-C's names: what programs cast to CKRecordValue")
    func castValues() {
        let title = "Groceries"
        record["title"] = title as CKRecordValue
        record.setObject(5 as NSNumber, forKey: "n")
        record.setObject(title as CKRecordValue, forKey: "other")
        #expect(record.object(forKey: "title") as? String == "Groceries")
        #expect(record.object(forKey: "n") as? Int == 5)
        #expect(record["other"] as? String == title)
    }
}
