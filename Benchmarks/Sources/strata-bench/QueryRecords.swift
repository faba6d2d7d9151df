import StrataModel
import StrataStore
import StrataSystem

/// The records of the queries' workload: tasks of about 250 bytes whose fields are of known selectivity.
struct QueryRecords: Sendable {
    static let zone = ZoneID("Tasks")
    static let type = "Task"
    static let keys = ["title", "notes", "project", "bucket", "priority", "due", "place"]
    static let database = DatabaseID(.private)

    /// Records of one project, and of one bucket.
    static let recordsPerProject = 5_000
    static let recordsPerBucket = 100
    static let vocabularyCount = 16_000

    struct Sample {
        var title: String
        var notes: String
        var project: Int64
        var bucket: Int64
        var priority: Int64
        var due: Double
        var latitude: Double
        var longitude: Double
    }

    let count: Int
    private let words: [String]

    init(count: Int) {
        self.count = count
        let random = SeededRandom(seed: 3)
        words = (0..<Self.vocabularyCount).map { number in
            let letters = (0..<5).map { _ in Character(Unicode.Scalar(UInt8(97 + random.next(below: 26)))) }
            return String(letters) + String(number, radix: 36)
        }
    }

    func word(_ number: Int) -> String { words[number] }

    /// The same for the same number.
    func sample(_ index: Int) -> Sample {
        let random = SeededRandom(seed: UInt64(index) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        func below(_ limit: Int) -> Int { Int(random.next(below: UInt64(max(1, limit)))) }
        let title = (0..<8).map { _ in words[below(words.count)] }.joined(separator: " ")
        return Sample(
            title: title, notes: "Remember the " + words[below(words.count)].uppercased() + " and what comes of it.",
            project: Int64(below(count / Self.recordsPerProject)), bucket: Int64(below(count / Self.recordsPerBucket)),
            priority: Int64(below(100)), due: Double(random.next(below: 1 << 40)) / 1_024,
            latitude: 47 + Double(random.next(below: 8_000_000)) / 1e6,
            longitude: 6 + Double(random.next(below: 9_000_000)) / 1e6)
    }

    static func name(_ index: Int) -> String { TaskRecords.name(index) }

    /// Saves the new records with these numbers into one of some zones.
    func saving(_ indexes: Range<Int>, into zones: [ZoneID] = [zone]) -> Request {
        var names = RequestNames()
        for zone in zones { _ = names.ordinal(of: zone) }
        _ = names.ordinal(ofType: Self.type)
        for key in Self.keys { _ = names.ordinal(ofKey: key) }
        var body = ModifyRecordsRequest()
        body.saves.reserveCapacity(indexes.count)
        for index in indexes {
            let sample = sample(index)
            let values: [FieldValue] = [
                .string(sample.title), .string(sample.notes), .int64(sample.project), .int64(sample.bucket),
                .int64(sample.priority), .date(sample.due),
                .location(.init(latitude: sample.latitude, longitude: sample.longitude)),
            ]
            body.saves.append(
                .init(
                    RecordKey(zone: UInt64(index % zones.count) + 1, name: Self.name(index)), type: 1,
                    fields: values.enumerated().map { FieldChange(UInt32($0.offset + 1), $0.element) }))
        }
        return Request(database: Self.database, names: names, .modifyRecords(body))
    }

    static func making(_ zones: [ZoneID]) -> Request {
        var names = RequestNames()
        let saves = zones.map { ModifyZonesRequest.Save(names.ordinal(of: $0)) }
        return Request(database: database, names: names, .modifyZones(ModifyZonesRequest(saves: saves)))
    }
}
