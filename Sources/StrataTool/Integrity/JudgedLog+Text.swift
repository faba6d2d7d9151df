import StrataModel
import StrataReplay
import StrataRules
import StrataStore

/// The result of `verify --judge`.
extension JudgedLog {
    /// Writes the result for people. Each line starts with a line break, because the output before it does not end with
    /// one.
    func write(to output: Output) {
        func line(_ text: String, _ style: TextStyle? = nil) {
            output.write("\n")
            if let style { output.write(text, style) } else { output.write(text) }
        }
        if let difference { line("differs at \(difference.offset), judged again: \(difference.reason)", .damage) }
        for text in WhatIfReport.lines(of: unjudged, count: unjudgedCount, { _, _ in "could not be judged again" }) {
            line(text)
        }
        line("\(verdictText): \(countText)")
        line("digest of the state at \(end): \(hexadecimal(digests.state))")
    }

    private var verdictText: String {
        switch verdict {
        case .same: "nothing differs"
        case .differs: "not deterministic"
        case .nothingJudged: "nothing judged"
        case .empty: "nothing to judge"
        }
    }

    private var countText: String {
        let range = "from \(first) to \(end)"
        return switch verdict {
        case .nothingJudged: "0 of \((commitCount - noteCount).counted("commit")) could be judged again, \(range)"
        case .empty where end == 0: "the store has no commits"
        case .empty: "there are no commits after \(end)"
        case .same, .differs:
            "\(judgedCount) of \(commitCount.counted("commit")) judged again"
                + "\(hasJudgedFew ? ", fewer than half" : ""), \(range)"
        }
    }

    static let shape = Shape<Self>("A log that was judged again") {
        Key(
            "verdict",
            "`same`, `differs`, `nothing judged`, or `empty` if there are no commits. The command exits with 0 for "
                + "`same` and `empty`"
        ) { $0.verdict.rawValue }
        Key("first", "the first commit that was judged again") { $0.first }
        Key("end", "the last one of the store") { $0.end }
        Key("judgedCount", "how many commits were judged again, up to the first one that differs") { $0.judgedCount }
        Key("firstOffset", "the first commit that differs, null if none does") { $0.difference?.offset }
        Key("reason", "the difference, in words", if: "if a commit differs") { $0.difference?.reason }
        Key(of: WhatIfReport.unjudged) { ($0.unjudged, $0.unjudgedCount) }
        Key("stateDigest", "of the state at the end") { hexadecimal($0.digests.state) }
    }
}
