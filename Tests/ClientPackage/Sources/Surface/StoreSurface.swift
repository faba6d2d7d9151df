import CloudKit

/// The surface of stores, their options and their past.
struct StoreSurface: Section {
    private let store: CloudStore

    init() throws { store = try CloudStore.inMemory(options: .embedded) }

    func check() async throws {
        try itself()
        try await containers()
        options()
        limits()
        try clocks()
        try indexes()
        plans()
        try await playback()
        try await replication()
        try store.close()
    }

    private func itself() throws {
        let _: (URL, CloudStore.LogPlace, CloudStore.Options) throws -> CloudStore = CloudStore.init(at:log:options:)
        let _: CKContainer = store.container(user: "anna", device: "phone")
        try store.importSchema(try store.exportSchema())
        try store.validateSchema("DEFINE SCHEMA")
        try store.sync()
        try expect(store.offset >= store.durableOffset)
        let _: (UInt64) throws -> CloudStore = store.asOf
        let _: (Date) throws -> CloudStore = store.asOf
        gives(store, \.console, CloudStore.Console.self)
        gives(store, \.options, CloudStore.Options.self)
    }

    private func containers() async throws {
        let name = "iCloud.surface"
        try CloudStore.use(store, forContainer: name, user: "anna", device: "phone")
        let phone = store.container(user: "anna", device: "phone")
        try expect(CKContainer(identifier: name) === phone)
        try CloudStore.use(store, forContainer: name)
        try CloudStore.use(nil, forContainer: name)
        let made: CKContainer = try CloudStore.with(store, forContainer: name, user: "anna", device: "phone") {
            CKContainer(identifier: name)
        }
        try expect(made === phone)
        try await CloudStore.with(store, user: nil) {
            try expect(try await CKContainer.default().accountStatus() == .noAccount)
        }
    }

    private func replication() async throws {
        try await store.confirm()
        try expect(store.replication == nil)
        let place = CloudStore.LogPlace.directory("/shared/order")
        try expect(place != .local && place.address == "file:///shared/order" && "\(place)" == place.address)
        let _: KeyPath<CloudStore, CloudStore.Replication?> = \.replication
        let _: [KeyPath<CloudStore.Replication, UInt64>] = [\.entry, \.appendedBatches, \.lostBatches]
        let _: [KeyPath<CloudStore.Replication, CKError?>] = [\.interruption, \.failure]
    }

    private func options() {
        var options = CloudStore.Options()
        options = .embedded
        options = .service
        options.atomicFailures = .perItem
        options.atomicFailures = .throwing
        options.clock = CloudStore.SystemClock()
        options.containerIdentifier = "iCloud.app"
        options.durability = .commit
        options.durability = .interval(.milliseconds(20))
        options.durability = .system
        options.history = .everything
        options.history = CloudStore.HistoryPolicy(days: 1, bytes: 2)
        options.parentTouch = true
        options.predicates = .cloudKit
        options.predicates = .extended
        options.random = CloudStore.SystemRandomNumbers()
        options.recordFetches = true
        options.recordRefusals = true
        options.schema = .enforced
        options.schema = .open
        let _: [Any.Type] = [
            CloudStore.AtomicFailures.self, CloudStore.Durability.self, CloudStore.PredicateDialect.self,
            CloudStore.SchemaMode.self,
        ]
        gives(options.history, \.days, Int?.self)
        gives(options.history, \.bytes, Int?.self)
    }

    private func limits() {
        var limits: CloudStore.Limits = .embedded
        limits = CloudStore.Limits.service
        let _: [WritableKeyPath<CloudStore.Limits, Int>] = [
            \.assetBytes, \.itemsPerRequest, \.owningReferences, \.pageSize, \.pageSizeMaximum, \.recordBytes,
            \.requestBytes,
        ]
        var options = CloudStore.Options()
        options.limits = limits
    }

    private func clocks() throws {
        let clock = CloudStore.ManualClock(Date(timeIntervalSinceReferenceDate: 1))
        clock.advance(by: .seconds(1))
        let known: any CloudStore.Clock = clock
        try expect(clock.now == known.now && CloudStore.SystemClock().now > clock.now)
        let seeded = CloudStore.SeededRandomNumbers(seed: 1)
        let numbers: any CloudStore.RandomNumbers = CloudStore.SeededRandomNumbers(seed: 1)
        try expect(seeded.next() == numbers.next())
        _ = CloudStore.SystemRandomNumbers().next()
    }

    private func indexes() throws {
        let _: [CloudStore.Index] = try store.indexes
        let _: KeyPath<CloudStore.Index, String?> = \.failure
        let _: KeyPath<CloudStore.Index, String> = \.form
        let _: KeyPath<CloudStore.Index, Bool> = \.isReady
        let _: KeyPath<CloudStore.Index, CKRecord.FieldKey> = \.key
        let _: KeyPath<CloudStore.Index, CKRecord.RecordType> = \.recordType
    }

    private func plans() {
        typealias Plan = CloudStore.QueryPlan
        let _: KeyPath<Plan, Plan.Actual?> = \.actual
        let _: KeyPath<Plan, String> = \.description
        let _: KeyPath<Plan, Int> = \.estimatedRows
        let _: KeyPath<Plan, [Plan.MissingIndex]> = \.missingIndexes
        let _: KeyPath<Plan, [String]> = \.notes
        let _: KeyPath<Plan, String> = \.text
        let _: [KeyPath<Plan.Actual, Int>] = [\.matches, \.recordsRead, \.rowsRead]
        let _: KeyPath<Plan.MissingIndex, String> = \.indexes
        let _: KeyPath<Plan.MissingIndex, CKRecord.FieldKey> = \.key
    }

    private func playback() async throws {
        let playback: CloudStore.Playback = try store.playback(from: nil, through: nil, follows: false)
        let _: CKContainer = playback.container(user: "anna", device: "phone")
        playback.pause()
        let step: CloudStore.Playback.Commit? = try playback.step()
        gives(playback, \.date, Date?.self)
        gives(playback, \.store, CloudStore.self)
        playback.play()
        try await playback.waitForEnd()
        try expect(playback.isAtEnd && playback.offset == store.offset)
        let commits: CloudStore.Playback.Commits = playback.commits
        var iterator: CloudStore.Playback.Commits.Iterator = commits.makeAsyncIterator()
        try playback.close()
        let _: CloudStore.Playback.Commits.Element? = try await iterator.next()
        guard let step else { return }
        gives(step, \.date, Date.self)
        gives(step, \.device, String?.self)
        gives(step, \.offset, UInt64.self)
        gives(step, \.user, String?.self)
    }
}
