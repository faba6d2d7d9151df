import StrataModel
import StrataSystem

/// Compares the bytes, writes and syncs of a save with limits, on the simulated disk: none of them depends on a clock.
///
/// A save is one of 400 in a request, of a new record of 350 bytes with three indexes. What a store of so many saves
/// owes until it is closed counts, with sealing.
package struct WriteGuard: Sendable {
    package static let requestCount = 400

    package let saves: Int
    /// The events after which the views become durable; nil for as many as a store has.
    package let checkpointEvents: Int?
    private let bounds: [Bound]

    /// Few enough for a test.
    package static let few = WriteGuard(saves: 20_000, checkpointEvents: 5_000, bounds: Bound.few)
    package static let many = WriteGuard(saves: 200_000, checkpointEvents: nil, bounds: Bound.many)

    /// A cost of a save as it was measured when its limit was set, and the limit.
    fileprivate struct Bound {
        let name: String
        let cost: @Sendable (WriteCounts) -> Int
        let measured: Double
        let limit: Double

        init(_ name: String, _ measured: Double, limit: Double, _ cost: @escaping @Sendable (WriteCounts) -> Int) {
            self.name = name
            self.cost = cost
            self.measured = measured
            self.limit = limit
        }

        // Measured 2026-11-30: the views' bytes vary by 5 % between runs, as the indexes' thread runs sooner or later.
        static let few = [
            Bound("bytes of commits", 227.8, limit: 230) { $0[.commits].bytes },
            Bound("bytes of zeros", 629.1, limit: 635) { $0[.zeros].bytes },
            Bound("bytes of sealing", 212.7, limit: 215) { $0[.sealing].bytes },
            Bound("bytes of views", 2_295, limit: 2_450) { $0[.views].bytes },
            Bound("syncs", 0.004, limit: 0.0045) { $0.total.syncs },
        ]

        static let many = [
            Bound("bytes of commits", 227.8, limit: 230) { $0[.commits].bytes },
            Bound("bytes of zeros", 492.7, limit: 500) { $0[.zeros].bytes },
            Bound("bytes of sealing", 148.9, limit: 151) { $0[.sealing].bytes },
            Bound("bytes of views", 4_450, limit: 4_900) { $0[.views].bytes },
            // Of them 0.03 into the log; the others are runs of pages, which differ between runs.
            Bound("writes", 0.75, limit: 0.9) { $0.total.writes },
            Bound("syncs", 0.0028, limit: 0.003) { $0.total.syncs },
        ]
    }

    /// A measured cost beside its limit.
    package struct Finding: Sendable, CustomStringConvertible {
        package let cost: String
        package let measured: Double
        package let limit: Double
        private let earlier: Double

        fileprivate init(_ bound: WriteGuard.Bound, _ measured: Double) {
            cost = bound.name
            self.measured = measured
            limit = bound.limit
            earlier = bound.measured
        }

        package var isExceeded: Bool { measured > limit }
        /// True if so little was counted that something is written past the counter, or that the limit is out of date.
        package var isTooSmall: Bool { measured < earlier / 2 }

        package var holds: Bool { !isExceeded && !isTooSmall }

        package var description: String {
            "\(cost) of a save: \(measured), \(earlier) when the limit was set, \(limit) at most"
        }
    }

    /// Counts what one run writes.
    ///
    /// - Parameters:
    ///   - isDoubled: true for files that write and sync everything twice.
    ///   - run: saves the tasks of the requests in a new store on this platform, and closes it.
    package func findings(isDoubled: Bool = false, _ run: (Platform) throws -> Void) rethrows -> [Finding] {
        let files = CountedFiles(SimulatedDisk())
        try run(Platform(files: isDoubled ? DoubledFiles(files) : files, random: SeededRandom(seed: 7)))
        let counts = files.counts
        return bounds.map { Finding($0, Double($0.cost(counts)) / Double(saves)) }
    }

    /// The numbers of the tasks of each request.
    package var requests: [Range<Int>] {
        stride(from: 0, to: saves, by: Self.requestCount).map { $0..<min(saves, $0 + Self.requestCount) }
    }
}
