import StrataSystem

/// Fetches, and reads beside writes.
extension RecordsWorkload {
    private static let fetchedTogether = 100
    private static let mixedClients = 16
    private static let queryLimit = 50
    private static let feedLimit = 200

    func fetches(_ sides: TaskSides, _ progress: (String) -> Void) throws -> [Measurement] {
        let keys = Self.keys(below: sides.count)
        var measurements: [Measurement] = []
        for reading in [Reading.inPlace, .values] {
            for together in [1, Self.fetchedTogether] {
                let run = Self.fetching(keys, together: together, reading)
                let isInPlace = reading == .inPlace
                let full: Measurement.Bar = isInPlace ? .ratioAtLeast(together == 1 ? 2.2 : 4) : .none
                let quick: Measurement.Bar = isInPlace ? .ratioAtLeast(1) : .none
                measurements += self.measurements(
                    try compare(run, sides, progress), bars: ["SQLite": bar(full, quick: quick)])
            }
        }
        return measurements
    }

    /// In an order that looks random.
    static func keys(below count: Int) -> [TaskKey] {
        let choice = TaskChoice(below: count, seed: 3)
        return (0..<min(count, 200_000)).map { _ in TaskKey(choice.next()) }
    }

    static func fetching(_ keys: [TaskKey], together: Int, _ reading: Reading, _ metric: String? = nil) -> TaskRun {
        let title = together == 1 ? "fetch by ID" : "fetch of \(together) IDs together"
        return TaskRun(
            metric: metric ?? "\(title), values \(reading.rawValue)", unit: "records/s", isReading: true
        ) { store, _ in
            let reader = try store.reader(isShared: false)
            // Brings the records into memory.
            for start in stride(from: 0, to: keys.count, by: fetchedTogether) {
                _ = try reader.fetch(keys[start..<min(keys.count, start + fetchedTogether)], .inPlace)
            }
            let last = max(1, keys.count - together)
            var (next, sum) = (0, 0)
            return {
                next = (next + together) % last
                let wanted = keys[next..<min(keys.count, next + together)]
                sum &+= try reader.fetch(wanted, reading)
                guard sum != 0 else { throw BenchError(message: "nothing was fetched") }
                return wanted.count
            }
        }
    }

    // MARK: Reads beside writes

    /// A load of which 70 % fetch a record, 20 % save an existing one, 5 % query and 5 % read a page of the feed.
    static func mixing(_ sides: TaskSides) -> TaskRun {
        let ends: Lock<[String: FeedPlace]> = Lock([:])
        return TaskRun(
            metric: "70 % fetches, 20 % saves, 5 % queries, 5 % feed pages, \(mixedClients) clients",
            unit: "operations/s", clients: mixedClients, configurations: SQLiteConfiguration.forReaders,
            isGrouped: true,
            prepare: { store in
                let end = try Self.feedEnd(of: store, after: ends.withLock { $0[store.paths[0]] })
                ends.withLock { $0[store.paths[0]] = end }
            },
            client: { [versions = sides.versions, count = sides.count] store, _ in
                let reader = try store.reader(isShared: true)
                let choice = TaskChoice(below: count, seed: versions.take(1).lowerBound)
                var place = ends.withLock { $0[store.paths[0]] }
                return {
                    switch choice.below(100) {
                    case ..<70: _ = try reader.fetch([TaskKey(choice.next())], .values)
                    case ..<90:
                        let version = versions.take(1).lowerBound
                        try store.write([TaskWrite(kind: .update, number: choice.next(), version: version)])
                    case ..<95: _ = try reader.query(priority: choice.below(1_000), limit: queryLimit)
                    default: place = try reader.feed(after: place, limit: feedLimit).place
                    }
                    return 1
                }
            })
    }

    /// Returns the place of a client that has read everything.
    private static func feedEnd(of store: any TaskStore, after start: FeedPlace?) throws -> FeedPlace {
        let reader = try store.reader(isShared: true)
        var page = try reader.feed(after: start, limit: feedLimit)
        while page.hasMore { page = try reader.feed(after: page.place, limit: feedLimit) }
        return page.place
    }

    func mixed(_ sides: TaskSides, _ progress: (String) -> Void) throws -> [Measurement] {
        try measurements(
            compare(Self.mixing(sides), sides, progress),
            bars: ["SQLite grouped": bar(.ratioAtLeast(3), quick: .ratioAtLeast(1))])
    }
}
