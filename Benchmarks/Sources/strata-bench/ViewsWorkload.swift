import Glibc
import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// Replaying a log of saved records into all trees of a store: ten fields, about 350 bytes, commits of 400.
struct ViewsWorkload: Workload {
    static let name = "views"
    static let batch = 400

    let size: WorkloadSize
    let folder: String
    private let eventCount: Int

    init(size: WorkloadSize, folder: String) {
        self.size = size
        self.folder = folder
        eventCount = size.isQuick ? 200_000 : 1_000_000
    }

    /// `STRATA_BENCH_REBUILD=10000000` makes so many records anew.
    var rebuiltRecords: Int? { getenv("STRATA_BENCH_REBUILD").flatMap { Int(String(cString: $0)) } }

    enum Part: String, CaseIterable {
        case replay, opening, rebuild, base, bulk, flush, sustained
    }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        try Part.allCases.filter { size.includes($0.rawValue) }.flatMap { part in
            switch part {
            case .replay: try replays(progress)
            case .opening: try openings(progress)
            case .rebuild: try rebuild(progress)
            case .base: try bases(progress)
            case .bulk: try durableLoad(progress)
            case .flush: try flushUnderLoad(progress)
            case .sustained: try sustained(progress)
            }
        }
    }

    private func replays(_ progress: (String) -> Void) throws -> [Measurement] {
        let keys = SampleKeys(seed: 7, count: eventCount)
        progress("views: replay of \(eventCount) saves, random names")
        let random = try replay(keys, Array(0..<eventCount))
        progress("views: replay of \(eventCount) saves in the order of their names")
        let sorted = try replay(keys, keys.sorted(count: eventCount))
        return [
            Measurement(
                workload: Self.name, metric: "replay, random names", unit: "thousand/s", strata: random,
                bar: .atLeast(300)),
            Measurement(
                workload: Self.name, metric: "replay, names in order", unit: "thousand/s", strata: sorted,
                bar: .atLeast(500)),
        ]
    }

    private func replay(_ keys: SampleKeys, _ order: [Int]) throws -> [Double] {
        let log = MemoryLog()
        try append(Self.names(), at: 1, to: log)
        var sample = SavedRecords(seed: 9)
        for start in stride(from: 0, to: order.count, by: Self.batch) {
            var envelope = Envelope(header: EnvelopeHeader(user: 1, device: 1, operationKind: .modifyRecords))
            for place in order[start..<min(start + Self.batch, order.count)] {
                let name = keys.with(place) { String(decoding: $0, as: UTF8.self) }
                envelope.events.append(try sample.next(named: name))
            }
            try append(envelope, at: UInt64(start / Self.batch + 2), to: log)
        }
        let figures = try (0..<min(size.rounds, 5)).map { _ in
            let trees = try Views.emptyTrees()
            let start = secondsNow()
            try Replay(log: log, trees: trees).run()
            let seconds = secondsNow() - start
            guard try trees.snapshot().entryCount(ViewTree.records) == UInt64(eventCount) else {
                throw BenchError(message: "the replay lost records")
            }
            return Double(eventCount) / seconds / 1e3
        }
        if getenv("STRATA_BENCH_ROUNDS") != nil { printError("views: \(figures)") }
        return figures
    }

    static func names() throws -> Envelope {
        var envelope = Envelope()
        var names: [InternedName.Name] = [
            .user("anna"), .device(user: 1, "phone"), .database(.private, owner: 1),
            .zone(database: 1, owner: 1, "Notes"), .recordType("Note"),
        ]
        names += (1...SavedRecords.fieldCount).map { .field("field-\($0)") }
        for name in names {
            let ordinal = envelope.events.count(where: { $0.body.first == name.namespace.rawValue }) + 1
            envelope.events.append(InternedName(ordinal: UInt64(ordinal), name: name).event)
        }
        envelope.events.append(try ZoneSavedEvent(zone: 1, database: 1).event())
        return envelope
    }

    func append(_ envelope: Envelope, at number: UInt64, to log: any EventLog) throws {
        let commit = NewCommit(
            id: Identifier(high: 1, low: number), time: 1_767_225_600_000_000 + Int64(number) * 1_000,
            payload: envelope.encoded()[...])
        _ = try log.append([commit], expecting: log.end)
    }
}

/// Events of new records with ten fields of all usual kinds.
struct SavedRecords {
    static let fieldCount = 10
    private static let text = Array("The quick brown fox jumps over the lazy dog while nobody looks. ".utf8)

    private let random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    private func text(_ count: Int) -> FieldValue {
        let start = Int(random.next(below: UInt64(Self.text.count)))
        return .string(String(decoding: (0..<count).map { Self.text[(start + $0) % Self.text.count] }, as: UTF8.self))
    }

    mutating func next(named name: String) throws -> Event {
        var event = RecordSavedEvent(.create, RecordKey(zone: 1, name: name), type: 1)
        let data = (0..<64).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let values: [FieldValue] = [
            text(24), text(60), text(12), text(40), .int64(Int64(random.next(below: 1_000))),
            .int64(Int64(truncatingIfNeeded: random.next())), .double(Double(random.next(below: 1_000)) / 8),
            .date(Double(random.next(below: 1 << 30))), .data(data),
            .location(.init(latitude: 52.5, longitude: 13.4, horizontalAccuracy: 5)),
        ]
        event.fields = values.enumerated().map { FieldChange(UInt32($0.offset + 1), $0.element) }
        return try event.event()
    }
}
