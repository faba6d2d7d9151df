import Foundation

/// The figures of a run.
struct NemesisReport {
    private let tally: Tally
    private let counts: Checker.Counts

    init(_ tally: Tally, _ counts: Checker.Counts) { (self.tally, self.counts) = (tally, counts) }

    private var rows: [(name: String, value: Int)] {
        let faults = counts.faults.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        return faults + [
            ("faults", faults.reduce(0) { $0 + $1.value }), ("operations", counts.operations), ("reads", counts.reads),
            ("reads without an answer", counts.unansweredReads),
            ("refused", counts.refused), ("not written", counts.unwritten),
            ("acknowledged commits", counts.acknowledged), ("commits in the log", counts.commits),
            ("commits judged again", counts.judged), ("lost", counts.lost), ("doubled", counts.doubled),
            ("reordered", counts.reordered), ("unknown, in the log", counts.unknownIn),
            ("unknown, not in it", counts.unknownOut), ("failed openings", tally.failedOpenings),
            ("longest pause, ms", Int(tally.longestPauseSeconds * 1_000)),
            ("until all acknowledge again, ms", Int(tally.recoverySeconds * 1_000)),
            ("seconds", Int(tally.seconds)), ("wrong", tally.violationCount),
        ]
    }

    var text: String {
        rows.map { name, value in
            let digits = String(value)
            let room = max(1, 44 - name.count - digits.count)
            return name + String(repeating: " ", count: room) + digits
        }.joined(separator: "\n")
    }

    func json(seed: UInt64) throws -> String {
        var values: [String: Any] = ["seed": seed, "violations": tally.violations]
        for row in rows { values[row.name] = row.value }
        let data = try JSONSerialization.data(withJSONObject: values, options: [.sortedKeys])
        return String(decoding: data, as: UTF8.self)
    }
}
