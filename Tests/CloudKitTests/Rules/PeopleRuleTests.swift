import CloudKit
import TestSupport
import Testing

@testable import CloudKit

/// People: what others find of a user, and who may find whom.
@Suite("People")
struct PeopleRuleTests {
    private let store: CloudStore
    private let phone: CKContainer
    private let bert: CKContainer

    init() throws {
        store = try CloudStore.inMemory()
        phone = store.container(user: "anna", device: "phone")
        bert = store.container(user: "bert")
        var name = PersonNameComponents()
        (name.givenName, name.familyName, name.nickname) = ("Anna", "Example", "Ann")
        try store.console.addUser(
            "anna", nameComponents: name, emails: ["Anna@example.com"], phones: ["+1 (415) 555-0100"])
    }

    private func code<Value>(_ body: () async throws -> Value) async -> CKError.Code? {
        do {
            _ = try await body()
            return nil
        } catch { return (error as? CKError)?.code }
    }

    @Test("B384: a user's record ID is the same on all devices, and needs an account")
    @available(*, deprecated, message: "it tests what is deprecated")
    func userRecordID() async throws {
        let id = try await phone.userRecordID()
        #expect(id.recordName == phone.client.userRecordName && id.zoneID == .default)
        #expect(try await store.container(user: "anna", device: "tablet").userRecordID() == id)
        #expect(try await bert.userRecordID() != id)
        #expect(await code { try await store.container(user: nil).userRecordID() } == .notAuthenticated)
    }

    @Test("B385: creator and modifier are the current user, or named by their record")
    @available(*, deprecated, message: "it tests what is deprecated")
    func creators() async throws {
        let saved = try await phone.publicCloudDatabase.save(CKRecord(recordType: "Note"))
        #expect(saved.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
        let seen = try await bert.publicCloudDatabase.record(for: saved.recordID)
        let anna = try await phone.userRecordID()
        #expect(seen.creatorUserRecordID == anna && seen.lastModifiedUserRecordID == anna)
    }

    @Test("B388: a user is found once it was granted, by any address")
    @available(*, deprecated, message: "it tests what is deprecated")
    func discovery() async throws {
        let id = try await phone.userRecordID()
        #expect(try await bert.userIdentity(forEmailAddress: "anna@example.com") == nil)
        #expect(try await phone.applicationPermissionStatus(for: .userDiscoverability) == .initialState)
        #expect(try await phone.requestApplicationPermission(.userDiscoverability) == .granted)
        let tablet = store.container(user: "anna", device: "tablet")
        #expect(try await tablet.applicationPermissionStatus(for: .userDiscoverability) == .granted)
        let offset = store.offset
        #expect(try await tablet.requestApplicationPermission(.userDiscoverability) == .granted)
        #expect(store.offset == offset)
        let found = try #require(try await bert.userIdentity(forEmailAddress: "ANNA@example.com"))
        #expect(found.userRecordID == id && found.hasiCloudAccount && found.contactIdentifiers.isEmpty)
        #expect(found.nameComponents?.givenName == "Anna" && found.nameComponents?.nickname == "Ann")
        #expect(found.nameComponents?.middleName == nil)
        #expect(found.lookupInfo == CKUserIdentity.LookupInfo(emailAddress: "ANNA@example.com"))
        #expect(try await bert.userIdentity(forPhoneNumber: "14155550100")?.userRecordID == id)
        #expect(try await bert.userIdentity(forUserRecordID: id)?.nameComponents == found.nameComponents)
        let own = CKRecord.ID(recordName: CKCurrentUserDefaultName)
        #expect(try await phone.userIdentity(forUserRecordID: own)?.userRecordID == id)
        // Nobody has it, or has granted to be found.
        #expect(try await bert.userIdentity(forPhoneNumber: "1") == nil)
        #expect(try await phone.userIdentity(forUserRecordID: try await bert.userRecordID()) == nil)
        let emails = ["anna@example.com", "none@example.com", "anna@example.com"]
        #expect(try await Array(bert.userIdentities(forEmailAddresses: emails).keys) == ["anna@example.com"])
        #expect(try await bert.userIdentities(forPhoneNumbers: ["1", "+1 415 5550100"]).count == 1)
        #expect(try await bert.userIdentities(forUserRecordIDs: [id, own])[id]?.userRecordID == id)
    }

    @Test("B388: a user whom the console made deny is not found, and is not asked again")
    @available(*, deprecated, message: "it tests what is deprecated")
    func denied() async throws {
        try store.console.setDiscoverable(false, for: "anna")
        #expect(try await phone.requestApplicationPermission(.userDiscoverability) == .denied)
        #expect(try await bert.userIdentity(forEmailAddress: "anna@example.com") == nil)
        try store.console.setDiscoverable(true, for: "anna")
        #expect(try await bert.userIdentity(forEmailAddress: "anna@example.com") != nil)
    }

    @Test("Handlers get what the asynchronous forms return")
    @available(*, deprecated, message: "it tests what is deprecated")
    func handlers() async throws {
        try store.console.setDiscoverable(true, for: "anna")
        let id = try await phone.userRecordID()
        let bert = bert
        let one = await withCheckedContinuation { done in
            bert.discoverUserIdentity(withEmailAddress: "anna@example.com") { done.resume(returning: ($0, $1 == nil)) }
        }
        #expect(one.0?.userRecordID == id && one.1)
        let none = await withCheckedContinuation { done in
            bert.discoverUserIdentity(withPhoneNumber: "1") { done.resume(returning: $0 == nil && $1 == nil) }
        }
        #expect(none)
        let several = await withCheckedContinuation { done in
            bert.discoverUserIdentities(forUserRecordIDs: [id]) { done.resume(returning: try? $0.get().count) }
        }
        #expect(several == 1)
        let status = await withCheckedContinuation { done in
            bert.status(forApplicationPermission: .userDiscoverability) { status, _ in done.resume(returning: status) }
        }
        #expect(status == .initialState)
        let asked = await withCheckedContinuation { done in
            store.container(user: nil).requestApplicationPermission(.userDiscoverability) { status, error in
                done.resume(returning: status == .couldNotComplete && (error as? CKError)?.code == .notAuthenticated)
            }
        }
        #expect(asked)
    }

    @Test("B388, B389: the operations find who is found, and nobody among no contacts")
    @available(*, deprecated, message: "it tests what is deprecated")
    func operations() async throws {
        try store.console.setDiscoverable(true, for: "anna")
        let journal = Journal()
        let infos = CKUserIdentity.LookupInfo.lookupInfos(withEmails: ["anna@example.com", "none@example.com"])
        let some = CKDiscoverUserIdentitiesOperation(userIdentityLookupInfos: infos)
        some.userIdentityDiscoveredBlock = { journal.add("\($0.nameComponents?.givenName ?? "") \($1 == infos[0])") }
        some.discoverUserIdentitiesResultBlock = { journal.add("result", $0) }
        some.discoverUserIdentitiesCompletionBlock = { _ in journal.add("never") }
        await run(some)
        let all = CKDiscoverAllUserIdentitiesOperation()
        all.userIdentityDiscoveredBlock = { _ in journal.add("never") }
        all.discoverAllUserIdentitiesCompletionBlock = { journal.add("completion \($0 == nil)") }
        await run(all)
        #expect(journal.entries == ["Anna true", "result success", "completion true"])
        #expect(try await bert.allUserIdentitiesFromContacts().isEmpty)
    }

    @Test("Without an account nobody is looked up, and the console's faults strike")
    @available(*, deprecated, message: "it tests what is deprecated")
    func faults() async throws {
        let nobody = store.container(user: nil)
        #expect(await code { try await nobody.userIdentity(forEmailAddress: "anna@example.com") } == .notAuthenticated)
        #expect(await code { try await nobody.allUserIdentitiesFromContacts() } == .notAuthenticated)
        #expect(
            await code { try await nobody.applicationPermissionStatus(for: .userDiscoverability) } == .notAuthenticated)
        try store.console.failNext(of: .fetchUserIdentities, with: .zoneBusy)
        #expect(await code { try await bert.userIdentity(forEmailAddress: "anna@example.com") } == .zoneBusy)
        try store.console.setNetwork(.unavailable, on: "phone")
        #expect(
            await code { try await phone.requestApplicationPermission(.userDiscoverability) } == .networkUnavailable)
        try store.console.clearFaults()
        try store.console.loseNextResponse()
        #expect(
            await code { try await phone.requestApplicationPermission(.userDiscoverability) } == .serverResponseLost)
        #expect(try await phone.applicationPermissionStatus(for: .userDiscoverability) == .granted)
    }

    @Test("B390: a user record is fetched by ID, changed by its user alone, and says nothing of the name")
    @available(*, deprecated, message: "it tests what is deprecated")
    func userRecords() async throws {
        try store.console.setDiscoverable(true, for: "anna")
        let own = try await phone.publicCloudDatabase.save(CKRecord(recordType: "Note"))
        _ = own
        let id = try await phone.userRecordID()
        let record = try await phone.publicCloudDatabase.record(for: id)
        record["givenName"] = "Eve"
        try await phone.publicCloudDatabase.save(record)
        let seen = try await bert.publicCloudDatabase.record(for: id)
        #expect(seen["givenName"] as? String == "Eve")
        #expect(try await bert.userIdentity(forUserRecordID: id)?.nameComponents?.givenName == "Anna")
        seen["givenName"] = "Mallory"
        #expect(await code { try await bert.publicCloudDatabase.save(seen) } == .permissionFailure)
        let query = CKQuery(recordType: "Users", predicate: NSPredicate(value: true))
        #expect(await code { try await bert.publicCloudDatabase.records(matching: query) } == .invalidArguments)
    }

    @Test("The console refuses the address of somebody else, naming the user")
    @available(*, deprecated, message: "it tests what is deprecated")
    func addresses() async throws {
        do {
            try store.console.addAddress("anna@EXAMPLE.com", to: "bert")
            Issue.record("an address of two users")
        } catch let error as CKError {
            #expect(error.code == .invalidArguments && "\(error)".contains("'anna'"))
        }
        try store.console.addAddress("415", to: "bert")
        try store.console.setDiscoverable(true, for: "bert")
        #expect(try await phone.userIdentity(forPhoneNumber: "4-1-5")?.nameComponents == nil)
        try store.console.setRole("Editors", of: ["anna", "bert"])
        #expect(try store.store.snapshot().person(of: "bert")?.roles == ["Editors"])
    }

    @Test("Identities and lookups are compared by their values, and survive an archive")
    @available(*, deprecated, message: "it tests what is deprecated")
    func values() async throws {
        try store.console.setDiscoverable(true, for: "anna")
        let id = try await phone.userRecordID()
        let infos = [
            CKUserIdentity.LookupInfo(emailAddress: "a@x.org"), .init(emailAddress: "b@x.org"),
            .init(phoneNumber: "a@x.org"), .init(userRecordID: id),
            .init(userRecordID: CKRecord.ID(recordName: "other")),
        ]
        #expect(Set(infos).count == infos.count)
        #expect(
            infos[0] == .init(emailAddress: "a@x.org") && infos[0].copy() as? CKUserIdentity.LookupInfo === infos[0])
        #expect(CKUserIdentity.LookupInfo.lookupInfos(withPhoneNumbers: ["1"])[0].phoneNumber == "1")
        #expect(CKUserIdentity.LookupInfo.lookupInfos(with: [id])[0].userRecordID == id)
        for info in infos { #expect(try again(info) == info) }
        let found = try await bert.userIdentity(forUserRecordID: id)
        let identity = try #require(found)
        let twin = try #require(try await bert.userIdentity(forUserRecordID: id))
        #expect(identity == twin && identity.hash == twin.hash && identity.description.contains("Anna Example"))
        let archived = try again(identity)
        #expect(archived == identity && archived.nameComponents == identity.nameComponents)
        #expect(archived.lookupInfo == identity.lookupInfo)
        let nameless = CKUserIdentity(
            lookupInfo: infos[0], nameComponents: nil, userRecordID: nil, hasiCloudAccount: false)
        #expect(try again(nameless) == nameless && nameless != identity)
    }

    private func run(_ operation: CKOperation) async {
        await withCheckedContinuation { done in
            operation.completionBlock = { done.resume() }
            bert.add(operation)
        }
    }

    private func again<Object: NSObject & NSCoding & _CKArchived>(_ object: Object) throws -> Object {
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data))
    }
}
