import StrataModel
import StrataReplay
import StrataStore

/// Prints a changed history: requests as they are found, then records, then the counts.
struct WhatIfReport {
    /// The number of ranges to print; the rest are counted, and `--json` lists more of them.
    private static let mostRanges = 20
    /// The longest time between two differences after which the first of them is shown.
    private static let longestDelay = Duration.milliseconds(100)

    private let arguments: Arguments
    private let output: Output
    private var asJSON: Bool { arguments[Option.json] }

    init(_ arguments: Arguments, _ output: Output) { (self.arguments, self.output) = (arguments, output) }

    /// - Parameters:
    ///   - path: the path of the new store; nil if none is created.
    ///   - run: replays the history.
    func write(
        _ path: String?, _ run: ((RerunCommit) throws -> Void) throws -> RerunReport
    ) throws -> ExitCode {
        var isAnyOther = false
        var shown: ContinuousClock.Instant?
        let report = try run { commit in
            isAnyOther = isAnyOther || commit.hasOtherOutcome
            asJSON ? try output.writeJSON(commit) : try write(commit)
            // Judging takes long: the first line is shown at once, and others soon.
            let now = ContinuousClock.now
            if shown.map({ now - $0 >= Self.longestDelay }) ?? true {
                try output.flush()
                shown = now
            }
        }
        defer { try? report.close() }
        var differences = DifferenceReport(arguments, output)
        try report.forEachDifference { try differences.add($0) }
        let isVacuous = report.hasJudgedNothing && !isAnyOther
        let code = try differences.end(
            isAnyOther ? "no record differs" : isVacuous ? "nothing was judged" : "nothing differs",
            by: WhatIfCommand.name)
        let verdict = isVacuous ? "nothing judged" : isAnyOther || code != .success ? "differs" : "same"
        if asJSON { try output.writeJSON((report, verdict, path), as: Self.end) } else { try write(report, path) }
        return verdict == "same" ? code : .no
    }

    // MARK: For people

    private func write(_ commit: RerunCommit) throws {
        output.write(commit.offset.map { "commit \($0)" } ?? "inserted", .heading)
        if let place = commit.newOffset, place != commit.offset { output.write(", now \(place)") }
        output.write("  \(Printable.escaped(commit.actor.user)): ")
        if let before = commit.before { output.write(Self.text(of: before)) }
        if commit.before != nil, commit.hasOtherOutcome { output.write(" -> " as StaticString) }
        if commit.hasOtherOutcome { output.write(Self.text(of: commit.after), .place) }
        if commit.isDirect {
            if commit.offset != nil, commit.after.kind != .dropped { output.write("  (changed)" as StaticString) }
        } else if let cause = commit.cause {
            output.write("  because of \(cause.offset)", .faint)
            if cause.root != cause.offset { output.write(", which began with \(cause.root)", .faint) }
        }
        try output.endLine()
    }

    private static func text(of outcome: RequestOutcome) -> String {
        var text = outcome.kind.rawValue
        if let refusal = outcome.refusal { text += " (\(self.text(of: refusal)))" }
        let causes = outcome.items.filter { $0.refusal.code != .batchRequestFailed }
        guard let first = causes.first ?? outcome.items.first else { return text }
        text += " (\(Printable.escaped(first.name)): \(self.text(of: first.refusal))"
        if outcome.items.count > 1 { text += ", and \(outcome.items.count - 1) more" }
        return text + ")"
    }

    private static func text(of refusal: Refusal) -> String { refusal.code.description }

    private func write(_ report: RerunReport, _ path: String?) throws {
        let unjudgedCount = report.unjudgedCount
        let judged = unjudgedCount > 0 ? "\(report.commitCount - unjudgedCount) of " : ""
        let commits = report.commitCount.counted("commit")
        try output.writeLine(
            "\(judged)\(commits) judged again: \(report.directCount) changed, "
                + "\(report.changedCount) others had another outcome")
        let unjudged = Self.lines(of: report.unjudged, count: unjudgedCount) { isOne, isKept in
            "could not be judged and \(isOne ? "is" : "are") "
                + (isKept ? "kept as \(isOne ? "it is" : "they are")" : "left out")
        }
        for line in unjudged { try output.writeLine(line) }
        guard let path else { return }
        try output.writeLine("saved as \(Printable.escaped(path)), up to offset \(report.end)")
    }

    /// Returns the commits that could not be judged again, one line for each run with the same reason.
    ///
    /// - Parameters:
    ///   - count: The number of commits, of which the ranges may list only some.
    ///   - verdict: A closure that returns the text for a range of commits.
    static func lines(
        of unjudged: [RerunReport.Unjudged], count: Int, _ verdict: (_ isOne: Bool, _ isKept: Bool) -> String
    ) -> [String] {
        var (lines, told) = ([String](), 0)
        for commits in unjudged.prefix(mostRanges) {
            let (first, last) = (commits.offsets.lowerBound, commits.offsets.upperBound)
            let which = first == last ? "commit \(first)" : "commits \(first) to \(last)"
            lines.append("\(which) \(verdict(first == last, commits.isKept)): \(commits.reason.asClause)")
            told += commits.offsets.count
        }
        if told < count { lines.append("\(count - told) more could not be judged") }
        return lines
    }

    // MARK: For programs

    static let end = Shape<(report: RerunReport, verdict: String, path: String?)>("The end of a what-if") {
        Key(
            "verdict",
            "`same`, `differs`, or `nothing judged`, if there were requests and none of them could be judged. The "
                + "command exits with 0 only for `same`"
        ) { $0.verdict }
        Key("commits", "how many were judged again") { $0.report.commitCount }
        Key("direct", "requests that were changed, dropped or inserted") { $0.report.directCount }
        Key("consequences", "other requests that had another outcome") { $0.report.changedCount }
        Key("isIdentical", "true if all commits are unchanged, byte for byte") { $0.report.isIdentical }
        Key(of: unjudged) { ($0.report.unjudged, $0.report.unjudgedCount) }
        Key("end", "the last offset of the new history") { $0.report.end }
        Key("path", "of the new store", if: "with `--out`") { $0.path }
    }

    static let noAnswer = Shape<String>("A what-if without an answer") {
        Key("verdict", "`no answer`") { _ in "no answer" }
        Key("reason", "why there is no answer, in words") { $0 }
    }

    /// The commits that could not be judged again, of which the ranges may list only some.
    static let unjudged = Shape<(ranges: [RerunReport.Unjudged], count: Int)>("Commits that cannot be judged") {
        Key("unjudged", "runs of commits that could not be judged again for the same reason", each: range) { $0.ranges }
        Key("unjudgedCount", "how many commits these are. `unjudged` has the first ones if there are many") { $0.count }
    }

    private static let range = Shape<RerunReport.Unjudged>("A run of commits that cannot be judged") {
        Key("offset", "the first of them") { $0.offsets.lowerBound }
        Key("last", "the last of them") { $0.offsets.upperBound }
        Key("reason", "why, in words") { $0.reason }
        Key("isKept", "true if the new history has them unchanged") { $0.isKept }
    }
}

extension RerunCommit: Shaped {
    static let shape = Shape<Self>(
        "A request that was judged again", "One that an option changed, or that had another outcome."
    ) {
        Key("offset", "in the log, or null if it was inserted") { $0.offset }
        Key("newOffset", "in the new history, or null if it wrote nothing") { $0.newOffset }
        Key("userName", "the user who made the request") { $0.actor.user }
        Key("isChanged", "true if an option changed it") { $0.isDirect }
        Key("before", "its outcome in the log, or null if it was inserted") { $0.before }
        Key("after", "the same, for the new history") { $0.after }
        Key("cause", "offset of the commit that it follows from", if: "if it is known") { $0.cause?.offset }
        Key("root", "offset of the change that began it", if: "with `cause`") { $0.cause?.root }
    }
}

extension RequestOutcome: Shaped {
    static let shape = Shape<Self>("An outcome") {
        Key("outcome", "`accepted`, `partly`, `nothing to do`, `refused`, `dropped` or `left out`") { $0.kind.rawValue }
        Key("code", "number of the error", if: "if it was refused as a whole") { $0.refusal?.code.rawValue }
        Key("message", "the message of the refusal", if: "if it was refused as a whole") { $0.refusal?.message }
        Key("items", "the items that were refused", each: item) { $0.items }
    }

    private static let item = Shape<Item>("An item that was refused") {
        Key("list", "`saves` or `deletes`") { "\($0.list)" }
        Key("index", "its place in the list") { $0.index }
        Key("name", "of the record, the zone or the subscription") { $0.name }
        Key("code", "number of its error") { $0.refusal.code.rawValue }
        Key("message", "the message of the refusal") { $0.refusal.message }
    }
}

extension String {
    /// Returns a sentence without its capital letter and period, to embed it in another one.
    fileprivate var asClause: String {
        let text = hasSuffix(".") ? dropLast() : self[...]
        guard let first = text.first, text.dropFirst().first?.isLowercase == true || text.dropFirst().first == " "
        else { return String(text) }
        return first.lowercased() + text.dropFirst()
    }
}
