import StrataModel
import StrataRules
import StrataStore
import StrataViews

/// The result of judging all requests of a log again, by the rules that it records: every commit must be the same byte
/// by byte, and so the state at the end.
///
/// ```swift
/// let judged = try JudgedLog.of(store)
/// if let difference = judged.difference { print(difference.offset, difference.reason) }
/// ```
package struct JudgedLog: Sendable {
    package enum Verdict: String, Sendable {
        case same
        case differs
        /// The range has requests, but none of them could be judged.
        case nothingJudged = "nothing judged"
        /// The range has no commits.
        case empty
    }

    package let first: UInt64
    package let end: UInt64
    /// The number of commits up to the end, or up to the first one that differs.
    package let commitCount: Int
    /// The number of commits that only record a note, such as a fetch, and have no request.
    package let noteCount: Int
    /// The commits that could not be judged again, in order, up to a limit.
    package let unjudged: [RerunReport.Unjudged]
    /// The number of commits that could not be judged again.
    package let unjudgedCount: Int
    /// The first commit that differs, and how; nil if none does.
    package let difference: (offset: UInt64, reason: String)?
    /// The digests of the store's state at the end.
    package let digests: Digests

    package var judgedCount: Int { commitCount - unjudgedCount }
    /// True if no difference was found, or if nothing could be judged.
    package var isSame: Bool { difference == nil }

    package var verdict: Verdict {
        if !isSame { return .differs }
        if commitCount == 0 { return .empty }
        return unjudgedCount > 0 && judgedCount == noteCount ? .nothingJudged : .same
    }

    /// True if nothing differs, and something could be judged if there are commits.
    package var isWhole: Bool { [.same, .empty].contains(verdict) }

    /// True if fewer than half of the commits with requests could be judged again.
    package var hasJudgedFew: Bool { (judgedCount - noteCount) * 2 < commitCount - noteCount }

    /// - Parameters:
    ///   - store: is only read.
    ///   - first: the first commit to judge.
    ///   - rules: the rules that judge; nil for those that the log records, or else the store's own.
    /// - Throws: ``StrataError`` if the log cannot be read, `outOfRange` if it does not have the first commit.
    package static func of(
        _ store: Store, from first: UInt64 = 1, by rules: Rules? = nil,
        progress: @escaping (UInt64, UInt64) -> Void = { _, _ in }
    ) throws -> JudgedLog {
        var rerun = Rerun(of: store)
        (rerun.first, rerun.rules, rerun.progress) = (first, rules, progress)
        let report = try rerun.run(into: nil, untilDifference: true)
        defer { try? report.close() }
        return try JudgedLog(report, from: max(first, store.log.floor.offset + 1))
    }

    private init(_ report: RerunReport, from first: UInt64) throws {
        (self.first, end) = (first, report.before.offset)
        (commitCount, noteCount) = (report.commitCount, report.noteCount)
        (unjudged, unjudgedCount) = (report.unjudged, report.unjudgedCount)
        digests = try report.before.digests()
        if let divergence = report.divergence {
            difference = divergence
        } else if try report.after.digests() != digests {
            difference = (end, "The same commits led to a different state.")
        } else {
            difference = nil
        }
    }
}
