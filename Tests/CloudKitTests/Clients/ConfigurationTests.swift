import CloudKit
import StrataModel
import Testing

@testable import CloudKit
@testable import StrataStore

@Suite("Configurations and groups")
struct ConfigurationTests {
    @Test("Each property: the operation's own, else the group's, else the default")
    func merging() {
        let operation = CKFetchRecordsOperation()
        #expect(operation.settings.qualityOfService == .default)
        #expect(operation.settings.timeout == 60)
        let group = CKOperationGroup()
        let common = CKOperation.Configuration()
        common.qualityOfService = .background
        common.timeoutIntervalForRequest = 5
        group.defaultConfiguration = common
        common.timeoutIntervalForRequest = 7
        operation.group = group
        #expect(operation.settings.qualityOfService == .background)
        #expect(operation.settings.operation.qualityOfService == .background)
        #expect(operation.settings.requestTimeout == 5)
        operation.configuration.qualityOfService = .userInitiated
        #expect(operation.settings.qualityOfService == .userInitiated)
        #expect(operation.settings.requestTimeout == 5)
        #expect(operation.settings.operation.id == operation.operationID)
        #expect(operation.settings.operation.groupID == group.operationGroupID)
        operation.configuration = nil
        #expect(operation.settings.qualityOfService == .background)
        operation.qualityOfService = .userInteractive
        #expect(operation.configuration.qualityOfService == .userInteractive)
    }

    @Test("Defaults of a configuration (B205)")
    func defaults() {
        let configuration = CKOperation.Configuration()
        #expect(configuration.qualityOfService == .default)
        #expect(configuration.allowsCellularAccess)
        #expect(!configuration.isLongLived)
        #expect(configuration.container == nil)
        #expect(configuration.timeoutIntervalForRequest == 60)
        #expect(configuration.timeoutIntervalForResource == 604_800)
        configuration.qualityOfService = .userInitiated
        #expect(configuration.timeoutIntervalForResource == .infinity)
    }

    @Test("A name that is too long for the log is cut between characters")
    func longNames() {
        let group = CKOperationGroup()
        group.name = String(repeating: "é", count: 200)
        let operation = CKFetchRecordsOperation()
        operation.group = group
        #expect(operation.settings.operation.groupName == String(repeating: "é", count: 127))
    }

    @Test("A group comes back from an archive with its identifier")
    func archivedGroup() throws {
        let group = CKOperationGroup()
        group.name = "first sync"
        group.quantity = 7
        group.expectedSendSize = .megabytes
        let data = try NSKeyedArchiver.archivedData(withRootObject: group, requiringSecureCoding: true)
        let again = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKOperationGroup.self, from: data))
        #expect(again.operationGroupID == group.operationGroupID)
        #expect(again.name == "first sync" && again.quantity == 7 && again.expectedSendSize == .megabytes)
    }

    @Test("The deprecated properties forward to the configuration")
    @available(*, deprecated)
    func forwarded() {
        let operation = CKFetchRecordsOperation()
        operation.timeoutIntervalForRequest = 3
        operation.isLongLived = true
        #expect(operation.configuration.timeoutIntervalForRequest == 3)
        #expect(operation.configuration.isLongLived)
    }

    @Test("What a long-lived operation is when it starts is what is kept (B201, B208)")
    func kept() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a", "when it starts")
        let operation = CKModifyRecordsOperation(recordsToSave: [note])
        operation.database = notes.database
        operation.configuration.isLongLived = true
        let keeper = try #require(operation.makeKeeper())
        note["text"] = "changed since"
        operation.recordsToSave = []
        try keeper()
        let kept = try #require(
            try notes.phone.client.opened().longLived.operation(operation.operationID, of: notes.phone.client.actor))
        guard case .plain(let archive) = kept.properties else {
            Issue.record("nothing in it is secret")
            return
        }
        let bytes = Data(archive)
        #expect(bytes.range(of: Data("when it starts".utf8)) != nil)
        #expect(bytes.range(of: Data("changed since".utf8)) == nil)
    }

    @Test("The methods of a database run with .utility, or what configuredWith says (B206, B207)")
    func convenience() async throws {
        let notes = try await NotesStore()
        try await notes.database.save(notes.note("a"))
        #expect(try lastHeader(of: notes.store).qualityOfService == .utility)
        let configuration = CKOperation.Configuration()
        configuration.qualityOfService = .userInitiated
        let group = CKOperationGroup()
        group.name = "sync"
        try await notes.database.configuredWith(configuration: configuration, group: group) { database in
            try await database.save(notes.note("b"))
        }
        let header = try lastHeader(of: notes.store)
        #expect(header.qualityOfService == .userInitiated && header.groupName == "sync")
        // Handlers may be called long after the body has returned.
        await withCheckedContinuation { continuation in
            notes.database.configuredWith(configuration: configuration, group: group) { database in
                database.save(notes.note("c")) { _, _ in continuation.resume() }
            }
        }
        #expect(try lastHeader(of: notes.store).groupName == "sync")
    }

    private func lastHeader(of store: CloudStore) throws -> EnvelopeHeader {
        let commit = try #require(try store.store.log.commit(at: store.offset))
        return try commit.payload.withUnsafeBytes { payload in
            let walker = try EventWalker(payload)
            return try walker.header()
        }
    }

    @Test("The commit of an operation keeps its identifier, quality and group")
    func logged() async throws {
        let notes = try await NotesStore()
        let group = CKOperationGroup()
        group.name = "first sync"
        let operation = CKModifyRecordsOperation(recordsToSave: [notes.note("a")])
        operation.group = group
        operation.configuration.qualityOfService = .userInitiated
        await operation.finish { notes.database.add($0) }
        let header = try lastHeader(of: notes.store)
        #expect(header.operationID == operation.operationID)
        #expect(header.qualityOfService == .userInitiated)
        #expect(header.groupID == group.operationGroupID && header.groupName == "first sync")
    }
}
