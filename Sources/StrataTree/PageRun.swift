/// Consecutive pages.
struct PageRun: Hashable, Sendable {
    var first: PageNumber
    var count: Int

    var range: Range<PageNumber> { first..<first + PageNumber(count) }
}

/// Pages that snapshots from `birth` on can reach, up to in front of `retired`.
///
/// There are as many as a large store has pages, so that each takes 24 bytes.
struct RetiredRun: Equatable, Sendable {
    private let first: PageNumber
    private let count: UInt32
    let birth: UInt64
    /// 0 for a record, which nobody reaches but the checkpoint of `birth`.
    private let end: UInt64

    init(run: PageRun, birth: UInt64, retired: UInt64) {
        self.init(run, birth, end: retired)
    }

    private init(_ run: PageRun, _ birth: UInt64, end: UInt64) {
        first = run.first
        // Page numbers have 32 bits, too.
        count = UInt32(run.count)
        self.birth = birth
        self.end = end
    }

    static func record(_ run: PageRun, of epoch: UInt64) -> RetiredRun { RetiredRun(run, epoch, end: 0) }

    var run: PageRun { PageRun(first: first, count: Int(count)) }
    var retired: UInt64 { isRecord ? birth + 1 : end }
    /// They hold the record of the checkpoint of `birth`, and no tree reaches them.
    var isRecord: Bool { end == 0 }
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
