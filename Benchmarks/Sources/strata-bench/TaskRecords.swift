import StrataModel
import StrataSystem
import Synchronization

/// The records of the store's workload: tasks with ten fields, about 350 bytes, under random names.
struct TaskRecords: Sendable {
    static let zone = ZoneID("Tasks")
    static let type = "Task"
    static let keys = [
        "title", "notes", "status", "assignee", "priority", "position", "estimate", "due", "thumbnail", "place",
    ]
    /// What both sides have an index on.
    static let indexedKeys = ["priority", "estimate", "due"]
    static let database = DatabaseID(.private)
    static let actor = Actor(user: "anna", device: "phone")

    /// The values of one record, in the order of the keys.
    struct Sample: Sendable {
        var texts: [String]
        var priority: Int64
        var position: Int64
        var estimate: Double
        var due: Double
        var thumbnail: [UInt8]
        var latitude: Double
        var longitude: Double

        var values: [FieldValue] {
            texts.map { .string($0) } + [
                .int64(priority), .int64(position), .double(estimate), .date(due), .data(thumbnail),
                .location(.init(latitude: latitude, longitude: longitude, horizontalAccuracy: 5)),
            ]
        }
    }

    /// Used in turn, so that making them costs neither side anything.
    let samples: [Sample]
    private let changes: [[FieldChange]]
    private let names: RequestNames

    init() {
        let random = SeededRandom(seed: 9)
        samples = (0..<1_000).map { _ in Self.sample(random) }
        changes = samples.map { sample in
            sample.values.enumerated().map { FieldChange(UInt32($0.offset + 1), $0.element) }
        }
        var names = RequestNames()
        _ = names.ordinal(of: Self.zone)
        _ = names.ordinal(ofType: Self.type)
        for key in Self.keys { _ = names.ordinal(ofKey: key) }
        self.names = names
    }

    func fields(of index: Int) -> [FieldChange] { changes[index % changes.count] }

    private static func sample(_ random: SeededRandom) -> Sample {
        let text = Array("The quick brown fox jumps over the lazy dog while nobody looks. ".utf8)
        let texts = [24, 60, 12, 40].map { count in
            let start = Int(random.next(below: UInt64(text.count)))
            return String(decoding: (0..<count).map { text[(start + $0) % text.count] }, as: UTF8.self)
        }
        return Sample(
            texts: texts, priority: Int64(random.next(below: 1_000)),
            position: Int64(truncatingIfNeeded: random.next()), estimate: Double(random.next(below: 1_000_000)) / 8,
            due: Double(random.next(below: 1 << 30)),
            thumbnail: (0..<64).map { _ in UInt8(truncatingIfNeeded: random.next()) },
            latitude: 52 + Double(random.next(below: 1_000)) / 1_000,
            longitude: 13 + Double(random.next(below: 1_000)) / 1_000)
    }

    // MARK: Names

    static let nameBytes = 36

    /// The name of the record with that number: it looks random, and comes again for the same number.
    static func name(_ index: Int) -> String {
        String(unsafeUninitializedCapacity: nameBytes) { buffer in
            write(name: index, into: UnsafeMutableRawBufferPointer(buffer))
            return nameBytes
        }
    }

    static func write(name index: Int, into buffer: UnsafeMutableRawBufferPointer) {
        var bits = (mixed(UInt64(index) &* 2 &+ 1), mixed(UInt64(index) &* 2 &+ 2))
        for place in 0..<nameBytes {
            if place == 8 || place == 13 || place == 18 || place == 23 {
                buffer[place] = 0x2D
                continue
            }
            let digit = UInt8(truncatingIfNeeded: bits.0 & 15)
            buffer[place] = digit < 10 ? 0x30 + digit : 0x37 + digit
            bits.0 >>= 4
            if place == 18 - 1 { bits = (bits.1, 0) }
        }
    }

    private static func mixed(_ index: UInt64) -> UInt64 {
        var value = index &* 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    static func id(_ index: Int) -> RecordID { RecordID(name(index), zone: zone) }

    // MARK: Requests

    /// Saves the new records with these numbers.
    func saving(_ indexes: Range<Int>) -> Request {
        var body = ModifyRecordsRequest()
        body.saves.reserveCapacity(indexes.count)
        for index in indexes {
            body.saves.append(
                .init(RecordKey(zone: 1, name: Self.name(index)), type: 1, fields: fields(of: index)))
        }
        return Request(database: Self.database, names: names, .modifyRecords(body))
    }

    /// Saves records again, with other values in each round.
    func saving(_ indexes: Range<Int>, asIn round: Int) -> Request {
        var request = saving(indexes)
        guard case .modifyRecords(var body) = request.content else { return request }
        body.policy = .allKeys
        for index in body.saves.indices {
            body.saves[index].fields = fields(of: indexes.lowerBound + index + 37 * round)
        }
        request.content = .modifyRecords(body)
        return request
    }

    static var makingZone: Request {
        var names = RequestNames()
        let zone = names.ordinal(of: Self.zone)
        return Request(database: database, names: names, .modifyZones(ModifyZonesRequest(saves: [.init(zone)])))
    }
}

/// Gives each new record a number of its own, whoever saves it.
final class TaskNumbers: Sendable {
    private let next: Atomic<Int>

    init(from first: Int) { next = Atomic(first) }

    func take(_ count: Int) -> Range<Int> {
        let end = next.add(count, ordering: .relaxed).newValue
        return end - count..<end
    }
}
