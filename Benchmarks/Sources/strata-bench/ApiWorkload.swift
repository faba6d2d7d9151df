import CloudKit
import StrataModel
import StrataStore
import StrataSystem

/// What Apple's names cost over the engine: the same tasks through `CloudKit` and through the store itself.
struct ApiWorkload: Workload {
    static let name = "api"
    private static let requestCount = 400

    let size: WorkloadSize
    let folder: String
    private let records: TaskRecords
    private let tasks: CloudTasks

    init(size: WorkloadSize, folder: String) {
        self.size = size
        self.folder = folder
        records = TaskRecords()
        tasks = CloudTasks(records)
    }

    private var recordCount: Int { size.isQuick ? 10_000 : 200_000 }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        progress("api: \(recordCount) records")
        let peer = try SQLiteTasks(path: "\(folder)/api.sqlite", .tuned, records)
        try peer.fill(recordCount)
        let sides = try ApiSides(records, count: recordCount, at: "\(folder)/api.strata")
        defer { sides.close() }
        progress("api: records made, saved and fetched")
        return [try making()] + (try saving(sides)) + (try fetching(sides, peer)) + [try fetchingOne(sides)]
    }

    /// One list of figures for each side; another side goes first in each round.
    private func alternate(_ sides: [() throws -> Double]) throws -> [[Double]] {
        try alternating(rounds: size.rounds, sides)
    }

    /// Microseconds that each of so many takes; `prepare` is not counted.
    private func microseconds<Input>(
        _ count: Int, _ prepare: () throws -> Input, _ body: (Input) throws -> Void
    ) throws -> Double {
        var (total, runs) = (0.0, 0)
        while total < size.roundSeconds / 2 {
            let input = try prepare()
            let start = secondsNow()
            try body(input)
            total += secondsNow() - start
            runs += count
        }
        return total / Double(runs) * 1e6
    }

    private func measurement(
        _ metric: String, _ strata: [Double], _ bar: Measurement.Bar, beside peer: String? = nil,
        _ values: [Double] = []
    ) -> Measurement {
        Measurement(
            workload: Self.name, metric: metric, unit: "µs", strata: strata, peer: peer, peerValues: values, bar: bar)
    }

    // MARK: Records

    private func making() throws -> Measurement {
        var made: [CKRecord] = []
        let figures = try alternate([
            {
                try microseconds(Self.requestCount) {
                    made = []
                } _: {
                    made = (0..<Self.requestCount).map { tasks.record($0) }
                }
            }
        ])
        guard made.allSatisfy({ $0.allKeys().count == TaskRecords.keys.count }) else {
            throw BenchError(message: "a record lacks values")
        }
        return measurement("making a CKRecord with ten fields", figures[0], .atMost(2))
    }

    private func saving(_ sides: ApiSides) throws -> [Measurement] {
        let count = Self.requestCount
        let figures = try alternate([
            {
                try microseconds(count) {
                    sides.numbers.take(count).map { tasks.record($0) }
                } _: { made in
                    try sides.save(made)
                }
            },
            {
                try microseconds(count) {
                    records.saving(sides.numbers.take(count))
                } _: { request in
                    try sides.modify(request)
                }
            },
        ])
        return [
            measurement(
                "modifyRecords of \(count) new records, each", figures[0], .ratioAtMost(1.3), beside: "engine",
                figures[1])
        ]
    }

    private func fetching(_ sides: ApiSides, _ peer: SQLiteTasks) throws -> [Measurement] {
        let random = SeededRandom(seed: 5)
        let count = Self.requestCount
        let lots = (0..<64).map { _ in (0..<count).map { _ in Int(random.next(below: UInt64(recordCount))) } }
        let ids = lots.map { $0.map { CloudTasks.recordID($0) } }
        let models = lots.map { $0.map { TaskRecords.id($0) } }
        let keys = lots.map { $0.map { TaskKey($0) } }
        let reader = try peer.reader(isShared: false)
        var (next, sum) = (0, 0)
        func lot<Element>(_ lots: [[Element]]) -> [Element] {
            next += 1
            return lots[next % lots.count]
        }
        let figures = try alternate([
            { try microseconds(count, { lot(ids) }, { try sides.fetch($0) }) },
            { try microseconds(count, { lot(ids) }, { try sides.fetch($0, readsValues: true) }) },
            { try microseconds(count, { lot(models) }, { try sides.fetch($0) }) },
            {
                try microseconds(count, { lot(keys) }) { keys in sum &+= try reader.fetch(keys[...], .inPlace) }
            },
        ])
        guard sum != 0 else { throw BenchError(message: "nothing was fetched") }
        let metric = "records(for:) of \(count) IDs, each"
        return [
            measurement(metric, figures[0], .ratioAtMost(1.4), beside: "engine", figures[2]),
            // As times: 1.5 times as fast.
            measurement(
                "\(metric), all values read", figures[1], .ratioAtMost(1 / 1.5), beside: "SQLite, values in place",
                figures[3]),
        ]
    }

    private func fetchingOne(_ sides: ApiSides) throws -> Measurement {
        let random = SeededRandom(seed: 6)
        let ids = (0..<1_000).map { _ in CloudTasks.recordID(Int(random.next(below: UInt64(recordCount)))) }
        let figures = try alternate([
            { try microseconds(ids.count, {}, { try sides.fetchEach(ids) }) }
        ])
        return measurement("record(for:) in the caller's task", figures[0], .atMost(10))
    }
}

/// The same store through both doors.
///
/// Nothing waits for the disk: what is compared is work, which a sync would hide.
private struct ApiSides: Sendable {
    let numbers: TaskNumbers
    private let cloud: CloudStore
    private let database: CKDatabase
    private let store: Store

    init(_ records: TaskRecords, count: Int, at path: String) throws {
        var options = CloudStore.Options.service
        options.durability = .system
        cloud = try CloudStore(at: URL(fileURLWithPath: path), options: options)
        database = cloud.container(user: TaskRecords.actor.user, device: TaskRecords.actor.device).privateCloudDatabase
        var same = StoreOptions.service
        same.durability = .system
        same.containerIdentifier = options.containerIdentifier
        same.recordsRefusals = options.recordRefusals
        store = try Store.open(at: path, options: same)
        numbers = TaskNumbers(from: count)
        _ = try store.modify(TaskRecords.makingZone, as: TaskRecords.actor)
        for start in stride(from: 0, to: count, by: 400) {
            _ = try store.modify(records.saving(start..<min(count, start + 400)), as: TaskRecords.actor)
        }
    }

    func close() {
        try? store.close()
        try? cloud.close()
    }

    func save(_ records: [CKRecord]) throws {
        try awaiting {
            let results = try await database.modifyRecords(saving: records, deleting: [])
            guard results.saveResults.count == records.count else { throw BenchError(message: "a result is missing") }
        }
    }

    func modify(_ request: Request) throws {
        try awaiting { _ = try await store.modify(request, as: TaskRecords.actor) }
    }

    func fetch(_ ids: [CKRecord.ID], readsValues: Bool = false) throws {
        try awaiting {
            for (_, result) in try await database.records(for: ids) {
                let record = try result.get()
                guard !readsValues || TaskRecords.keys.allSatisfy({ record[$0] != nil }) else {
                    throw BenchError(message: "a record lacks values")
                }
            }
        }
    }

    func fetch(_ ids: [RecordID]) throws {
        for result in try store.fetch(ids, in: TaskRecords.database, as: TaskRecords.actor) { _ = try result.get() }
    }

    func fetchEach(_ ids: [CKRecord.ID]) throws {
        try awaiting { for id in ids { _ = try await database.record(for: id) } }
    }
}

/// The tasks as a caller of `CloudKit` has them.
private struct CloudTasks: Sendable {
    private static let zone = CKRecordZone.ID(zoneName: TaskRecords.zone.name)
    private let records: TaskRecords
    private let thumbnails: [Data]
    private let places: [CLLocation]

    init(_ records: TaskRecords) {
        self.records = records
        let samples = records.samples
        thumbnails = samples.map { Data($0.thumbnail) }
        places = samples.map { sample in
            CLLocation(
                coordinate: CLLocationCoordinate2D(latitude: sample.latitude, longitude: sample.longitude), altitude: 0,
                horizontalAccuracy: 5, verticalAccuracy: -1, timestamp: Date(timeIntervalSinceReferenceDate: 0))
        }
    }

    static func recordID(_ index: Int) -> CKRecord.ID {
        CKRecord.ID(recordName: TaskRecords.name(index), zoneID: zone)
    }

    func record(_ index: Int) -> CKRecord {
        let place = records.place(of: index)
        let sample = records.samples[place]
        let record = CKRecord(recordType: TaskRecords.type, recordID: Self.recordID(index))
        record["title"] = sample.texts[0]
        record["notes"] = sample.texts[1]
        record["status"] = sample.texts[2]
        record["assignee"] = sample.texts[3]
        record["priority"] = sample.priority
        record["position"] = sample.position
        record["estimate"] = sample.estimate
        record["due"] = Date(timeIntervalSinceReferenceDate: TaskRecords.due(index))
        record["thumbnail"] = thumbnails[place]
        record["place"] = places[place]
        return record
    }
}
