import StrataModel

/// Counts commits by time, in steps of equal length: all commits, those of each zone, and those with each kind of
/// event.
struct ReportTimeline {
    static let maximumSteps = 96
    /// The maximum number of lanes; the rest are counted together.
    private static let maximumLanes = 4_096

    /// The lengths of a step in microseconds, in ascending order.
    private static let lengths: [Int64] = {
        let seconds: [Int64] = [
            1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800,
            604_800, 1_209_600, 2_419_200,
        ]
        return [1_000, 10_000, 100_000] + seconds.map { $0 * 1_000_000 }
    }()

    let stepMicroseconds: Int64
    /// The number of steps since 1970.
    private let firstStep: Int64
    private(set) var all: [UInt64]
    private(set) var zones: Lanes
    /// By the raw values of event kinds.
    private(set) var kinds: Lanes

    /// Maps each ordinal to its counts by step.
    struct Lanes {
        fileprivate(set) var counts: [UInt64: [UInt64]] = [:]
        /// The counts of ordinals without a lane of their own.
        private var overflow: [UInt64]

        fileprivate init(stepCount: Int) { overflow = Array(repeating: 0, count: stepCount) }

        fileprivate mutating func add(_ ordinal: UInt64, at index: Int) {
            if counts[ordinal] == nil, counts.count >= maximumLanes {
                overflow[index] += 1
            } else {
                counts[ordinal, default: Array(repeating: 0, count: overflow.count)][index] += 1
            }
        }

        /// Returns the lanes with the most commits, and the sum of the others if there are any.
        func top(_ limit: Int) -> (lanes: [(ordinal: UInt64, counts: [UInt64])], others: [UInt64]?) {
            var lanes: [(ordinal: UInt64, counts: [UInt64], total: UInt64)] = []
            for (ordinal, steps) in counts { lanes.append((ordinal, steps, steps.reduce(0, +))) }
            lanes.sort { $0.total == $1.total ? $0.ordinal < $1.ordinal : $0.total > $1.total }
            var others = overflow
            for lane in lanes.dropFirst(limit) {
                for (index, count) in lane.counts.enumerated() { others[index] += count }
            }
            let hasOthers = others.contains { $0 > 0 }
            return (lanes.prefix(limit).map { ($0.ordinal, $0.counts) }, hasOthers ? others : nil)
        }
    }

    /// - Parameters:
    ///   - first: the time of the first commit.
    ///   - last: the time of the last commit.
    init(from first: Int64, through last: Int64) {
        func count(_ length: Int64) -> Int64 {
            Timeline.floor(max(first, last), by: length) - Timeline.floor(first, by: length) + 1
        }
        var length = Self.lengths.first { count($0) <= Self.maximumSteps } ?? Self.lengths[Self.lengths.count - 1]
        while count(length) > Self.maximumSteps { length *= 2 }
        stepMicroseconds = length
        firstStep = Timeline.floor(first, by: length)
        all = Array(repeating: 0, count: Int(count(length)))
        (zones, kinds) = (Lanes(stepCount: all.count), Lanes(stepCount: all.count))
    }

    var stepCount: Int { all.count }

    /// Returns the beginning of a step.
    func time(ofStep index: Int) -> Timestamp {
        Timestamp(microseconds: (firstStep + Int64(index)) &* stepMicroseconds)
    }

    /// Adds a commit, which counts once for each zone and kind.
    mutating func add(_ time: Int64, zones touched: Set<UInt64>, kinds present: Set<UInt64>) {
        let step = Timeline.floor(time, by: stepMicroseconds) - firstStep
        let index = Int(max(0, min(step, Int64(all.count - 1))))
        all[index] += 1
        for zone in touched { zones.add(zone, at: index) }
        for kind in present { kinds.add(kind, at: index) }
    }
}
