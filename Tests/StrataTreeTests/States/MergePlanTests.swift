import TestSupport
import Testing

@testable import StrataTree

/// docs/format-runs.md §7, with generations of one mebibyte.
@Suite("Which runs are merged next")
struct MergePlanTests {
    /// A run as the plan sees it.
    struct Sample: Sendable {
        var level: RunLevel
        var byteCount: Int
        var entries = 0
        var marks = 0
        /// True if a merge has consumed a part of it.
        var isBegun = false

        static func flushed(_ byteCount: Int = small, marks: Int = 0) -> Sample {
            Sample(level: .flushed, byteCount: byteCount, marks: marks)
        }
        static func middle(_ byteCount: Int = small) -> Sample { Sample(level: .middle, byteCount: byteCount) }
        static func base(_ byteCount: Int, entries: Int = 0) -> Sample {
            Sample(level: .base, byteCount: byteCount, entries: entries)
        }
        var begun: Sample {
            var sample = self
            sample.isBegun = true
            return sample
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let runs: [Sample]
        /// The merge that is due while changes go on, and the one that is at rest.
        let (busy, resting): (String, String)
        var testDescription: String { name }

        init(_ name: String, _ runs: [Sample], _ busy: String = "none", resting: String? = nil) {
            (self.name, self.runs, self.busy, self.resting) = (name, runs, busy, resting ?? busy)
        }
    }

    private static let (small, mebi, gibi) = (8_192, 1 << 20, 1 << 30)
    private static func flushed(_ count: Int) -> [Sample] { Array(repeating: .flushed(), count: count) }
    private static func middle(_ count: Int) -> [Sample] { Array(repeating: .middle(), count: count) }
    /// A base of 100 GiB, of which nothing here is a part that counts.
    private static let huge = [Sample.base(100 * gibi)]
    /// A base of 100 MiB that an interrupted merge has copied by half.
    private static let halves = [Sample.base(50 * mebi).begun, .base(50 * mebi)]

    static let sizes: [Case] = [
        Case("nothing", []),
        Case("only a base", huge),
        Case("two generations, no base", [.flushed(2 * mebi)], "0..<1 base"),
        Case("less than two generations, no base", [.flushed(2 * mebi - 1)], resting: "0..<1 base"),
        Case("two generations, half of the base", [.flushed(2 * mebi), .base(4 * mebi)], "0..<2 base"),
        Case("as much as the base, but one generation", [.flushed(mebi), .base(mebi)], resting: "0..<2 base"),
        Case("half of the base", [.flushed(50 * mebi), .base(100 * mebi)], "0..<2 base"),
        Case("less than half", [.flushed(50 * mebi - 1), .base(100 * mebi)], resting: "0..<2 base"),
        Case("half in two levels", [.flushed(mebi), .middle(49 * mebi), .base(100 * mebi)], "0..<3 base"),
        Case("a twentieth", [.flushed(5 * mebi), .base(100 * mebi)]),
        Case("more than a twentieth", [.flushed(5 * mebi + 1), .base(100 * mebi)], resting: "0..<2 base"),
        Case("half with marks", [.flushed(25 * mebi, marks: 2), .base(100 * mebi, entries: 8)], "0..<2 base"),
        Case(
            "less with marks", [.flushed(25 * mebi - 1, marks: 2), .base(100 * mebi, entries: 8)],
            resting: "0..<2 base"),
        Case("more marks than entries", [.flushed(marks: 9), .base(100 * mebi, entries: 8)], "0..<2 base"),
    ]

    static let levels: [Case] = [
        Case("a base of 2 GiB", [.flushed(gibi), .base(2 * gibi)], "0..<2 base"),
        Case("a larger base", [.flushed(gibi), .base(2 * gibi + 1)], resting: "0..<2 base"),
        Case(
            "a larger base, and the middle level", [.flushed(), .middle(gibi), .base(2 * gibi + 1)], "1..<3 base",
            resting: "0..<3 base"),
        Case("seven of level 0", flushed(7) + huge),
        Case("eight of level 0", flushed(8) + huge, "0..<8 middle"),
        Case("nine, and the middle level", flushed(9) + middle(2) + huge, "0..<9 middle"),
        Case("eight, and six of the middle level", flushed(8) + middle(6) + huge, "0..<8 middle"),
        Case("five of the middle level", flushed(2) + middle(5) + huge),
        Case("six of the middle level", flushed(2) + middle(6) + huge, "2..<8 middle"),
    ]

    static let begun: [Case] = [
        Case("begun, a quarter of the base", [.flushed(25 * mebi).begun] + halves, "0..<2 to 2 base"),
        Case("begun, less", [.flushed(25 * mebi - 1).begun] + halves, resting: "0..<2 to 2 base"),
        Case(
            "begun, a quarter with what is newer", [.flushed(5 * mebi), .flushed(20 * mebi).begun] + halves,
            "1..<3 to 3 base"),
        Case("begun, five of the middle level", middle(5).map(\.begun) + halves, resting: "0..<6 to 6 base"),
        Case("begun, six of the middle level", middle(6).map(\.begun) + halves, "0..<7 to 7 base"),
        Case("begun, seven newer ones", flushed(7) + [.flushed().begun] + halves, resting: "7..<9 to 9 base"),
        Case("begun, eight newer ones", flushed(8) + [.flushed().begun] + halves, "0..<8 middle"),
        Case(
            "begun in the middle level", flushed(1) + flushed(8).map(\.begun) + middle(1) + huge, "1..<9 to 9 middle"),
    ]

    private let trial: RunTrial

    init() throws { trial = try RunTrial(frameBytes: 256) }

    /// Most bytes of a run are those of long values, which nothing reads.
    private func run(_ sample: Sample) throws -> LeveledRun {
        let writer = try trial.writer()
        var (number, long) = (0 as UInt8, sample.byteCount - 4_096)
        func append(_ content: RunContent) throws {
            try [number].withUnsafeBytes { try writer.append(tree: RunTrial.sorted, key: $0, content: content) }
            number += 1
        }
        while long > 0 {
            let byteCount = min(long, Self.gibi)
            try append(.blob(BlobReference(file: 1, place: 0, byteCount: UInt32(byteCount))))
            long -= byteCount
        }
        for _ in 0..<sample.marks { try append(.mark) }
        while number < sample.entries { try append(.value(.init(start: nil, count: 0))) }
        let first = sample.isBegun ? RunKey(tree: RunTrial.sorted, bytes: []) : nil
        let run = try Run([try trial.open(try writer.finish())], visibleFrom: first)
        try #require(run.liveBytes == sample.byteCount)
        return LeveledRun(run: run, level: sample.level)
    }

    @Test("At each limit, on both sides of it", arguments: sizes + levels + begun)
    func limits(_ example: Case) throws {
        var options = TreeStoreOptions()
        options.generationBytes = Self.mebi
        let runs = try example.runs.map(run)
        func plan(isAtRest: Bool) -> String {
            guard let plan = MergePlan(runs[...], options, isAtRest: isAtRest) else { return "none" }
            return "\(plan.inputs)\(plan.output.map { " to \($0)" } ?? "") \(plan.level)"
        }
        #expect(plan(isAtRest: false) == example.busy)
        #expect(plan(isAtRest: true) == example.resting)
    }
}
