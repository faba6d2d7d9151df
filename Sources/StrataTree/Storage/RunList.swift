/// Pages by their runs, in no order. Nearly all runs of a large store are single pages, and take 4 bytes.
struct RunList: Equatable, Sendable {
    private(set) var singles: [PageNumber] = []
    private(set) var longer: [PageRun] = []
    private(set) var pageCount = 0

    init() {}

    init(_ runs: some Sequence<PageRun>) {
        for run in runs { append(run) }
    }

    var isEmpty: Bool { pageCount == 0 }
    var runCount: Int { singles.count + longer.count }

    mutating func append(_ run: PageRun) {
        if run.count == 1 { singles.append(run.first) } else { longer.append(run) }
        pageCount += run.count
    }

    /// The fewer pages go behind the more, so that one that waits for many pins in turn is seldom copied.
    mutating func append(_ other: RunList) {
        if singles.count < other.singles.count {
            let few = singles
            singles = other.singles
            singles += few
        } else {
            singles += other.singles
        }
        longer += other.longer
        pageCount += other.pageCount
    }

    mutating func takeLast() -> PageRun? {
        guard let run = singles.popLast().map({ PageRun(first: $0, count: 1) }) ?? longer.popLast() else {
            // Its memory may be that of a million pages.
            self = RunList()
            return nil
        }
        pageCount -= run.count
        return run
    }

    mutating func reserve(singles count: Int, longer longerCount: Int) {
        singles.reserveCapacity(count)
        longer.reserveCapacity(longerCount)
    }

    func forEachRun(_ body: (PageRun) throws -> Void) rethrows {
        for number in singles { try body(PageRun(first: number, count: 1)) }
        for run in longer { try body(run) }
    }
}

/// Retired runs that the same pins hold: those from `birth` on, up to in front of `end`.
struct RetiredList: Equatable, Sendable {
    var birth: UInt64
    /// 0 for records, which nobody reaches but the checkpoint of `birth`.
    var end: UInt64
    var runs: RunList

    /// They hold the records of checkpoints of `birth`, and no tree reaches them.
    var isRecord: Bool { end == 0 }
}
