import FoundationEssentials
import TestSupport

/// A metric as a file of results has it, one JSON object for each line.
struct Row: Codable, Equatable {
    /// The latency and the cost of the operations of one side, in all rounds.
    struct Details: Codable, Equatable {
        /// Microseconds of one call: of a request, or of an operation that is a call by itself.
        var p50: Double
        var p99: Double
        /// Nil for fewer than a thousand calls.
        var p999: Double?
        /// The time of all threads for each operation, with the work that was left at the end of a round.
        var processorMicroseconds: Double
        /// For each operation.
        var writtenBytes: Double
        var diskBytes: Double?
        /// Anonymous memory at most.
        var peakMebibytes: Double?
        /// Operations in each second of a long run.
        var perSecond: [Double]?
        /// What Strata passed to the system.
        var writes: Writes?
        /// The times within which these parts of the calls were answered: pairs of a part and microseconds.
        var latencies: [[Double]]?

        static let parts = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 1]

        /// - Parameter isLong: true to keep what plots are made of.
        init(_ loads: [Load], isLong: Bool = false) {
            let load = Load.inTurn(loads)
            p50 = load.latencies.microseconds(of: 0.5)
            p99 = load.latencies.microseconds(of: 0.99)
            p999 = load.latencies.total < 1_000 ? nil : load.latencies.microseconds(of: 0.999)
            processorMicroseconds = load.processorMicroseconds
            writtenBytes = load.writtenBytesEach
            diskBytes = load.diskBytes
            peakMebibytes = load.peakMebibytes
            writes = load.writes.map { Writes($0, each: load.count) }
            if isLong {
                perSecond = load.perSecond
                latencies = Self.parts.map { [$0, load.latencies.microseconds(of: $0)] }
            }
        }
    }

    /// The bytes that a store passed to the system for each operation, by the kind of file, and the calls.
    struct Writes: Codable, Equatable {
        var commits: Double
        var zeros: Double
        var sealing: Double
        var views: Double
        var other: Double
        var calls: Double
        var syncs: Double

        init(_ counts: WriteCounts, each count: Int) {
            func each(_ number: Int) -> Double { Double(number) / Double(max(1, count)) }
            commits = each(counts[.commits].bytes)
            zeros = each(counts[.zeros].bytes)
            sealing = each(counts[.sealing].bytes)
            views = each(counts[.views].bytes)
            other = each(counts[.other].bytes)
            calls = each(counts.total.writes)
            syncs = each(counts.total.syncs)
        }

        /// The names and figures of a table's columns.
        var columns: [(name: String, value: Double)] {
            [
                ("log B/op", commits), ("zeros B/op", zeros), ("sealing B/op", sealing), ("views B/op", views),
                ("other B/op", other), ("writes/op", calls), ("syncs/op", syncs),
            ]
        }
    }

    var workload: String
    var metric: String
    var unit: String
    var records: Int?
    var strata: Double
    /// Half the distance between the extremes of the rounds, in percent; nil for a single round.
    var spread: Double?
    var peer: String?
    var configuration: String?
    var peerValue: Double?
    var peerSpread: Double?
    var ratio: Double?
    var bar: String?
    /// Nil where there is no bar.
    var pass: Bool?
    var strataDetails: Details?
    var peerDetails: Details?

    /// Identifies the same row of another run, in which other settings of the peer may have been the best.
    var key: String { [workload, metric, peer ?? "", records.map { "\($0)" } ?? ""].joined(separator: "\t") }

    var title: String { "\(workload): \(metric)" }
    var peerName: String { (peer ?? "") + (configuration.map { $0.isEmpty ? "" : " (\($0))" } ?? "") }

    // MARK: Files

    private enum CodingKeys: String, CodingKey {
        case workload, metric, unit, records, strata, spread, peer, configuration, peerValue, peerSpread, ratio, bar
        case pass, strataDetails, peerDetails
    }

    /// Writes what is missing as null, so that each line has the same keys.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(workload, forKey: .workload)
        try container.encode(metric, forKey: .metric)
        try container.encode(unit, forKey: .unit)
        try container.encode(records, forKey: .records)
        try container.encode(strata, forKey: .strata)
        try container.encode(spread, forKey: .spread)
        try container.encode(peer, forKey: .peer)
        try container.encode(configuration, forKey: .configuration)
        try container.encode(peerValue, forKey: .peerValue)
        try container.encode(peerSpread, forKey: .peerSpread)
        try container.encode(ratio, forKey: .ratio)
        try container.encode(bar, forKey: .bar)
        try container.encode(pass, forKey: .pass)
        try container.encode(strataDetails, forKey: .strataDetails)
        try container.encode(peerDetails, forKey: .peerDetails)
    }

    func line() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // A figure that could not be measured fails no run.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "infinity", negativeInfinity: "-infinity", nan: "nan")
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    static func read(_ text: some StringProtocol) throws -> [Row] {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "infinity", negativeInfinity: "-infinity", nan: "nan")
        return try text.split(separator: "\n").enumerated().map { number, line in
            do { return try decoder.decode(Row.self, from: Data(line.utf8)) } catch {
                throw BenchError(message: "line \(number + 1) is no row of this bench: \(error)")
            }
        }
    }
}
