import StrataModel
import StrataReplay
import StrataStore

/// Prints a changed history: requests as they are found, then records, then the counts.
struct WhatIfReport {
    /// The number of ranges to print; the rest are counted, and `--json` lists more of them.
    private static let mostRanges = 20

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
        let report = try run {
            isAnyOther = isAnyOther || $0.hasOtherOutcome
            asJSON ? try writeJSON($0) : try write($0)
        }
        defer { try? report.close() }
        var differences = DifferenceReport(arguments, output)
        try report.forEachDifference { try differences.add($0) }
        let isVacuous = report.hasJudgedNothing && !isAnyOther
        let code = try differences.end(
            isAnyOther ? "no record differs" : isVacuous ? "nothing was judged" : "nothing differs")
        let verdict = isVacuous ? "nothing judged" : isAnyOther || code != .success ? "differs" : "same"
        if asJSON { try writeJSON(report, verdict, path) } else { try write(report, path) }
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
        output.write(
            "\(judged)\(commits) judged again: \(report.directCount) changed, "
                + "\(report.changedCount) others had another outcome")
        try output.endLine()
        try Self.write(report.unjudged, count: unjudgedCount, to: output) { isOne, isKept in
            "could not be judged and \(isOne ? "is" : "are") "
                + (isKept ? "kept as \(isOne ? "it is" : "they are")" : "left out")
        }
        guard let path else { return }
        output.write("saved as \(Printable.escaped(path)), up to offset \(report.end)")
        try output.endLine()
    }

    /// Prints the commits that could not be judged again, one line for each run with the same reason.
    ///
    /// - Parameters:
    ///   - count: The number of commits, of which the ranges may list only some.
    ///   - verdict: A closure that returns the text for a range of commits.
    static func write(
        _ unjudged: [RerunReport.Unjudged], count: Int, to output: Output,
        _ verdict: (_ isOne: Bool, _ isKept: Bool) -> String
    ) throws {
        var told = 0
        for commits in unjudged.prefix(mostRanges) {
            let (first, last) = (commits.offsets.lowerBound, commits.offsets.upperBound)
            let which = first == last ? "commit \(first)" : "commits \(first) to \(last)"
            output.write("\(which) \(verdict(first == last, commits.isKept)): \(commits.reason.asClause)")
            try output.endLine()
            told += commits.offsets.count
        }
        guard told < count else { return }
        output.write("\(count - told) more could not be judged")
        try output.endLine()
    }

    // MARK: For programs

    private func writeJSON(_ commit: RerunCommit) throws {
        var json = JSONWriter(output)
        json.beginObject()
        if let offset = commit.offset { json.field("offset", offset) } else { json.null("offset") }
        if let offset = commit.newOffset { json.field("newOffset", offset) } else { json.null("newOffset") }
        json.field("userName", commit.actor.user)
        json.field("isChanged", commit.isDirect)
        if let before = commit.before { write("before", before, to: &json) } else { json.null("before") }
        write("after", commit.after, to: &json)
        if let cause = commit.cause {
            json.field("cause", cause.offset)
            json.field("root", cause.root)
        }
        json.endObject()
        try output.endLine()
    }

    private func write(_ key: StaticString, _ outcome: RequestOutcome, to json: inout JSONWriter) {
        json.beginObject(key)
        json.field("outcome", outcome.kind.rawValue)
        if let refusal = outcome.refusal {
            json.field("code", refusal.code.rawValue)
            json.field("message", refusal.message)
        }
        json.beginArray("items")
        for item in outcome.items {
            json.beginObject()
            json.field("list", "\(item.list)")
            json.field("index", item.index)
            json.field("name", item.name)
            json.field("code", item.refusal.code.rawValue)
            json.field("message", item.refusal.message)
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }

    private func writeJSON(_ report: RerunReport, _ verdict: String, _ path: String?) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("verdict", verdict)
        json.field("commits", report.commitCount)
        json.field("direct", report.directCount)
        json.field("consequences", report.changedCount)
        json.field("isIdentical", report.isIdentical)
        json.write(report.unjudged, count: report.unjudgedCount)
        json.field("end", report.end)
        if let path { json.field("path", path) }
        json.endObject()
        try output.endLine()
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

extension JSONWriter {
    /// Writes the commits that could not be judged again, one object for each run with the same reason.
    ///
    /// - Parameter count: The number of commits, of which the ranges may list only some.
    mutating func write(_ unjudged: [RerunReport.Unjudged], count: Int) {
        beginArray("unjudged")
        for commits in unjudged {
            beginObject()
            field("offset", commits.offsets.lowerBound)
            field("last", commits.offsets.upperBound)
            field("reason", commits.reason)
            field("isKept", commits.isKept)
            endObject()
        }
        endArray()
        field("unjudgedCount", count)
    }
}
