import Glibc
import StrataLog
import StrataModel
import StrataSystem

/// The log: durable commits of two sizes, alone and in groups, saves by many clients of a store, appends without sync,
/// opening, reading, sealing, very many segments, and another process that follows.
struct LogWorkload: Workload {
    static let name = "log"

    /// Its parts can be measured alone.
    enum Part: String, CaseIterable { case active, sealed, segments, sealing, following }

    let size: WorkloadSize
    let folder: String

    /// A few hundred different payloads, used in turn, so that nothing is compressed twice in a row from a warm cache
    /// alone.
    let large: [ArraySlice<UInt8>]
    let small: [ArraySlice<UInt8>]

    init(size: WorkloadSize, folder: String) {
        self.size = size
        self.folder = folder
        let samples = SamplePayloads(seed: 1)
        large = (0..<200).map { _ in samples.payload(events: 400, bodyBytes: 246) }
        small = (0..<1_000).map { _ in samples.payload(events: 1, bodyBytes: 268) }
    }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        progress("log: a commit of 400 events has \(large[0].count) bytes, a small one \(small[0].count)")
        let memory = MemoryLedger()
        var measurements: [Measurement] = []
        func measure(_ name: String, _ body: () throws -> [Measurement]) throws {
            progress("log: \(name)")
            measurements += try body()
        }
        func isWanted(_ part: Part) -> Bool { size.includes(part.rawValue) }
        if isWanted(.sealed) { try measure("sealed segments") { try sealedSegments(memory, progress) } }
        if isWanted(.segments) { try measure("very many segments") { try manySegments() } }
        if isWanted(.sealing) { try measure("sealing beside commits") { try sealingBesideCommits(memory) } }
        if isWanted(.following) { try measure("another process follows") { try following() } }
        if isWanted(.active) { try measureActive(memory, measure) }
        if memory.highest > 0 {
            measurements.append(
                Measurement(
                    workload: Self.name, metric: "extra memory, any of these", unit: "MiB", strata: [memory.highest],
                    bar: .atMost(64)))
        }
        return measurements
    }

    private func measureActive(
        _ memory: MemoryLedger, _ measure: (String, () throws -> [Measurement]) throws -> Void
    ) throws {
        try measure("large commits, one writer") { try largeOneWriter(memory) }
        try measure("large commits, eight in a group") { try largeGroups(memory) }
        try measure("small commits, one writer") { try smallOneWriter(memory) }
        try measure("saves by 64 tasks and 64 threads of a store") { try savesOfManyClients() }
        try measure("appends without sync") { try unsynced(memory) }
        try measure("opening after a kill") { try opening(memory) }
    }

    /// Runs both sides in turn. Each round of Strata has a new store.
    func rounds(
        _ memory: MemoryLedger, strata: (SegmentedLog) throws -> Double, peer: () throws -> Double,
        options: LogOptions = LogOptions()
    ) throws -> (strata: [Double], peer: [Double]) {
        var result: (strata: [Double], peer: [Double]) = ([], [])
        for round in 0..<size.rounds {
            // Whoever goes first changes from round to round, so that neither always finds the disk as the other left
            // it.
            for isStrata in round % 2 == 0 ? [true, false] : [false, true] {
                if isStrata {
                    result.strata.append(try strataRound(memory, options, strata))
                } else {
                    result.peer.append(try peer())
                }
                // What either side left to be written back is not the other's to pay for.
                Glibc.sync()
            }
        }
        return result
    }

    private func strataRound(
        _ memory: MemoryLedger, _ options: LogOptions, _ body: (SegmentedLog) throws -> Double
    ) throws -> Double {
        let path = "\(folder)/round.strata"
        defer { removeTree(path) }
        let gauge = MemoryGauge()
        let log = try SegmentedLog.open(at: path, options: options)
        let figure = try body(log)
        memory.note(gauge)
        try log.close()
        return figure
    }
}
