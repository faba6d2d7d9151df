/// An unordered list of page runs. Nearly all runs of a large store are single pages, which take 4 bytes each.
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

    /// Appends the shorter list of single pages to the longer, so that a list that waits for many pins in turn is
    /// seldom copied.
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
            // Releases the memory, which may be that of a million pages.
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

/// Retired runs that the same pins hold: those from `birth` up to, but not including, `end`.
struct RetiredList: Equatable, Sendable {
    var birth: UInt64
    /// 0 for records, which only the checkpoint of `birth` reaches.
    var end: UInt64
    var runs: RunList

    /// True if the runs hold records of checkpoints of `birth`, which no tree reaches.
    var isRecord: Bool { end == 0 }
}
