import TestSupport

/// Checks what the bench works out itself; tools/bench runs it before anything is measured.
enum SelfCheck {
    /// The first word of its command line.
    static let word = "--check-itself"

    static func run() throws {
        try checkHistogram()
        try checkZipf()
        try checkRows()
        try checkArguments()
    }

    private static func require(_ isRight: Bool, _ what: String) throws {
        guard isRight else { throw BenchError(message: "the bench is wrong: \(what)") }
    }

    private static func checkHistogram() throws {
        var all = LatencyHistogram()
        try require(all.microseconds(of: 0.5) == 0, "a histogram of nothing has a median")
        var parts = [LatencyHistogram(), LatencyHistogram()]
        for microseconds in 1...100_000 { parts[microseconds % 2].add(nanoseconds: UInt64(microseconds) * 1_000) }
        for part in parts { all.add(part) }
        for part in [0.001, 0.5, 0.99, 0.999, 1] {
            let ratio = all.microseconds(of: part) / (part * 100_000)
            try require(ratio >= 1 && ratio < 1.04, "the part \(part) of 1 to 100,000 µs is off by \(ratio)")
        }
        try require(
            LatencyHistogram(words: all.words)?.words == all.words, "a histogram changes on its way to another process")
        try require(LatencyHistogram(words: [9_999, 1]) == nil, "a histogram takes what does not fit")
        all.add(nanoseconds: .max)
        try require(all.total == 100_001, "a histogram loses times that are too long")
    }

    private static func checkZipf() throws {
        let ranks = ZipfRanks(count: 1_000)
        // By the law the first of a thousand ranks has 13 % and the first hundred have 68 %.
        let drawn = (0..<100_000).map { ranks.rank(at: (Double($0) + 0.5) / 100_000) }
        try require((0..<1_000).contains(drawn.max() ?? -1), "a rank is out of range")
        let first = drawn.count { $0 == 0 }
        let hundred = drawn.count { $0 < 100 }
        try require((12_000..<15_000).contains(first), "the first rank comes \(first) times in 100,000")
        try require((64_000..<74_000).contains(hundred), "the first hundred ranks come \(hundred) times in 100,000")
    }

    private static func checkRows() throws {
        var load = Load()
        (load.seconds, load.count, load.processorSeconds) = (2, 100, 0.001)
        load.latencies.add(seconds: 0.001)
        var writes = WriteCounts()
        (writes[.views].bytes, writes[.zeros].syncs) = (300, 50)
        load.writes = writes
        let before = Measurement(
            workload: "w", metric: "m", unit: "saves/s", records: 7, strata: [1, 2, 3], peer: "SQLite",
            configuration: "tuned", peerValues: [2, 2, 2], bar: .ratioAtLeast(2),
            strataDetails: Row.Details([load], isLong: true)
        ).row
        try require(before.pass == false && before.ratio == 1, "the ratio of a row")
        try require(before.strataDetails?.processorMicroseconds == 10, "the processor time of an operation")
        let split = before.strataDetails?.writes
        try require(split?.views == 3 && split?.syncs == 0.5 && split?.commits == 0, "the bytes of an operation")
        try require(Tables(rows: [before, before]).writes.lines.count == 1, "the bytes of a row have no line")
        try require(try Row.read(before.line() + "\n") == [before], "a row changes on its way through a file")
        var after = before
        (after.strata, after.configuration) = (4, "as documented")
        after.pass = nil
        try require(try after.line().contains("\"pass\":null"), "a row without a bar says that it passes")
        var other = before
        other.metric = "n"
        let text = Comparison(before: [before, other], after: [after]).text
        let cells = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let expected = ["w:", "m", "7", "SQLite", "saves/s", "2.0", "4.0", "2.0"]
        try require(cells.contains(expected), "a comparison lacks a figure")
        try require(text.contains("only before: w: n, 7 records, beside SQLite"), "a comparison lacks what is missing")
        try require(!text.contains("only after"), "a peer with other settings counts as another one")
        try require(!Plots(rows: [before]).all.isEmpty, "a long run is not drawn")
    }

    private static func checkArguments() throws {
        let words = ["records", "--quick", "--records", "10", "--only", "mixed", "--only", "fetch", "--json", "a"]
        let arguments = try Arguments(words)
        try require(
            arguments.workloads == ["records"] && arguments.isQuick && arguments.records == 10
                && arguments.parts == ["fetch", "mixed"] && arguments.jsonPath == "a", "arguments are read wrongly")
        let wrong = [
            ["--rounds", "0"], ["--only", "nothing"], ["--json"], ["--json", "--quick"], ["--x"], ["x"],
            ["--from", "a", "--rounds", "2"], ["--from", "a", "log"], ["log", "--only", "fetch"],
        ]
        for words in wrong {
            do { _ = try Arguments(words) } catch is UsageError { continue }
            throw BenchError(message: "the bench is wrong: it takes \(words)")
        }
    }
}
