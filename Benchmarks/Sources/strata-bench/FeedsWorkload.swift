import Glibc
import StrataLog
import StrataModel
import StrataStore
import StrataSystem

/// Feeds beside SQLite, and what subscriptions cost those who write.
struct FeedsWorkload: StoreFolderWorkload {
    static let name = "feeds"

    enum Part: String, CaseIterable {
        case first, since, database, subscriptions
    }

    let size: WorkloadSize
    let folder: String
    private let actor = Actor(user: "anna", device: "phone")
    private static let subscriptionCount = 10_000

    init(size: WorkloadSize, folder: String) {
        self.size = size
        self.folder = folder
    }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        var measurements: [Measurement] = []
        if isWanted(.first) { measurements += try first(progress) }
        if isWanted(.since) { measurements += try since(progress) }
        if isWanted(.database) { measurements += try database(progress) }
        if isWanted(.subscriptions) { measurements += try subscriptions(progress) }
        return measurements
    }

    /// Decodes the name and every value of a page's records.
    private func decode(_ page: ZoneFeedPage) throws -> Int {
        for record in page.changed {
            _ = record.id
            try record.forEachField { _, _ in }
        }
        return page.changed.count
    }

    /// Reads every value of a page's records in place.
    private func look(_ page: ZoneFeedPage) throws -> Int {
        let sum = try page.changed.reduce(0) { try $0 &+ $1.lookInPlace().sum }
        guard page.changed.isEmpty || sum != 0 else { throw BenchError(message: "the values are missing") }
        return page.changed.count
    }

    // MARK: From nil

    private func first(_ progress: (String) -> Void) throws -> [Measurement] {
        let records = QueryRecords(count: size.isQuick ? 100_000 : 1_000_000)
        progress("feeds: \(records.count) records in one zone")
        let store = try open("first")
        defer { removing("first", store) }
        _ = try store.modify(QueryRecords.making([QueryRecords.zone]), as: actor)
        for start in stride(from: 0, to: records.count, by: 5_000) {
            _ = try store.modify(records.saving(start..<min(records.count, start + 5_000)), as: actor)
        }
        progress("feeds: SQLite with the same")
        let peer = try QueryPeer(path: "\(folder)/first.sqlite", records)
        try peer.prepareFeed()
        func fetch(_ read: (ZoneFeedPage) throws -> Int) throws -> Double {
            let start = secondsNow()
            var (token, count): (FeedToken?, Int) = (nil, 0)
            while true {
                let page = try store.zoneChanges(
                    of: QueryRecords.zone, in: QueryRecords.database, since: token, limit: 200, as: actor)
                count += try read(page)
                token = page.token
                if !page.moreComing { break }
            }
            guard count == records.count else { throw BenchError(message: "\(count) records came") }
            return secondsNow() - start
        }
        func peerFetch(_ reading: Reading) throws -> Double {
            let start = secondsNow()
            guard try peer.readFeed(pageSize: 200, reading) == records.count else {
                throw BenchError(message: "SQLite's feed has another number of records")
            }
            return secondsNow() - start
        }
        let figures = try alternating(
            rounds: size.rounds,
            [
                { try fetch(decode) }, { try fetch(look) }, { try peerFetch(.values) }, { try peerFetch(.inPlace) },
            ])
        let metric = "first fetch of \(records.count), pages of 200"
        return [
            Measurement(
                workload: Self.name, metric: metric, unit: "s", strata: figures[0], peer: "SQLite",
                peerValues: figures[2], bar: .ratioAtMost(0.55)),
            Measurement(
                workload: Self.name, metric: "\(metric), in place", unit: "s", strata: figures[1],
                peer: "SQLite, in place", peerValues: figures[3], bar: .ratioAtMost(0.3)),
        ]
    }

    // MARK: Since a token

    /// A store whose last commits are 100 changes of one zone among 1,000 times as many of others.
    private func interleaved(_ name: String, _ commitCount: Int, _ progress: (String) -> Void) throws -> (
        Store, FeedToken
    ) {
        progress("feeds: a log of \(commitCount) commits")
        let store = try open(name)
        let zones = (0..<100).map { ZoneID("Other \($0)") }
        _ = try store.modify(QueryRecords.making([QueryRecords.zone] + zones), as: actor)
        let records = QueryRecords(count: 100)
        func others(_ range: Range<Int>) throws {
            try concurrently(8) { worker in
                for number in range where number % 8 == worker {
                    var names = RequestNames()
                    let zone = names.ordinal(of: zones[number % zones.count])
                    let key = names.ordinal(ofKey: "n")
                    let body = ModifyRecordsRequest(
                        saves: [
                            .init(
                                RecordKey(zone: zone, name: "r\(number % 50_000)"),
                                type: names.ordinal(ofType: "Other"),
                                fields: [FieldChange(key, .int64(Int64(number)))])
                        ], policy: .allKeys)
                    _ = try store.modify(
                        Request(database: QueryRecords.database, names: names, .modifyRecords(body)), as: actor)
                }
            }
        }
        try others(0..<max(0, commitCount - 100_000))
        let token = try store.zoneChanges(of: QueryRecords.zone, in: QueryRecords.database, as: actor).token
        for change in 0..<100 {
            try others(change * 999..<(change + 1) * 999)
            _ = try store.modify(records.saving(change..<change + 1), as: actor)
        }
        return (store, token)
    }

    private func concurrently(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let failure = Lock<(any Error)?>(nil)
        let threads = try (0..<count).map { worker in
            try WorkerThread(name: "client-\(worker)") {
                do { try body(worker) } catch { failure.withLock { $0 = error } }
            }
        }
        for thread in threads { thread.join() }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private func since(_ progress: (String) -> Void) throws -> [Measurement] {
        let longCount = size.isQuick ? 400_000 : 10_000_000
        let (short, shortToken) = try interleaved("short", 100_000, progress)
        defer { removing("short", short) }
        let (long, longToken) = try interleaved("long", longCount, progress)
        defer { removing("long", long) }
        func ask(_ store: Store, _ token: FeedToken) throws {
            let page = try store.zoneChanges(
                of: QueryRecords.zone, in: QueryRecords.database, since: token, limit: 200, as: actor)
            guard try decode(page) == 100, !page.moreComing else { throw BenchError(message: "not 100 changes") }
        }
        let figures = try alternating(
            rounds: size.rounds,
            [
                { try size.milliseconds { try ask(long, longToken) } * 1_000 },
                { try size.milliseconds { try ask(short, shortToken) } * 1_000 },
            ])
        return [
            Measurement(
                workload: Self.name, metric: "100 changes, log of \(longCount)", unit: "µs", strata: figures[0],
                bar: .atMost(300)),
            Measurement(
                workload: Self.name, metric: "100 changes, log of \(longCount)", unit: "µs", strata: figures[0],
                peer: "log of 100,000", peerValues: figures[1], bar: .ratioAtMost(1.5)),
        ]
    }

    private func database(_ progress: (String) -> Void) throws -> [Measurement] {
        progress("feeds: 10,000 zones")
        let store = try open("zones")
        defer { removing("zones", store) }
        let zones = (0..<10_000).map { ZoneID("Zone \($0)") }
        for start in stride(from: 0, to: zones.count, by: 1_000) {
            _ = try store.modify(QueryRecords.making(Array(zones[start..<start + 1_000])), as: actor)
        }
        var page = try store.databaseChanges(in: QueryRecords.database, as: actor)
        while page.moreComing {
            page = try store.databaseChanges(in: QueryRecords.database, since: page.token, as: actor)
        }
        let token = page.token
        let records = QueryRecords(count: 100)
        for number in 0..<3 {
            _ = try store.modify(records.saving(number..<number + 1, into: [zones[number * 4_000]]), as: actor)
        }
        let figures = try (0..<size.rounds).map { _ in
            try size.milliseconds {
                let page = try store.databaseChanges(in: QueryRecords.database, since: token, as: actor)
                guard page.changed.count == 3 else { throw BenchError(message: "not 3 zones") }
            } * 1_000
        }
        return [
            Measurement(
                workload: Self.name, metric: "3 of 10,000 zones changed", unit: "µs", strata: figures,
                bar: .atMost(100))
        ]
    }

    // MARK: Subscriptions

    private func subscriptions(_ progress: (String) -> Void) throws -> [Measurement] {
        progress("feeds: \(Self.subscriptionCount) subscriptions")
        let watched = try open("watched", .commit)
        defer { removing("watched", watched) }
        let plain = try open("plain", .commit)
        defer { removing("plain", plain) }
        for store in [watched, plain] { _ = try store.modify(QueryRecords.making([QueryRecords.zone]), as: actor) }
        for start in stride(from: 0, to: Self.subscriptionCount, by: 1_000) {
            var names = RequestNames()
            let type = names.ordinal(ofType: QueryRecords.type)
            let saves = (start..<start + 1_000).map { number in
                Subscription(
                    "s\(number)", .query, recordType: type, predicate: "bucket == \(number)", options: [.creation])
            }
            _ = try watched.modify(
                Request(database: QueryRecords.database, names: names, .modifySubscriptions(.init(saves: saves))),
                as: actor)
        }
        let box = try watched.listen(as: Actor(user: "anna", device: "tablet"))
        let arrivals = Lock<[Double]>([])
        let listener = Task.detached {
            while await box.next() != nil { arrivals.withLock { $0.append(secondsNow()) } }
        }
        defer { listener.cancel() }
        let records = QueryRecords(count: 1_000_000)
        let saveCount = size.isQuick ? 300 : 2_000
        var next = [0, 0]
        func save(_ store: Store, _ side: Int, _ count: Int) throws -> Double {
            let start = secondsNow()
            for _ in 0..<count {
                _ = try store.modify(records.saving(next[side]..<next[side] + 1), as: actor)
                next[side] += 1
            }
            return (secondsNow() - start) * 1e6 / Double(count)
        }
        let figures = try alternating(
            rounds: size.rounds, [{ try save(watched, 0, saveCount) }, { try save(plain, 1, saveCount) }])
        progress("feeds: from save to notification")
        var delays: [Double] = []
        // Each has a bucket that somebody has subscribed to.
        for number in 0..<saveCount {
            arrivals.withLock { $0.removeAll() }
            _ = try watched.modify(bucketed(records, next[0], bucket: number % 10_000), as: actor)
            next[0] += 1
            let saved = secondsNow()
            var arrived: Double?
            while arrived == nil, secondsNow() - saved < 5 { arrived = arrivals.withLock { $0.first } }
            guard let arrived else { throw BenchError(message: "a notification did not come") }
            delays.append(max(0, arrived - saved) * 1_000)
        }
        delays.sort()
        return [
            Measurement(
                workload: Self.name, metric: "a save beside \(Self.subscriptionCount) query subscriptions", unit: "µs",
                strata: figures[0], peer: "with none", peerValues: figures[1], bar: .ratioAtMost(1.3)),
            Measurement(
                workload: Self.name, metric: "save to notification, p99", unit: "ms",
                strata: [delays[delays.count * 99 / 100]], bar: .atMost(2)),
        ]
    }

    private func bucketed(_ records: QueryRecords, _ index: Int, bucket: Int) -> Request {
        var request = records.saving(index..<index + 1)
        guard case .modifyRecords(var body) = request.content else { return request }
        let key = request.names.ordinal(ofKey: "bucket")
        for place in body.saves[0].fields.indices where body.saves[0].fields[place].field == key {
            body.saves[0].fields[place] = FieldChange(key, .int64(Int64(bucket)))
        }
        request.content = .modifyRecords(body)
        return request
    }
}
