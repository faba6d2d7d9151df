import StrataModel
import StrataSystem

/// Compares the bytes, writes and syncs of a save with limits, on the simulated disk: none of them depends on a clock.
///
/// A save is one of 400 in a request, of a new record of 350 bytes with three indexes. What a store of so many saves
/// owes until it is closed counts, with sealing.
package struct WriteGuard: Sendable {
    package static let requestCount = 400

    package let saves: Int
    /// The bytes of changes after which a run is written; nil for as many as a store has.
    package let generationBytes: Int?
    private let limit: @Sendable (Bound) -> Bound.Limit?

    /// Few enough for a test.
    package static let few = WriteGuard(saves: 20_000, generationBytes: 4 << 20) { $0.few }
    package static let many = WriteGuard(saves: 200_000, generationBytes: nil) { $0.many }

    private init(saves: Int, generationBytes: Int?, limit: @escaping @Sendable (Bound) -> Bound.Limit?) {
        self.saves = saves
        self.generationBytes = generationBytes
        self.limit = limit
    }

    /// A cost of a save, as it was measured when its limits were set; nil where it differs too much between runs.
    fileprivate struct Bound {
        typealias Limit = (measured: Double, most: Double)

        let name: String
        let few: Limit?
        let many: Limit?
        let cost: @Sendable (WriteCounts) -> Int

        init(_ name: String, few: Limit?, many: Limit?, _ cost: @escaping @Sendable (WriteCounts) -> Int) {
            self.name = name
            self.few = few
            self.many = many
            self.cost = cost
        }

        // Measured 2026-11-30. The log's bytes are the same in each run.
        static let all = [
            Bound("bytes of commits", few: (227.8, 230), many: (227.8, 230)) { $0[.commits].bytes },
            Bound("bytes of zeros", few: (629.1, 635), many: (492.7, 500)) { $0[.zeros].bytes },
            // 15 % more than if large commits were compressed again, which took 3.9 µs of processor time per save.
            Bound("bytes of sealing", few: (244.3, 247), many: (171, 173)) { $0[.sealing].bytes },
            Bound("bytes of views", few: (484, 520), many: (458.7, 480)) { $0[.views].bytes },
            // Of them 0.03 into the log.
            Bound("writes", few: nil, many: (0.0333, 0.036)) { $0.total.writes },
            Bound("syncs", few: (0.004, 0.0045), many: (0.0028, 0.003)) { $0.total.syncs },
        ]
    }

    /// A measured cost beside its limit.
    package struct Finding: Sendable, CustomStringConvertible {
        package let cost: String
        package let measured: Double
        package let limit: Double
        private let earlier: Double

        fileprivate init(_ cost: String, _ measured: Double, _ limit: WriteGuard.Bound.Limit) {
            self.cost = cost
            self.measured = measured
            (earlier, self.limit) = limit
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
        return Bound.all.compactMap { bound in
            limit(bound).map { Finding(bound.name, Double(bound.cost(counts)) / Double(saves), $0) }
        }
    }

    /// The numbers of the tasks of each request.
    package var requests: [Range<Int>] {
        stride(from: 0, to: saves, by: Self.requestCount).map { $0..<min(saves, $0 + Self.requestCount) }
    }
}
