import CloudKit
import StrataSystem
import Testing

@testable import CloudKit

/// Every error code at every stage of an automatic engine: tried again by itself, or left to the app (B235, B438).
@Suite("Sync: table of errors", .timeLimit(.minutes(10)))
struct SyncErrorTableTests {
    /// A request of the engine, or an item of one.
    enum Stage: String, CaseIterable {
        case fetchSubscriptions, saveSubscription, saveSubscriptionItem
        case fetchDatabase, fetchZone, fetchZoneItem
        case saveZone, saveZoneItem, deleteZone, deleteZoneItem
        case saveRecord, saveRecordItem, deleteRecord, deleteRecordItem

        var kind: CloudStore.RequestKind {
            switch self {
            case .fetchSubscriptions: .fetchSubscriptions
            case .saveSubscription, .saveSubscriptionItem: .modifySubscriptions
            case .fetchDatabase: .fetchDatabaseChanges
            case .fetchZone, .fetchZoneItem: .fetchRecordZoneChanges
            case .saveZone, .saveZoneItem, .deleteZone, .deleteZoneItem: .modifyRecordZones
            case .saveRecord, .saveRecordItem, .deleteRecord, .deleteRecordItem: .modifyRecords
            }
        }

        var scope: CloudStore.FaultScope { rawValue.hasSuffix("Item") ? .item : .request }
        var fetches: Bool { rawValue.hasPrefix("fetch") || rawValue.contains("Subscription") }
    }

    /// The codes that the engine handles itself.
    private static let retried: Set<CKError.Code> = [
        .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .notAuthenticated, .zoneBusy,
        .serverResponseLost, .accountTemporarilyUnavailable,
    ]

    private let world: SyncStore
    private let phone = SyncDevice()
    private var desk: CKDatabase { world.database("desk") }
    private var old: CKRecordZone.ID { CKRecordZone.ID(zoneName: "Old") }

    init() async throws {
        world = try SyncStore()
        try await desk.save(CKRecordZone(zoneID: world.zone))
        try await desk.save(world.note("theirs"))
    }

    private func fail(_ stage: Stage, _ code: CKError.Code) throws {
        try world.store.console.failNext(of: stage.kind, with: code, scope: stage.scope, on: "phone")
    }

    /// Lets the scheduled sync begin.
    private func begin(_ engine: CKSyncEngine) async {
        #expect(await soon { engine.core.scheduler.due != nil && world.clock.sleeperCount > 0 })
        world.clock.advance(by: .milliseconds(100))
    }

    private func addChange(of stage: Stage, to engine: CKSyncEngine) {
        switch stage {
        case .saveZone, .saveZoneItem:
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "New"))])
        case .deleteZone, .deleteZoneItem: engine.state.add(pendingDatabaseChanges: [.deleteZone(old)])
        case .saveRecord, .saveRecordItem: world.add("mine", to: phone, engine)
        case .deleteRecord, .deleteRecordItem:
            engine.state.add(pendingRecordZoneChanges: [.deleteRecord(world.id("theirs"))])
        default: break
        }
    }

    /// Returns true if the store has what the stage was to bring about.
    private func isDone(_ stage: Stage) async throws -> Bool {
        switch stage {
        case .fetchSubscriptions, .saveSubscription, .saveSubscriptionItem:
            try await !desk.allSubscriptions().isEmpty
        case .fetchDatabase, .fetchZone, .fetchZoneItem: phone.texts[world.id("theirs")] != nil
        case .saveZone, .saveZoneItem: try await desk.allRecordZones().contains { $0.zoneID.zoneName == "New" }
        case .deleteZone, .deleteZoneItem: try await !desk.allRecordZones().contains { $0.zoneID == old }
        case .saveRecord, .saveRecordItem: try await exists("mine")
        case .deleteRecord, .deleteRecordItem: try await !exists("theirs")
        }
    }

    private func exists(_ name: String) async throws -> Bool {
        let id = world.id(name)
        return try await desk.recordZoneChanges(inZoneWith: world.zone, since: nil).modificationResultsByID[id] != nil
    }

    @Test("B235 B438 B441 an automatic engine", arguments: Stage.allCases, CKError.Code.allSyncCodes)
    func automatic(stage: Stage, code: CKError.Code) async throws {
        let engine = world.engine(phone, automatically: true)
        if stage.fetches { try fail(stage, code) } else { try await desk.save(CKRecordZone(zoneID: old)) }
        await begin(engine)
        let isRetried = Self.retried.contains(code)
        if !stage.fetches {
            #expect(await soon { phone.journal.contains("did fetch") })
            #expect(await world.rests(engine))
            phone.forgetEvents()
            try fail(stage, code)
            addChange(of: stage, to: engine)
            await begin(engine)
            #expect(await soon { phone.journal.contains("did send") })
        } else {
            #expect(await soon { phone.journal.contains("did fetch") })
        }
        #expect(await world.rests(engine, retries: isRetried))
        #expect(try await !isDone(stage))
        let isPending = !engine.state.pendingRecordZoneChanges.isEmpty || !engine.state.pendingDatabaseChanges.isEmpty
        #expect(isPending == (!stage.fetches && (isRetried || code == .operationCancelled)))
        guard isRetried else { return }
        phone.forgetEvents()
        _ = await world.advance(.milliseconds(250), atMost: .seconds(5)) {
            phone.journal.contains(stage.fetches ? "did fetch" : "did send")
        }
        #expect(await world.rests(engine))
        #expect(try await isDone(stage))
        #expect(engine.state.pendingRecordZoneChanges.isEmpty && engine.state.pendingDatabaseChanges.isEmpty)
    }
}
