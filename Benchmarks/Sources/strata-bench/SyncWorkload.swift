import CloudKit
import Glibc
import StrataSystem

/// Sync engines: what they cost over the calls that they make, and while they have nothing to do.
struct SyncWorkload: StoreFolderWorkload {
    static let name = "sync"

    enum Part: String, CaseIterable {
        case exchange, delay, pending, idle
    }

    /// The time that engines gather causes, on the device that sends and on the one that fetches.
    private static let schedulingSeconds = 2 * 0.1
    private static let stateBytesPerChange = 100.0
    private static let idleEngineCount = 1_000

    let size: WorkloadSize
    let folder: String

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        var measurements: [Measurement] = []
        if isWanted(.exchange) {
            measurements += [try exchange(isDurable: false, progress), try exchange(isDurable: true, progress)]
        }
        if isWanted(.delay) { measurements += [try delay(progress)] }
        if isWanted(.pending) { measurements += try pending(progress) }
        if isWanted(.idle) { measurements += try idle(progress) }
        return measurements
    }

    private func measured(
        _ metric: String, _ unit: String, _ values: [Double], _ bar: Measurement.Bar, peer: String? = nil,
        _ peerValues: [Double] = []
    ) -> Measurement {
        Measurement(
            workload: Self.name, metric: metric, unit: unit, strata: values, peer: peer, peerValues: peerValues,
            bar: bar)
    }

    /// A store in memory, or in the folder with every commit durable.
    private func cloud(_ name: String, isDurable: Bool = false) throws -> CloudStore {
        isDurable
            ? try CloudStore(at: URL(fileURLWithPath: "\(folder)/\(name).strata"), options: .service)
            : try CloudStore.inMemory(options: .service)
    }

    private func removing(_ name: String, _ store: CloudStore) {
        try? store.close()
        removeTree("\(folder)/\(name).strata")
    }

    // MARK: From one device to another

    private func exchange(isDurable: Bool, _ progress: (String) -> Void) throws -> Measurement {
        let count = size.isQuick ? 2_000 : 10_000
        let place = isDurable ? "durable" : "in memory"
        progress("sync: \(count) changes from one device to another, \(place)")
        let store = try cloud("exchange", isDurable: isDurable)
        defer { removing("exchange", store) }
        // Two users, so that neither side fetches what the other sends.
        let engines = SyncedPair(store, user: "anna", automatically: false)
        let calls = CalledPair(store, user: "bert")
        try awaiting {
            try await engines.begin()
            try await calls.begin()
        }
        let figures = try alternating(
            rounds: size.rounds,
            [
                { try milliseconds(engines.source.take(count)) { try await engines.exchange($0) } },
                { try milliseconds(calls.source.take(count)) { try await calls.exchange($0) } },
            ])
        return measured(
            "\(count) changes to another device, \(place)", "ms", figures[0], .ratioAtMost(1.3),
            peer: "modifyRecords, recordZoneChanges", figures[1])
    }

    private func milliseconds(
        _ records: [CKRecord], _ body: @escaping @Sendable ([CKRecord]) async throws -> Void
    ) throws -> Double {
        let start = secondsNow()
        try awaiting { try await body(records) }
        return (secondsNow() - start) * 1_000
    }

    // MARK: From a change to the other delegate

    private func delay(_ progress: (String) -> Void) throws -> Measurement {
        let count = size.isQuick ? 10 : 50
        progress("sync: \(count) changes, one by one")
        let store = try cloud("delay")
        defer { removing("delay", store) }
        let pair = SyncedPair(store, user: "anna", automatically: true)
        let delays = Lock<[Double]>([])
        try awaiting {
            try await pair.begin()
            var arrivals = pair.receiver.arrivals.makeAsyncIterator()
            for _ in 0..<count {
                // Neither device then still reports its state or is in a run.
                try await Task.sleep(for: .milliseconds(300))
                let start = secondsNow()
                pair.add(pair.source.take(1))
                guard let arrival = await arrivals.next() else { throw BenchError(message: "a change did not come") }
                delays.withLock { $0.append((arrival - start - Self.schedulingSeconds) * 1_000) }
            }
        }
        return measured("a change to the other delegate, beyond scheduling", "ms", delays.withLock { $0 }, .atMost(5))
    }

    // MARK: Pending changes

    private func pending(_ progress: (String) -> Void) throws -> [Measurement] {
        let count = 100_000
        progress("sync: \(count) pending changes")
        let store = try cloud("pending")
        defer { removing("pending", store) }
        var (atOnce, oneByOne, bytes): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<size.rounds {
            let changes = (0..<count).map { _ in
                CKSyncEngine.PendingRecordZoneChange.saveRecord(CKRecord.ID(zoneID: SyncedRecords.zone))
            }
            for isOneByOne in [false, true] {
                let pair = SyncedPair(store, user: "anna", automatically: false)
                try awaiting { try await pair.begin() }
                let state = pair.sender.engine.state
                let start = secondsNow()
                if isOneByOne {
                    for change in changes { state.add(pendingRecordZoneChanges: [change]) }
                    oneByOne.append((secondsNow() - start) * 1_000)
                } else {
                    state.add(pendingRecordZoneChanges: changes)
                    atOnce.append((secondsNow() - start) * 1_000)
                    try awaiting { await pair.sender.engine.reportState() }
                    guard let last = pair.sender.app.lastState else { throw BenchError(message: "no state came") }
                    bytes.append(Double(try JSONEncoder().encode(last).count) / Double(count))
                }
            }
        }
        return [
            measured("adding \(count) pending changes at once", "ms", atOnce, .atMost(200)),
            measured("adding \(count) pending changes one by one", "ms", oneByOne, .atMost(200)),
            measured(
                "the state as JSON, a pending change under a UUID", "bytes", bytes, .atMost(Self.stateBytesPerChange)),
        ]
    }

    // MARK: Idle engines

    private func idle(_ progress: (String) -> Void) throws -> [Measurement] {
        progress("sync: \(Self.idleEngineCount) idle engines")
        let store = try cloud("idle")
        defer { removing("idle", store) }
        func engines(_ prefix: String, _ count: Int) throws -> [SyncedDevice] {
            let made = (0..<count).map { number in
                SyncedDevice(store, user: "anna", device: "\(prefix) \(number)", automatically: true)
            }
            try awaiting { for device in made { await device.app.waitForFetch() } }
            // Their last states come after their fetches.
            try awaiting {
                for device in made { await device.engine.reportState() }
                // The store's notes about what happened, which no call waits for, come within a second.
                try await Task.sleep(for: .seconds(3))
            }
            return made
        }
        let seconds: Double = size.isQuick ? 5 : 20
        // Once a process has used tasks, the runtime looks after its threads every second.
        try awaiting { try await Task.sleep(for: .milliseconds(1)) }
        usleep(7_000_000)
        let withoutEngines = Self.wakeUps(in: seconds)
        // All engines share what the first ones load.
        let first = try engines("first", 10)
        let before = MemoryGauge.anonymousMebibytes
        let rest = try engines("device", Self.idleEngineCount)
        let bytes = (MemoryGauge.anonymousMebibytes - before) * 1_024 / Double(Self.idleEngineCount)
        // The threads of tasks end some seconds after their last work; nothing of the engines runs on this thread.
        usleep(7_000_000)
        let wakeUps = [max(0, Self.wakeUps(in: seconds) - withoutEngines)]
        return try withExtendedLifetime((first, rest)) {
            guard (first + rest).allSatisfy({ $0.app.fetchCount == 1 }) else {
                throw BenchError(message: "an idle engine has fetched")
            }
            return [
                measured("an idle engine of \(Self.idleEngineCount)", "KB", [bytes], .atMost(30)),
                measured("wake-ups of all of them, beyond the runtime's", "/s", wakeUps, .atMost(0.5)),
            ]
        }
    }

    /// The number of times per second that threads of this process, except the caller's, gave up a processor: an upper
    /// bound of their wake-ups, since waiting for a lock counts too.
    private static func wakeUps(in seconds: Double) -> Double {
        func count() -> Int {
            var usage = rusage()
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            return usage.ru_nvcsw
        }
        let (start, before) = (secondsNow(), count())
        usleep(UInt32(seconds * 1e6))
        return Double(max(0, count() - before - 1)) / (secondsNow() - start)
    }
}
