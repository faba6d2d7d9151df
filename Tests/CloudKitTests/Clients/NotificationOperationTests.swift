import CloudKit
import StrataSystem
import Testing

@testable import CloudKit

@Suite("Operations of badges, read notifications and web tokens", .timeLimit(.minutes(1)))
struct NotificationOperationTests {
    /// Adds an operation to a container, and returns what its block got.
    private func outcome<Value: Sendable>(
        _ container: CKContainer, _ make: (@escaping (Value) -> Void) -> CKOperation
    ) async -> Value {
        await withCheckedContinuation { continuation in
            container.add(make { continuation.resume(returning: $0) })
        }
    }

    @available(*, deprecated)
    private func setBadge(_ value: Int, on container: CKContainer) async -> CKError.Code? {
        await outcome(container) { (done: @escaping (CKError.Code?) -> Void) in
            let operation = CKModifyBadgeOperation(badgeValue: value)
            operation.modifyBadgeCompletionBlock = { done(($0 as? CKError)?.code) }
            return operation
        }
    }

    private func badge(of pushes: AsyncStream<RemoteNotification>) async -> Int? {
        for await push in pushes { return (push.userInfo["aps"] as? [AnyHashable: Any])?["badge"] as? Int }
        return nil
    }

    @available(*, deprecated)
    @Test("A badge that is set is what the next notification counts on from, on this device, and after reopening")
    func badges() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        let zone = CKRecordZone.ID(zoneName: "Notes")
        func note() -> CKRecord { CKRecord(recordType: "Note", recordID: .init(zoneID: zone)) }
        var store = try CloudStore(at: directory)
        var phone = store.container(user: "anna", device: "phone")
        var tablet = store.container(user: "anna", device: "tablet")
        try await phone.privateCloudDatabase.save(CKRecordZone(zoneID: zone))
        let subscription = CKDatabaseSubscription(subscriptionID: "all")
        subscription.notificationInfo = CKSubscription.NotificationInfo(alertBody: "new", shouldBadge: true)
        try await phone.privateCloudDatabase.save(subscription)

        do {
            let pushes = phone.remoteNotifications
            try await tablet.privateCloudDatabase.save(note())
            #expect(await badge(of: pushes) == 1)
            // While it listens.
            #expect(await setBadge(7, on: phone) == nil)
            try await tablet.privateCloudDatabase.save(note())
            #expect(await badge(of: pushes) == 8)
        }
        // While nobody listens.
        #expect(await setBadge(20, on: phone) == nil)
        try store.close()
        store = try CloudStore(at: directory)
        phone = store.container(user: "anna", device: "phone")
        tablet = store.container(user: "anna", device: "tablet")
        try await tablet.privateCloudDatabase.save(note())
        #expect(await badge(of: phone.remoteNotifications) == 21)
        #expect(await setBadge(0, on: phone) == nil)
        try await tablet.privateCloudDatabase.save(note())
        #expect(await badge(of: phone.remoteNotifications) == 1)
        // The other device has its own badge.
        try await phone.privateCloudDatabase.save(note())
        #expect(await badge(of: tablet.remoteNotifications) != 2)
        try store.close()
    }

    @available(*, deprecated)
    @Test("A badge below 0 is refused, one without an account too")
    func badBadges() async throws {
        let notes = try await NotesStore()
        #expect(await setBadge(-1, on: notes.phone) == .invalidArguments)
        #expect(await setBadge(1, on: notes.store.container(user: nil)) == .notAuthenticated)
        #expect(await setBadge(1, on: notes.store.container(user: "nobody-yet")) == nil)
        #expect(CKModifyBadgeOperation().badgeValue == 0)
    }

    @available(*, deprecated)
    @Test("A badge that cannot be noted is an error, and no other device's badge waits for it")
    func unnotedBadge() async throws {
        let notes = try await NotesStore()
        try await notes.phone.privateCloudDatabase.save(CKRecordZone(zoneName: "Known"))
        let endless = notes.store.container(user: "anna", device: String(repeating: "d", count: 5_000))
        #expect(await setBadge(1, on: endless) != nil)
        #expect(await setBadge(2, on: notes.phone) == nil)
    }

    @available(*, deprecated)
    @Test("Marking notifications as read, and fetching their changes, succeeds empty")
    func notifications() async throws {
        let notes = try await NotesStore()
        let ids = [CKNotificationID(name: "a")]
        let marked = await outcome(notes.phone) { (done: @escaping ([CKNotification.ID]?) -> Void) in
            let operation = CKMarkNotificationsReadOperation(notificationIDsToMarkRead: ids)
            operation.markNotificationsReadCompletionBlock = { ids, error in done(error == nil ? ids : nil) }
            return operation
        }
        #expect(marked == ids)
        let token = try await notes.database.databaseChanges(since: nil).changeToken
        let next = await outcome(notes.phone) { (done: @escaping (CKServerChangeToken?) -> Void) in
            let operation = CKFetchNotificationChangesOperation(previousServerChangeToken: token)
            operation.notificationChangedBlock = { _ in Issue.record("there are no notifications") }
            operation.fetchNotificationChangesCompletionBlock = { [unowned operation] token, error in
                done(error == nil && !operation.moreComing ? token : nil)
            }
            return operation
        }
        #expect(next == token)
    }

    @available(*, deprecated)
    @Test("There are no web tokens, in either generation of blocks; the message says why")
    func webToken() async throws {
        let notes = try await NotesStore()
        for isOld in [false, true] {
            let error = await outcome(notes.phone) { (done: @escaping (CKError?) -> Void) in
                let operation = CKFetchWebAuthTokenOperation(apiToken: "token")
                if isOld {
                    operation.fetchWebAuthTokenCompletionBlock = { text, error in
                        done(text == nil ? error as? CKError : nil)
                    }
                } else {
                    operation.fetchWebAuthTokenResultBlock = { result in
                        if case .failure(let error) = result { done(error as? CKError) } else { done(nil) }
                    }
                }
                return operation
            }
            #expect(error?.code == .serviceUnavailable)
            #expect(error?.detail.contains("web service") == true)
        }
    }

    @available(*, deprecated)
    @Test("A cancelled operation says so, once (B203)")
    func cancelled() async throws {
        let notes = try await NotesStore()
        let code = await outcome(notes.phone) { (done: @escaping (CKError.Code?) -> Void) in
            let operation = CKModifyBadgeOperation(badgeValue: 1)
            operation.modifyBadgeCompletionBlock = { done(($0 as? CKError)?.code) }
            operation.cancel()
            return operation
        }
        #expect(code == .operationCancelled)
    }
}
