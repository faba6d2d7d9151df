import Glibc
import StrataSystem
import TestSupport

/// The operations of clients that each begin the next one as soon as the last was answered.
struct Load: Sendable {
    /// Does one operation, or several with one call, and returns their number; nil if there is no more to do.
    typealias Body = () throws -> Int?

    var seconds = 0.0
    /// The processor time of this process, with the threads that follow and without servers.
    var processorSeconds = 0.0
    var writtenBytes = 0.0
    var count = 0
    /// The time that each call took.
    var latencies = LatencyHistogram()
    /// The operations in each second.
    var perSecond: [Double] = []
    /// The anonymous memory in use at most, beyond what was in use before.
    var peakMebibytes: Double?
    var diskBytes: Double?
    /// What the store passed to the system; nil for a peer.
    var writes: WriteCounts?

    var rate: Double { Double(count) / seconds }
    var processorMicroseconds: Double { processorSeconds * 1e6 / Double(max(1, count)) }
    var writtenBytesEach: Double { writtenBytes / Double(max(1, count)) }

    /// Returns the time within which a part of the calls was answered.
    func milliseconds(of part: Double) -> Double { latencies.microseconds(of: part) / 1_000 }

    /// Returns the loads of clients or processes that worked at the same time as one.
    static func together(_ loads: [Load]) -> Load {
        var sum = Load()
        for load in loads {
            sum.add(load)
            sum.seconds = max(sum.seconds, load.seconds)
            while sum.perSecond.count < load.perSecond.count { sum.perSecond.append(0) }
            for (second, count) in load.perSecond.enumerated() { sum.perSecond[second] += count }
        }
        return sum
    }

    /// Returns the rounds of a side as one.
    static func inTurn(_ loads: [Load]) -> Load {
        var sum = Load()
        for load in loads {
            sum.add(load)
            sum.seconds += load.seconds
            sum.perSecond += load.perSecond
            if let peak = load.peakMebibytes { sum.peakMebibytes = max(peak, sum.peakMebibytes ?? 0) }
            sum.diskBytes = load.diskBytes ?? sum.diskBytes
        }
        return sum
    }

    private mutating func add(_ other: Load) {
        processorSeconds += other.processorSeconds
        writtenBytes += other.writtenBytes
        count += other.count
        latencies.add(other.latencies)
        if let counts = other.writes { writes = (writes ?? WriteCounts()) + counts }
    }

    // MARK: Measuring

    /// Runs one client on this thread.
    ///
    /// - Parameters:
    ///   - finish: what belongs to the measured time beside.
    ///   - rest: waits for work in the background that does not, but whose processor time and bytes are counted.
    static func alone(
        seconds: Double, finish: () throws -> Void = {}, rest: () throws -> Void = {}, _ body: Body
    ) throws -> Load {
        try counted(finish: finish, rest: rest) { try timed(seconds: seconds, body) }
    }

    /// Runs several clients, each on a thread of its own.
    ///
    /// - Parameters:
    ///   - finish: as for one client.
    ///   - rest: as for one client.
    ///   - client: makes the body of one client, on its thread.
    static func run(
        clients: Int, seconds: Double, finish: () throws -> Void = {}, rest: () throws -> Void = {},
        client: @escaping @Sendable (Int) throws -> Body
    ) throws -> Load {
        try counted(finish: finish, rest: rest) {
            let results: Lock<[Result<Load, any Error>]> = Lock([])
            let threads = try (0..<clients).map { number in
                try WorkerThread(name: "client") {
                    let result = Result { try timed(seconds: seconds, try client(number)) }
                    results.withLock { $0.append(result) }
                }
            }
            for thread in threads { thread.join() }
            return together(try results.withLock { $0 }.map { try $0.get() })
        }
    }

    static func run(clients: Int, seconds: Double, _ body: @escaping @Sendable () throws -> Int) throws -> Load {
        try run(clients: clients, seconds: seconds) { _ in body }
    }

    /// Runs several clients, each in a task.
    static func runTasks(
        clients: Int, seconds: Double, finish: () throws -> Void = {}, rest: () throws -> Void = {},
        _ body: @escaping @Sendable () async throws -> Void
    ) throws -> Load {
        try counted(finish: finish, rest: rest) {
            let results: Lock<[Load]> = Lock([])
            try awaiting {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<clients {
                        group.addTask {
                            var clock = LoadClock(seconds: seconds)
                            while clock.goesOn {
                                try await body()
                                clock.note(1)
                            }
                            results.withLock { [load = clock.load] in $0.append(load) }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            return together(results.withLock { $0 })
        }
    }

    /// Notes what a store writes for a load, too.
    static func counting(_ store: any TaskStore, _ body: () throws -> Load) rethrows -> Load {
        let before = store.writeCounts
        var load = try body()
        if let before, let after = store.writeCounts { load.writes = after - before }
        return load
    }

    private static func counted(
        finish: () throws -> Void, rest: () throws -> Void, _ body: () throws -> Load
    ) throws -> Load {
        let before = ProcessUsage.now
        var load = try body()
        let start = secondsNow()
        try finish()
        load.seconds += secondsNow() - start
        try rest()
        ProcessUsage.awaitRest()
        let used = ProcessUsage.now - before
        (load.processorSeconds, load.writtenBytes) = (used.processorSeconds, used.writtenBytes)
        return load
    }

    private static func timed(seconds: Double, _ body: Body) throws -> Load {
        var clock = LoadClock(seconds: seconds)
        while clock.goesOn, let count = try body() { clock.note(count) }
        return clock.load
    }
}

/// Notes when the operations of one client were done.
private struct LoadClock {
    private(set) var load = Load()
    private let seconds: Double
    private let start: Double
    private var last: Double

    init(seconds: Double) {
        self.seconds = seconds
        start = secondsNow()
        last = start
        // In all of its seconds, so that the last client of a second has a place for it.
        load.perSecond = Array(repeating: 0, count: seconds.isFinite ? Int(seconds) : 0)
    }

    var goesOn: Bool { last - start < seconds }

    mutating func note(_ count: Int) {
        let now = secondsNow()
        load.latencies.add(seconds: now - last)
        load.count += count
        let second = Int(now - start)
        if second < load.perSecond.count { load.perSecond[second] += Double(count) }
        last = now
        load.seconds = now - start
    }
}
