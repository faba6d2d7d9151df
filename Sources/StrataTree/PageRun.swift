/// Consecutive pages.
struct PageRun: Hashable, Sendable {
    var first: PageNumber
    var count: Int

    var range: Range<PageNumber> { first..<first + PageNumber(count) }
}

/// Pages that snapshots from `birth` on can reach, up to in front of `retired`.
struct RetiredRun: Equatable, Sendable {
    var run: PageRun
    var birth: UInt64
    var retired: UInt64
    /// They hold the record of the checkpoint of `birth`, and no tree reaches them.
    var isRecord = false

    static func record(_ run: PageRun, of epoch: UInt64) -> RetiredRun {
        RetiredRun(run: run, birth: epoch, retired: epoch + 1, isRecord: true)
    }
}

extension PageRun {
    /// The same pages in as few runs as can be, ascending.
    static func coalesced(_ runs: [PageRun]) -> [PageRun] {
        var result: [PageRun] = []
        for run in runs.sorted(by: { $0.first < $1.first }) {
            if let last = result.last, last.range.upperBound == run.first {
                result[result.count - 1].count += run.count
            } else {
                result.append(run)
            }
        }
        return result
    }

    /// What is left of ascending runs without one that may be inside of one of them.
    static func removing(_ hole: PageRun, from runs: [PageRun]) -> [PageRun] {
        runs.flatMap { run -> [PageRun] in
            guard run.range.overlaps(hole.range) else { return [run] }
            let parts = [
                run.first..<max(run.first, hole.first),
                hole.range
                    .upperBound..<max(
                        run.range.upperBound, hole.range.upperBound),
            ]
            return parts.filter { !$0.isEmpty }.map { PageRun(first: $0.lowerBound, count: $0.count) }
        }
    }
}
