import StrataModel
import StrataSystem

/// The records that stores and peers have: tasks with ten fields, about 350 bytes, under random names.
struct TaskRecords: Sendable {
    static let zone = ZoneID("Tasks")
    static let type = "Task"
    static let keys = [
        "title", "notes", "status", "assignee", "priority", "position", "estimate", "due", "thumbnail", "place",
    ]
    /// The keys on which all sides have an index.
    static let indexedKeys = ["priority", "estimate", "due"]
    static let database = DatabaseID(.private)
    static let actor = Actor(user: "anna", device: "phone")

    static func actor(ofUser number: Int) -> Actor {
        number == 0 ? actor : Actor(user: "user \(number)", device: "phone")
    }

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

    /// The size of a record, which is mostly the text of its notes.
    enum Shape: String, CaseIterable {
        case small = "100 B"
        case usual = "350 B"
        case large = "10 KB"
        case huge = "500 KB"

        /// Bytes of title, notes, status and assignee, and of the thumbnail.
        fileprivate var byteCounts: (texts: [Int], thumbnail: Int) {
            switch self {
            case .small: ([12, 0, 6, 10], 0)
            case .usual: ([24, 60, 12, 40], 64)
            case .large: ([24, 9_700, 12, 40], 64)
            case .huge: ([24, 499_000, 12, 40], 64)
            }
        }

        /// As many as a request can have: 2 MB at most.
        var requestCount: Int {
            switch self {
            case .small, .usual: 400
            case .large: 100
            case .huge: 2
            }
        }

        /// The number of records if sizes are compared.
        var recordCount: Int {
            switch self {
            case .small, .usual: 100_000
            case .large: 10_000
            case .huge: 400
            }
        }

        /// Together small enough to be made quickly, and enough that nothing learns them.
        fileprivate var sampleCount: Int {
            switch self {
            case .small, .usual: 4_000
            case .large: 400
            case .huge: 12
            }
        }
    }

    let shape: Shape
    /// Chosen by the number of a record, so that making them costs neither side anything.
    let samples: [Sample]
    private let changes: [[FieldChange]]
    private let names: RequestNames
    private static let duePlace = 7

    init(_ shape: Shape = .usual) {
        self.shape = shape
        let random = SeededRandom(seed: 9)
        samples = (0..<shape.sampleCount).map { _ in Self.sample(shape, random) }
        changes = samples.map { sample in
            sample.values.enumerated().map { FieldChange(UInt32($0.offset + 1), $0.element) }
        }
        var names = RequestNames()
        _ = names.ordinal(of: Self.zone)
        _ = names.ordinal(ofType: Self.type)
        for key in Self.keys { _ = names.ordinal(ofKey: key) }
        self.names = names
    }

    /// The sample whose values a version of a record has, all but the time when it is due.
    func place(of number: Int, version: Int = 0) -> Int {
        Int(Self.mixed(UInt64(number) &+ UInt64(version) << 40) % UInt64(samples.count))
    }

    /// Random in each version of each record: the rows of an index on it are as scattered in every store.
    static func due(_ number: Int, version: Int = 0) -> Double {
        Double(mixed(~UInt64(number) &- UInt64(version) << 40) >> 34)
    }

    func fields(of number: Int, version: Int = 0) -> [FieldChange] {
        var fields = changes[place(of: number, version: version)]
        fields[Self.duePlace] = FieldChange(
            UInt32(Self.duePlace + 1), .date(Self.due(number, version: version)))
        return fields
    }

    private static func sample(_ shape: Shape, _ random: SeededRandom) -> Sample {
        let (textBytes, thumbnailBytes) = shape.byteCounts
        return Sample(
            texts: textBytes.map { text($0, random) }, priority: Int64(random.next(below: 1_000)),
            position: Int64(truncatingIfNeeded: random.next()), estimate: Double(random.next(below: 1_000_000)) / 8,
            due: 0, thumbnail: (0..<thumbnailBytes).map { _ in UInt8(truncatingIfNeeded: random.next()) },
            latitude: 52 + Double(random.next(below: 1_000)) / 1_000,
            longitude: 13 + Double(random.next(below: 1_000)) / 1_000)
    }

    /// The length of the record as an app would write it to a file.
    func jsonBytes(_ number: Int) -> Int {
        let sample = samples[place(of: number)]
        let texts = zip(Self.keys, sample.texts).map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",")
        let numbers =
            "\"priority\":\(sample.priority),\"position\":\(sample.position),\"estimate\":\(sample.estimate),"
            + "\"due\":\(Self.due(number)),\"place\":{\"latitude\":\(sample.latitude),"
            + "\"longitude\":\(sample.longitude),\"accuracy\":5}"
        // The thumbnail is in base 64.
        let thumbnail = "\"thumbnail\":\"\"".utf8.count + (sample.thumbnail.count + 2) / 3 * 4
        let name = "\"name\":\"\(Self.name(number))\",\"type\":\"\(Self.type)\",\"zone\":\"\(Self.zone.name)\""
        return "{\(name),\(texts),\(numbers),}\n".utf8.count + thumbnail
    }

    private static func text(_ count: Int, _ random: SeededRandom) -> String {
        var text = ""
        while text.utf8.count < count {
            text += words[Int(random.next(below: UInt64(words.count)))]
            // Numbers, so that long texts do not compress to nothing.
            text += random.next(below: 4) == 0 ? " \(random.next(below: 10_000)) " : " "
        }
        return String(text.prefix(count))
    }

    private static let words = [
        "the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "while", "everybody", "looks", "review",
        "draft", "garden", "invoice", "harbor", "call", "before", "meeting", "weekly", "plan", "order", "blue",
        "repair", "ticket", "holiday", "window", "answer", "letter", "paint",
    ]

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

    static func mixed(_ index: UInt64) -> UInt64 {
        var value = index &* 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    static func id(_ index: Int) -> RecordID { RecordID(name(index), zone: zone) }

    // MARK: Requests

    /// Saves the new records with these numbers.
    func saving(_ indexes: Range<Int>) -> Request { modifying(TaskWrite.inserts(indexes)) }

    /// Saves records again, with other values in each round.
    func saving(_ indexes: Range<Int>, asIn round: Int) -> Request {
        modifying(indexes.map { TaskWrite(kind: .update, number: $0, version: round) })
    }

    /// The request that makes these changes. A new record must not exist; an existing one may have any state.
    func modifying(_ writes: [TaskWrite]) -> Request {
        var body = ModifyRecordsRequest()
        body.saves.reserveCapacity(writes.count)
        for write in writes {
            let key = RecordKey(zone: 1, name: Self.name(write.number))
            switch write.kind {
            case .delete: body.deletes.append(key)
            case .update:
                body.policy = .allKeys
                fallthrough
            case .insert:
                body.saves.append(.init(key, type: 1, fields: fields(of: write.number, version: write.version)))
            }
        }
        return Request(database: Self.database, names: names, .modifyRecords(body))
    }

    static var makingZone: Request {
        var names = RequestNames()
        let zone = names.ordinal(of: Self.zone)
        return Request(database: database, names: names, .modifyZones(ModifyZonesRequest(saves: [.init(zone)])))
    }
}
