/// One metric of a workload: what Strata did, what its peer did, and what was demanded.
struct Measurement {
    enum Bar {
        /// Strata's figure divided by the peer's, higher is better.
        case ratioAtLeast(Double)
        /// The same for times, lower is better.
        case ratioAtMost(Double)
        /// Strata's own figure, lower is better.
        case atMost(Double)
        case atLeast(Double)
        /// Only to be known.
        case none
    }

    var workload: String
    var metric: String
    var unit: String
    /// The number of records before, if that is the size of the run.
    var records: Int?
    /// One for each round.
    var strata: [Double]
    var peer: String?
    /// The settings that the peer was best with.
    var configuration: String?
    var peerValues: [Double] = []
    var bar: Bar
    /// The latency and the cost of Strata's operations.
    var strataDetails: Row.Details?
    var peerDetails: Row.Details?

    var value: Double { strata.median }
    var peerValue: Double? { peerValues.isEmpty ? nil : peerValues.median }

    /// Median of the rounds' own ratios: neighbors in time, so that a machine that drifts does not count.
    var ratio: Double? {
        peerValues.isEmpty ? nil : zip(strata, peerValues).map { $0 / $1 }.median
    }

    /// Nil without a bar.
    var passes: Bool? {
        switch bar {
        case .ratioAtLeast(let limit): ratio ?? 0 >= limit
        case .ratioAtMost(let limit): ratio ?? Double.infinity <= limit
        case .atMost(let limit): value < limit
        case .atLeast(let limit): value >= limit
        case .none: nil
        }
    }

    private var barText: String? {
        switch bar {
        case .ratioAtLeast(let limit): "≥ \(limit.short) ×"
        case .ratioAtMost(let limit): "≤ \(limit.short) ×"
        case .atMost(let limit): "< \(limit.short)"
        case .atLeast(let limit): "≥ \(limit.short)"
        case .none: nil
        }
    }

    var row: Row {
        Row(
            workload: workload, metric: metric, unit: unit, records: records, strata: value,
            spread: strata.spreadPercent, peer: peer, configuration: configuration, peerValue: peerValue,
            peerSpread: peerValues.spreadPercent, ratio: ratio, bar: barText, pass: passes,
            strataDetails: strataDetails, peerDetails: peerDetails)
    }
}

extension [Double] {
    var median: Double {
        let sorted = sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// Half the distance between the extremes, in percent of the median.
    ///
    /// Nil for a single one.
    var spreadPercent: Double? {
        guard count > 1, let low = self.min(), let high = self.max() else { return nil }
        if median == 0 { return 0 }
        return (high - low) / 2 / median * 100
    }
}

extension Double {
    /// Three or four digits that matter.
    var short: String {
        switch abs(self) {
        case 1_000..<9e18: return "\(Int(rounded()))"
        case 100..<1_000: return "\((self * 10).rounded() / 10)"
        case 1..<100: return "\((self * 100).rounded() / 100)"
        default: return "\((self * 10_000).rounded() / 10_000)"
        }
    }
}
