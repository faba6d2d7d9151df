import Glibc
import StrataLog
import StrataModel
import StrataSystem

/// Durable commits on the path of a store: single appends to the log, groups as the pipeline appends them, and whole
/// saves by many clients of a store.
extension LogWorkload {
    private static let bareFileBytes = 256 << 20
    private static let clientCount = 64

    func largeOneWriter(_ memory: MemoryLedger) throws -> [Measurement] {
        let frames = StoredFrames.of(large)
        var target = [UInt8](repeating: 0, count: StoredFrames.bound(large.map(\.count).max() ?? 0))
        let figures = try rounds(
            memory, strata: { try commitsPerSecond($0, large) },
            peer: {
                var next = 0
                return try bareLoop().run(seconds: size.roundSeconds) { write in
                    let place = next % large.count
                    next += 1
                    let count = target.withUnsafeMutableBytes { target in
                        large[place].withUnsafeBytes { LZ4.compress($0, into: target) }
                    }
                    guard count != nil else { throw BenchError(message: "the sample does not compress") }
                    try frames[place].withUnsafeBytes { try write($0) }
                }
            })
        return [
            Measurement(
                workload: Self.name, metric: "durable 100 KB commits, one by one", unit: "commits/s",
                strata: figures.strata, peer: "bare loop + LZ4", peerValues: figures.peer, bar: .ratioAtLeast(0.85))
        ]
    }

    func largeGroups(_ memory: MemoryLedger) throws -> [Measurement] {
        let figures = try rounds(
            memory, strata: { try commitsPerSecond($0, large, together: 8) },
            peer: { try bareCommitsPerSecond(StoredFrames.of(large)) })
        return [
            Measurement(
                workload: Self.name, metric: "durable 100 KB commits, 8 in a group", unit: "commits/s",
                strata: figures.strata, peer: "bare loop", peerValues: figures.peer, bar: .ratioAtLeast(0.85))
        ]
    }

    func smallOneWriter(_ memory: MemoryLedger) throws -> [Measurement] {
        let figures = try rounds(
            memory, strata: { try commitsPerSecond($0, small) },
            peer: { try bareCommitsPerSecond(StoredFrames.of(small)) })
        return [
            Measurement(
                workload: Self.name, metric: "durable 300 B commits, one by one", unit: "commits/s",
                strata: figures.strata, peer: "bare loop", peerValues: figures.peer, bar: .ratioAtLeast(0.85))
        ]
    }

    /// Single saves into fresh stores, whose pipelines decide the requests and append those that wait as a group.
    func savesOfManyClients() throws -> [Measurement] {
        let records = TaskRecords()
        let seconds = size.roundSeconds
        func rate(_ load: (StrataTasks, TaskNumbers) throws -> Load) throws -> Double {
            let path = "\(folder)/clients.strata"
            defer { removeTree(path) }
            let store = StrataTasks(path: path, records)
            _ = try store.store().modify(TaskRecords.makingZone, as: TaskRecords.actor)
            defer { try? store.close() }
            return try load(store, TaskNumbers(from: 0)).rate
        }
        let clients = Self.clientCount
        let sides: [() throws -> Double] = [
            {
                try rate { store, numbers in
                    try Load.runTasks(clients: clients, seconds: seconds) {
                        try await store.write(TaskWrite.inserts(numbers.take(1)))
                    }
                }
            },
            {
                try rate { store, numbers in
                    try Load.run(clients: clients, seconds: seconds) {
                        try store.write(TaskWrite.inserts(numbers.take(1)))
                        return 1
                    }
                }
            },
            {
                try rate { store, numbers in
                    try Load.alone(seconds: seconds) {
                        try store.write(TaskWrite.inserts(numbers.take(1)))
                        return 1
                    }
                }
            },
        ]
        let figures = try alternating(rounds: size.rounds, sides) { Glibc.sync() }
        return [("tasks", figures[0], 15.0), ("threads", figures[1], 10)].map { clients, rates, bar in
            Measurement(
                workload: Self.name, metric: "durable saves of 350 B, \(Self.clientCount) \(clients) of a store",
                unit: "saves/s", strata: rates, peer: "1 thread", peerValues: figures[2], bar: .ratioAtLeast(bar))
        }
    }

    // MARK: Sides

    private func bareLoop() -> BareLoop { BareLoop(path: "\(folder)/bare", fileBytes: Self.bareFileBytes) }

    private func bareCommitsPerSecond(_ frames: [[UInt8]]) throws -> Double {
        var next = 0
        return try bareLoop().run(seconds: size.roundSeconds) { write in
            try frames[next % frames.count].withUnsafeBytes { try write($0) }
            next += 1
        }
    }

    /// - Parameter count: the commits of a group, which share one write and one sync.
    func commitsPerSecond(
        _ log: SegmentedLog, _ payloads: [ArraySlice<UInt8>], together count: Int = 1
    ) throws -> Double {
        let samples = try payloads.map(Self.commit)
        var next = 0
        return try Load.alone(seconds: size.roundSeconds) {
            let group = (next..<next + count).map { samples[$0 % samples.count] }
            next += count
            try append(group, to: log)
            return count
        }.rate
    }

    /// Returns a commit with its touches, as a decision has them.
    static func commit(_ payload: ArraySlice<UInt8>) throws -> NewCommit {
        let touches = try payload.withUnsafeBytes { try Envelope.touches(of: $0) }
        return NewCommit(id: .zero, time: 0, payload: payload, touches: touches)
    }

    /// Appends a group as the pipeline of a store does.
    func append(_ group: [NewCommit], to log: SegmentedLog) throws {
        let time = max(log.platform.time.nowMicroseconds(), log.endTime ?? .min)
        var commits = group
        for index in commits.indices {
            commits[index].id = log.platform.random.nextIdentifier()
            commits[index].time = time
        }
        // The log may accept a prefix, when a segment is full.
        while !commits.isEmpty { commits.removeFirst(try log.append(commits, expecting: log.end).positions.count) }
    }
}
