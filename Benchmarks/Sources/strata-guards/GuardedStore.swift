import StrataLog
import StrataModel
import StrataQuery
import StrataStore
import StrataSystem

/// A store of tasks with three indexes, and the operations on it whose costs are guarded.
final class GuardedStore {
    private static let recordCount = 20_000
    private static let requestCount = 400
    private static let bucketCount = 200
    private static let pageCount = 200
    private static let database = DatabaseID(.private)
    private static let zone = ZoneID("Tasks")
    private static let type = "Task"
    private static let keys = ["title", "notes", "bucket", "priority", "due"]
    private static let actor = Actor(user: "anna", device: "phone")

    private let store: Store
    private let names: RequestNames
    private var nextRecord = 0

    init(at path: String, durability: Durability) throws {
        var options = StoreOptions.embedded
        options.durability = durability
        store = try Store.open(at: path, options: options)
        var names = RequestNames()
        let zone = names.ordinal(of: Self.zone)
        _ = names.ordinal(ofType: Self.type)
        for key in Self.keys { _ = names.ordinal(ofKey: key) }
        self.names = names
        let request = Request(database: Self.database, names: names, .modifyZones(.init(saves: [.init(zone)])))
        _ = try store.modify(request, as: Self.actor)
    }

    /// Fills the store with records, and declares its indexes.
    func fill() throws {
        while nextRecord < Self.recordCount { try save(count: Self.requestCount) }
        let fields: [(name: String, indexes: SchemaField.Indexes)] = [
            ("bucket", .queryable), ("priority", .queryable), ("due", [.queryable, .sortable]),
        ]
        try store.declareIndexes(type: Self.type, fields: fields)
        store.awaitIndexes()
    }

    func close() throws { try store.close() }

    /// Brings the indexes up to date, so that a run pays for all that it caused.
    func settle() { store.awaitIndexes() }

    // MARK: Operations

    /// Saves new records in one request.
    func save(count: Int) throws {
        var body = ModifyRecordsRequest()
        for number in nextRecord..<nextRecord + count {
            body.saves.append(.init(RecordKey(zone: 1, name: Self.name(number)), type: 1, fields: fields(of: number)))
        }
        nextRecord += count
        let answer = try store.modify(
            Request(database: Self.database, names: names, .modifyRecords(body)), as: Self.actor)
        for save in answer.result.saves { _ = try save.get() }
    }

    /// Fetches records one by one and reads their values.
    func fetch(_ numbers: Range<Int>) throws {
        let snapshot = store.snapshot()
        for number in numbers {
            let record = try snapshot.record(
                RecordID(Self.name(number), zone: Self.zone), in: Self.database, as: Self.actor)
            try record.forEachField { _, _ in }
        }
    }

    /// Queries the records of one bucket and reads their values; returns the number of hits.
    func query(bucket: Int) throws -> Int {
        let query = Query(Self.type, where: try PredicateParser.parse("bucket = \(bucket)"))
        let page = try store.query(.new(query), in: Self.database, limit: 1_000, as: Self.actor)
        for record in page.matches { try record.forEachField { _, _ in } }
        return page.matches.count
    }

    /// Reads the zone's feed from its beginning; returns the number of records in it.
    func feed() throws -> Int {
        var (token, count): (FeedToken?, Int) = (nil, 0)
        while true {
            let page = try store.zoneChanges(
                of: Self.zone, in: Self.database, since: token, limit: Self.pageCount, as: Self.actor)
            for record in page.changed { try record.forEachField { _, _ in } }
            count += page.changed.count
            guard page.moreComing else { return count }
            token = page.token
        }
    }

    // MARK: Records

    private static func name(_ number: Int) -> String {
        let random = SeededRandom(seed: UInt64(number) + 1)
        return String(random.next(), radix: 16) + "-" + String(number)
    }

    private func fields(of number: Int) -> [FieldChange] {
        let values: [FieldValue] = [
            .string("The title of task \(number), which is long enough"),
            .string("Notes that nothing is to be found in"),
            .int64(Int64(number % Self.bucketCount)), .int64(Int64(number * 7_919 % 1_000)),
            .date(Double(number * 104_729 % 1_000_003)),
        ]
        return values.enumerated().map { FieldChange(UInt32($0.offset + 1), $0.element) }
    }
}
