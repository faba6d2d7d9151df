import CloudKit
import Testing

// Factories of clients, which compile in both language modes.

extension CKContainer {
    static func made(_ name: String) -> Self { Self(identifier: name) }
}

extension CKNotification {
    static func made(_ dictionary: [AnyHashable: Any]) -> Self? { Self(fromRemoteNotificationDictionary: dictionary) }
}

extension NSPredicate {
    static func made(_ format: String, _ arguments: [Any]? = nil) -> Self {
        arguments == nil ? Self(format: format) : Self(format: format, argumentArray: arguments)
    }
}

extension NSSortDescriptor {
    static func made(_ key: String) -> Self { Self(key: key, ascending: false) }
}

@Suite("Scenarios of factories in extensions")
struct FactoryTests {
    @Test("Self(…) makes what the class makes")
    func made() throws {
        let store = try CloudStore.inMemory()
        try CloudStore.with(store, forContainer: "iCloud.factory", user: "anna") {
            #expect(CKContainer.made("iCloud.factory") === CKContainer(identifier: "iCloud.factory"))
        }
        #expect(CKNotification.made(["aps": [String: Any]()]) == nil && CKQueryNotification.made([:]) == nil)
        let change: [String: Any] = ["sid": "s", "zid": "Notes", "zoid": "__defaultOwner__", "dbs": 1]
        let payload: [String: Any] = ["ce": 2, "cid": "iCloud.factory", "nid": "n", "fet": change]
        #expect(CKNotification.made(["aps": [String: Any](), "ck": payload])?.containerIdentifier == "iCloud.factory")
        #expect(NSPredicate.made("n > 3").description.contains("n > 3"))
        #expect(NSPredicate.made("n > %d", [3]).description.contains("n > 3"))
        let descriptor = NSSortDescriptor.made("n")
        #expect(descriptor.key == "n" && !descriptor.ascending)
    }

    @Test("A compound of a format is asked like the format")
    func compound() async throws {
        let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
        for number in 1...3 {
            let note = CKRecord(recordType: "Note")
            note["n"] = number
            try await database.save(note)
        }
        let query = CKQuery(recordType: "Note", predicate: NSCompoundPredicate(format: "n > 1"))
        #expect(try await database.records(matching: query).matchResults.count == 2)
    }
}
