import StrataLog
import StrataModel
import StrataStore
import StrataSystem

extension StoreWorkload {
    /// How many fetches share a snapshot, or a transaction.
    private static let fetchLot = 100

    func fetches(_ pair: StorePair, _ progress: (String) -> Void) throws -> [Measurement] {
        progress("store: fetches by ID")
        let numbers = order(below: max(1, pair.count))
        let ids = numbers.map { TaskRecords.id($0) }
        let names = numbers.map { Array(TaskRecords.name($0).utf8) }
        var (next, sum) = (0, 0)
        func peer(_ body: ([UInt8]) throws -> Void) throws -> Double {
            try timed {
                try pair.peer.reading {
                    for place in next..<next + Self.fetchLot { try body(names[place % names.count]) }
                }
                next += Self.fetchLot
                return Self.fetchLot
            }
        }
        // What is not in memory yet comes into it.
        for id in ids { sum += try valueCount(pair.store, id) }
        for name in names { sum &+= try name.withUnsafeBytes { try pair.peer.fetchInPlace($0) } }
        let figures = try alternate([
            { try fetchRate(pair.store, ids) },
            { try peer { name in sum &+= try name.withUnsafeBytes { try pair.peer.fetch($0).thumbnail.count } } },
            { try peer { name in sum &+= try name.withUnsafeBytes { try pair.peer.fetchInPlace($0) } } },
            { try fetchRate(pair.store, ids, inPlace: true) },
            { try lotRate(pair.store, ids) },
        ])
        guard sum != 0 else { throw BenchError(message: "nothing was fetched") }
        let metric = "fetch by ID, warm, all values read"
        let (swift, inPlace) = ("SQLite, values of Swift", "SQLite, columns in place")
        return [
            measurement(metric, "fetches/s", figures[0], swift, figures[1], .ratioAtLeast(4)),
            measurement(metric, "fetches/s", figures[0], inPlace, figures[2], .ratioAtLeast(4)),
            measurement("\(metric) in place", "fetches/s", figures[3], inPlace, figures[2], .ratioAtLeast(2.2)),
            measurement(
                "\(Self.fetchLot) IDs together, all values read in place", "fetches/s", figures[4], inPlace,
                figures[2], .ratioAtLeast(4)),
        ]
    }

    private func order(below limit: Int) -> [Int] {
        let random = SeededRandom(seed: 3)
        return (0..<min(limit, 200_000)).map { _ in Int(random.next(below: UInt64(limit))) }
    }

    private func valueCount(_ store: Store, _ id: RecordID) throws -> Int {
        try store.snapshot().record(id, in: TaskRecords.database, as: TaskRecords.actor).fields.count
    }

    /// Reads every value of a record in place; the number of values.
    private func look(_ record: Record) throws -> Int {
        var (count, sum) = (0, Int64(0))
        try record.forEachValue { _, value in
            count += 1
            if let number = try value.int64 {
                sum &+= number
            } else if try value.withText({ sum &+= Int64($0.span[0]) }) == nil {
                sum &+= Int64(try value.double ?? value.date ?? Double(value.kind.rawValue))
            }
        }
        guard sum != 0 else { throw BenchError(message: "the values are missing") }
        return count
    }

    private func lotRate(_ store: Store, _ ids: [RecordID]) throws -> Double {
        var (next, sum) = (0, 0)
        let rate = try timed {
            let start = next % ids.count
            let lot = Array(ids[start..<min(start + Self.fetchLot, ids.count)])
            for result in try store.snapshot().records(lot, in: TaskRecords.database, as: TaskRecords.actor) {
                sum += try look(result.get())
            }
            next += lot.count
            return lot.count
        }
        guard sum == next * TaskRecords.keys.count else { throw BenchError(message: "a record lacks values") }
        return rate
    }

    private func fetchRate(_ store: Store, _ ids: [RecordID], inPlace: Bool = false) throws -> Double {
        var (next, sum) = (0, 0)
        let rate = try timed {
            let snapshot = store.snapshot()
            for place in next..<next + Self.fetchLot {
                let record = try snapshot.record(
                    ids[place % ids.count], in: TaskRecords.database, as: TaskRecords.actor)
                if inPlace { sum += try look(record) } else { try record.forEachField { _, _ in sum += 1 } }
            }
            next += Self.fetchLot
            return Self.fetchLot
        }
        guard sum == next * TaskRecords.keys.count else { throw BenchError(message: "a record lacks values") }
        return rate
    }

    // MARK: Growth

    func growth(_ progress: (String) -> Void) throws -> [Measurement] {
        let (few, many) = size.isQuick ? (10_000, 200_000) : (100_000, 10_000_000)
        progress("store: \(many) records, to be fetched by ID")
        let large = try grown(to: many)
        defer { removeTree(large.path) }
        let small = try grown(to: few)
        defer { removeTree(small.path) }
        let (largeIDs, smallIDs) = (
            order(below: many).map { TaskRecords.id($0) }, order(below: few).map { TaskRecords.id($0) }
        )
        for id in largeIDs { _ = try valueCount(large.store, id) }
        for id in smallIDs { _ = try valueCount(small.store, id) }
        let figures = try alternate([
            { try 1e6 / fetchRate(large.store, largeIDs) }, { try 1e6 / fetchRate(small.store, smallIDs) },
        ])
        try large.store.close()
        try small.store.close()
        return [
            measurement(
                "fetch by ID, \(many) records", "µs", figures[0], "\(few) records", figures[1], .ratioAtMost(2))
        ]
    }

    /// A store with so many records, made by writing its log.
    private func grown(to count: Int) throws -> (store: Store, path: String) {
        let path = "\(folder)/grown-\(count).strata"
        do {
            let store = try Store.open(at: path)
            _ = try store.modify(TaskRecords.makingZone, as: TaskRecords.actor)
            _ = try store.modify(records.saving(0..<1), as: TaskRecords.actor)
            try store.close()
        }
        let log = try SegmentedLog.open(at: path, options: LogOptions(durability: .system))
        let last = try CommitHeader(last: log)
        for start in stride(from: 1, to: count, by: 1_000) {
            var commit = CommitBuilder()
            for number in start..<min(count, start + 1_000) {
                let key = RecordKey(zone: last.zone, name: TaskRecords.name(number))
                var event = RecordSavedEvent(.create, key, type: last.type)
                event.fields = records.fields(of: number)
                try commit.append(event)
            }
            let payload = commit.payload(last.header)
            let id = Identifier(high: 2, low: UInt64(start))
            _ = try log.append([NewCommit(id: id, time: last.time, payload: payload[...])], expecting: log.end)
        }
        try log.close()
        return (try Store.open(at: path), path)
    }
}

/// What the last commit of a log says of its one record, so that more like it can be written.
private struct CommitHeader {
    let header: EnvelopeHeader
    let zone: UInt64
    let type: UInt64
    let time: Int64

    init(last log: SegmentedLog) throws {
        guard let commit = try log.commit(at: log.end.offset) else { throw BenchError(message: "the log is empty") }
        time = commit.time
        var found: (EnvelopeHeader, UInt64, UInt64)?
        try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            let header = try walker.header()
            while let event = try walker.next() {
                guard event.kind == .recordSaved else { continue }
                let saved = try RecordSavedView(payload, in: event.body)
                found = (header, saved.zone, saved.type)
            }
        }
        guard let found else { throw BenchError(message: "the last commit saves nothing") }
        (header, zone, type) = found
    }
}
